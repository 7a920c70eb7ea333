package cluster_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Polls during changes publish only complete tables of one collection incarnation.
func TestTablesPublishedDuringChangesAreComplete(t *testing.T) {
	cfg := simcluster.Options{Empty: true, Still: true, Pace: 0.01}
	onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}}))
		w := topology.NewWatcher(c, topology.Options{Routing: 20 * time.Millisecond, Sweep: time.Second, Statistics: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		_, changed, end := w.Subscribe()
		defer end()
		watched := make(chan struct{})
		tables := 0
		go func() {
			defer close(watched)
			for {
				select {
				case <-changed:
				case <-ctx.Done():
					return
				}
				tables++
				for _, col := range w.Table().Collections {
					checkCover(t, col)
					if h := col.Chunks.Highest(); h != col.Highest {
						t.Errorf("%s at %s has chunks of %s", col.NS, col.Highest, h)
					}
				}
			}
		}()
		defer func() {
			cancel()
			must.Do(t, <-done)
			<-watched
			if tables < 30 {
				t.Errorf("only %d tables were published", tables)
			}
		}()
		synctest.Wait()
		world := &randomAdmin{t: t, sim: sim, rng: rand.New(rand.NewPCG(5, 5)), ns: []string{"d.a", "d.b"}}
		for range 100 {
			world.randomCommand(w.Table)
			time.Sleep(time.Duration(world.rng.IntN(4)) * 10 * time.Millisecond) // often coincides with a poll
		}
		time.Sleep(time.Second)
		synctest.Wait()
		full, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
		must.Do(t, err)
		if err := sameTables(w.Table(), full); err != nil {
			t.Error(err)
		}
	})
}
