package conformance_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// Retries of a move whose shards are busy. The balancer's moves take half a second, or
// ten seconds if they wait for orphans.
const (
	patience = 2 * time.Minute
	pause    = 400 * time.Millisecond
)

// conflictingOperation is the error code of a shard that takes part in another
// migration of any collection.
const conflictingOperation = 117

// retryingClient repeats a move while one of its shards is busy with another migration, as
// clients must while the balancer runs. Other errors are returned unchanged.
type retryingClient struct{ change.Client }

func (p retryingClient) Run(ctx context.Context, run string, c operation.Command, a operation.Attempt) (reply bson.Raw, err error) {
	err = p.retryWhileBusy(ctx, func() error {
		reply, err = p.Client.Run(ctx, run, c, a)
		return err
	})
	return reply, err
}

func (p retryingClient) retryWhileBusy(ctx context.Context, move func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := move()
		if !isShardBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// isShardBusy reports whether an error is from a shard with another migration; other errors
// have the same code, such as forbidden migrations.
func isShardBusy(err error) bool {
	var refused mongo.CommandError
	return errors.As(err, &refused) && refused.Code == conflictingOperation &&
		strings.Contains(refused.Message, "Unable to start new balancer operation because this shard is currently ")
}

// withBusyBalancer runs a test on a simulated cluster whose balancer constantly moves
// chunks of another collection.
func withBusyBalancer(t *testing.T, release string, test func(*testing.T, *world)) {
	onSimulated(t, simcluster.Options{ServerVersion: release, Still: true}, func(t *testing.T, sim *simcluster.Cluster) {
		admin := func(cmd ...bson.E) {
			must.Do(t, must.Err(sim.Command(t.Context(), "admin", bson.D(cmd))))
		}
		const ns = "busy.other"
		admin(bson.E{Key: "enableSharding", Value: "busy"})
		admin(bson.E{Key: "shardCollection", Value: ns}, bson.E{Key: "key", Value: bson.D{{Key: "p", Value: 1}}})
		for at := range 12 {
			admin(bson.E{Key: "split", Value: ns}, bson.E{Key: "middle", Value: bson.D{{Key: "p", Value: at}}})
		}
		must.Do(t, must.Err(sim.Interfere(simcluster.Interference{Kind: simcluster.BusyBalancer, Namespaces: []string{ns}})))
		time.Sleep(1300 * time.Millisecond) // in the middle of its first round
		test(t, newWorld(t, simcluster.URI(), sim))
	})
}
