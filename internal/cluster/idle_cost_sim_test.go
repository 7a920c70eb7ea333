package cluster_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/cluster"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// What watching costs the config server while nothing happens: at most 2,000 index keys
// and as many documents a minute, with Yorkie's collections and one of many chunks. More
// chunks cost nothing more, so the short form has fewer.
func TestIdleWatchExaminesFewKeys(t *testing.T) {
	const most = 2000
	chunks := 20_000
	if os.Getenv("SHARDBOARD_LONG") != "" {
		chunks = 1_000_000
	}
	for _, version := range []string{"5.0", "8.0"} {
		o := simcluster.Options{Projects: 5, Documents: 50, Still: true, ServerVersion: version, ManyChunks: chunks}
		onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			w, stop := watch(t, c, topology.Options{})
			defer stop()
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if got := w.Table().Collection(simcluster.ManyNS); got == nil || got.Chunks.Len() != chunks {
				t.Fatalf("not loaded: %v", w.Table().Health[topology.PartRouting].Err)
			}
			const minutes = 5
			keys, docs := sim.Examined()
			time.Sleep(minutes * time.Minute)
			synctest.Wait()
			keysNow, docsNow := sim.Examined()
			keys, docs = (keysNow-keys)/minutes, (docsNow-docs)/minutes
			t.Logf("%s: %d keys and %d documents a minute", version, keys, docs)
			if keys > most || docs > most {
				t.Errorf("%s: %d keys and %d documents a minute, want at most %d", version, keys, docs, most)
			}
		})
	}
}
