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

// What watching costs the config server while nothing happens, with Yorkie's collections and one of many chunks: at
// most 2,000 index keys and as many documents a minute where everything is polled; where the changelog is followed a
// part of that, and at most 10 commands for routing, moves and events. More chunks cost nothing more, so the short form
// has fewer.
func TestIdleWatchExaminesFewKeys(t *testing.T) {
	chunks := 20_000
	if os.Getenv("SHARDBOARD_LONG") != "" {
		chunks = 1_000_000
	}
	for _, version := range []string{"5.0", "8.0"} {
		for followed, most := range map[bool]int64{false: 2000, true: 300} {
			o := simcluster.Options{Projects: 5, Documents: 50, Still: true, ServerVersion: version, ManyChunks: chunks}
			onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter) {
				options := topology.Options{}
				if followed {
					options.Follow = func() bool { return true }
				}
				w, stop := watch(t, c, options)
				defer stop()
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				if got := w.Table().Collection(simcluster.ManyNS); got == nil || got.Chunks.Len() != chunks {
					t.Fatalf("not loaded: %v", w.Table().Health[topology.PartRouting].Err)
				}
				if w.Table().Following.Live != followed {
					t.Fatalf("%+v", w.Table().Following)
				}
				const minutes = 5
				keys, docs := sim.Examined()
				sent.take()
				time.Sleep(minutes * time.Minute)
				synctest.Wait()
				keysNow, docsNow := sim.Examined()
				keys, docs = (keysNow-keys)/minutes, (docsNow-docs)/minutes
				commands := map[string]int{}
				for _, name := range sent.take() {
					commands[name]++
				}
				t.Logf("%s, followed %t: %d keys and %d documents a minute, %v", version, followed, keys, docs, commands)
				if n := commands["config.aggregate"] + commands["config.getMore"]; followed && n > 8*minutes { // and one for moves
					t.Errorf("%s: %d commands in %d minutes for routing and events", version, n, minutes)
				}
				if keys > most || docs > most {
					t.Errorf("%s, followed %t: %d keys and %d documents a minute, want at most %d", version, followed, keys, docs, most)
				}
			})
		}
	}
}

// What a collection needs is counted by an index: no document of config.chunks is examined for it.
func TestChunksAreCountedByAnIndex(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		o := simcluster.Options{Projects: 5, Documents: 50, Still: true, ServerVersion: version, ManyChunks: 3000}
		onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			heads, err := c.Heads(t.Context(), topology.Window{Only: []topology.Namespace{simcluster.ManyNS}})
			if err != nil || len(heads) != 1 {
				t.Fatal(heads, err)
			}
			_, before := sim.Examined()
			n, err := c.CountChunks(t.Context(), heads[0].Meta)
			_, after := sim.Examined()
			if err != nil || n != 3000 || after-before > 5 {
				t.Errorf("%s: %d chunks, %d documents examined, %v", version, n, after-before, err)
			}
		})
	}
}
