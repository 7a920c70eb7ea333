package conformance_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// run is the comment of every command of the suite.
const run = "shardboard conformance"

// world is one target with a database of this test's own.
type world struct {
	*testing.T
	source    topology.Source
	admin     change.Client
	client    *cluster.Client // for methods that are in neither
	data      *mongo.Client
	simulated bool

	server topology.ServerInfo
	shards []string
	db     string // also the name of this test's zones
}

// send sends the command of a step.
func (w *world) send(ctx context.Context, s operation.Step) error {
	return change.Send(ctx, w.admin, run, s)
}

// setUp reads the server's version and registers the clean-up.
func (w *world) setUp() {
	w.Helper()
	var err error
	w.server, err = w.source.Server(w.Context())
	must.Do(w, err)
	shards, err := w.source.Shards(w.Context())
	must.Do(w, err)
	for _, s := range shards {
		if !s.Draining {
			w.shards = append(w.shards, s.Name)
		}
	}
	slices.Sort(w.shards)
	where := "simulated"
	if !w.simulated {
		where = w.server.Hosts
	}
	ran.Store(fmt.Sprintf("MongoDB %s (%s), %d shards", w.server.Version, where, len(w.shards)), true)

	var random [6]byte
	_, _ = rand.Read(random[:])
	w.db = "shardboard_test_" + hex.EncodeToString(random[:])
	w.Cleanup(w.cleanUp)
}

// cleanUp removes the test's data. The context of the test has already ended.
func (w *world) cleanUp() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	zones, err := w.source.Zones(ctx)
	expect.That(w, err == nil, "zones are not cleaned up: %v", err)
	for _, z := range zones {
		if z.NS.Database() == w.db {
			if err := w.send(ctx, operation.Step{Op: operation.OpRemoveRange, NS: z.NS, Min: z.RawMin, Max: z.RawMax}); err != nil {
				w.Errorf("range of zone %s: %v", z.Zone, err)
			}
		}
	}
	shards, _ := w.source.Shards(ctx)
	for _, s := range shards {
		for _, zone := range s.Zones {
			if strings.HasPrefix(zone, w.db) {
				if err := w.send(ctx, operation.Step{Op: operation.OpRemoveZone, Shard: s.Name, Zone: zone}); err != nil {
					w.Errorf("zone %s: %v", zone, err)
				}
			}
		}
	}
	expect.NoError(w, w.data.Database(w.db).Drop(ctx), "database %s is not dropped", w.db)
}

// atLeast reports whether the server is of this release or a later one.
func (w *world) atLeast(major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(w.server.Version, "%d.%d", &a, &b); err != nil {
		w.Fatalf("version %q: %v", w.server.Version, err)
	}
	return a > major || a == major && b >= minor
}

// needShards skips a test on a cluster with too few shards.
func (w *world) needShards(n int) {
	w.Helper()
	switch {
	case len(w.shards) >= n:
	case w.simulated:
		w.Fatalf("the simulated cluster has %d shards, %d needed", len(w.shards), n)
	default:
		w.Skipf("%d shards, %d needed", len(w.shards), n)
	}
}

// shardCollection makes a sharded collection with balancing off.
func (w *world) shardCollection(name string, key bson.D) topology.Namespace {
	w.Helper()
	ns := topology.Namespace(w.db + "." + name)
	admin := w.data.Database("admin")
	must.Do(w, admin.RunCommand(w.Context(), bson.D{{Key: "enableSharding", Value: w.db}}).Err())
	must.Do(w, admin.RunCommand(w.Context(), bson.D{{Key: "shardCollection", Value: ns}, {Key: "key", Value: key}}).Err())
	must.Do(w, w.send(w.Context(), operation.Step{Op: operation.OpBalancing, NS: ns}))
	return ns
}

// expectRefusal fails the test unless err is of this kind.
func (w *world) expectRefusal(kind fault.Kind, err error, doing string) {
	w.Helper()
	expect.That(w, err != nil && fault.Of(err) == kind, "%s: %v (%s), want %s", doing, err, fault.Of(err), kind)
}
