package conformance_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/actions"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// How a move waits for shards that are busy with another one: the balancer's are over
// after half a second, or after ten where they wait for orphans.
const (
	patience = 2 * time.Minute
	pause    = 400 * time.Millisecond
)

// conflictingOperation is the code of a shard that takes part in another migration, of
// whatever collection.
const conflictingOperation = 117

// patient sends a move again while one of its shards is busy with another migration, as
// every client has to beside a running balancer. All else is as the server answers it.
type patient struct {
	actions.Admin
	again *int // how often something was sent again
}

func (p patient) MoveChunk(ctx context.Context, run string, m topology.Move) error {
	return p.retry(ctx, func() error { return p.Admin.MoveChunk(ctx, run, m) })
}

func (p patient) MoveRange(ctx context.Context, run string, m topology.Move) error {
	return p.retry(ctx, func() error { return p.Admin.MoveRange(ctx, run, m) })
}

func (p patient) retry(ctx context.Context, move func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := move()
		if !busy(err) {
			return err
		}
		*p.again++
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// busy tells the refusal of a shard with another migration from others of the same code,
// such as that of a collection whose migrations are forbidden.
func busy(err error) bool {
	var refused mongo.CommandError
	return errors.As(err, &refused) && refused.Code == conflictingOperation &&
		strings.HasPrefix(refused.Message, "Unable to start new balancer operation because this shard is currently ")
}

// withBusyBalancer runs a test on a simulated cluster of a release whose balancer moves
// chunks of another collection all the time.
func withBusyBalancer(t *testing.T, release string, test func(*testing.T, *world)) {
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), simcluster.Options{ServerVersion: release, Empty: true, Still: true})
		must(t, err)
		t.Cleanup(func() { must(t, sim.Close()) })
		sim.Start(t.Context())
		admin := func(cmd ...bson.E) {
			_, err := sim.Command(t.Context(), "admin", bson.D(cmd))
			must(t, err)
		}
		const ns = "busy.other"
		admin(bson.E{Key: "enableSharding", Value: "busy"})
		admin(bson.E{Key: "shardCollection", Value: ns}, bson.E{Key: "key", Value: bson.D{{Key: "p", Value: 1}}})
		for at := range 12 {
			admin(bson.E{Key: "split", Value: ns}, bson.E{Key: "middle", Value: bson.D{{Key: "p", Value: at}}})
		}
		_, err = sim.Interfere(simcluster.Interference{Kind: simcluster.BusyBalancer, Namespaces: []string{ns}})
		must(t, err)
		time.Sleep(1300 * time.Millisecond) // in the middle of its first round
		test(t, newWorld(t, simcluster.URI(), sim))
	})
}

// Moves by hand arrive beside a busy balancer, but not each at the first attempt.
func TestMovesArriveBesideABusyBalancer(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			withBusyBalancer(t, release, func(t *testing.T, w *world) {
				ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
				f := w.follow(ns)
				for range 20 {
					lower, upper := f.bounds(f.chunks[0])
					to := w.elsewhere(f.chunks[0].Shard)
					must(t, w.admin.MoveChunk(w.Context(), run, topology.Move{NS: ns, Min: lower, Max: upper, To: to, Wait: true}))
					f.changed("a move")
					if f.chunks[0].Shard != to {
						t.Fatalf("moved to %s: %v", to, f.chunks[0])
					}
					time.Sleep(700 * time.Millisecond)
				}
				if again := *w.admin.(patient).again; again == 0 || again > 60 {
					t.Errorf("%d moves were sent again", again)
				}
			})
		})
	}
}
