package cluster_test

import (
	"testing"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// The settings and the release are read at the same time when a program starts.
func TestDefaultChunkSizeIsThatOfTheReleaseInTheFirstRead(t *testing.T) {
	for release, want := range map[string]int64{"4.4": 64 << 20, "5.0": 64 << 20, "6.0": 128 << 20, "8.3": 128 << 20} {
		cfg := simcluster.Options{ServerVersion: release, Empty: true, Still: true, Shards: 2}
		onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
			b, err := c.Settings(t.Context())
			must.Do(t, err)
			if b.ChunkBytes != want || !b.ChunkDefault {
				t.Errorf("%s: got %d, default %t, want %d", release, b.ChunkBytes, b.ChunkDefault, want)
			}
		})
	}
}

// Only 6.0.3 and later have the statistics; a client that has asked nothing before sends the command all the same.
func TestSizesNeedNoEarlierQuestionForTheRelease(t *testing.T) {
	cfg := simcluster.Options{ServerVersion: "7.0", Projects: 2, Documents: 20, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, sent *counter) {
		_, err := c.AllSizes(t.Context())
		must.Do(t, err)
		if n := len(sent.of("aggregate")); n != 1 {
			t.Errorf("got %d reads, want 1", n)
		}
	})
}
