package conformance_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// withRoles runs a test on simulated clusters with access control: the world uses root,
// the client a user with only these roles.
func withRoles(t *testing.T, roles []string, test func(*testing.T, *world, *cluster.Client)) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			users := []access.User{{Name: "root", Password: "secret"}, {Name: "limited", Password: "secret", Roles: roles}}
			o := simcluster.Options{ServerVersion: release, Still: true, Users: users}
			onSimulated(t, o, func(t *testing.T, sim *simcluster.Cluster) {
				as := func(user string) string {
					return strings.Replace(simcluster.URI(), "mongodb://", "mongodb://"+user+":secret@", 1)
				}
				w := newWorld(t, as("root"), sim)
				uri := must.Get(cluster.ParseURI(as("limited")))
				c := must.Get(cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim}))
				t.Cleanup(func() { must.Do(t, c.Close(context.Background())) })
				must.Do(t, must.Err(c.Server(t.Context())))
				test(t, w, c)
			})
		})
	}
}

// callEveryRead calls all read methods except for unsharded collections, which
// clusterMonitor may not list.
func callEveryRead(ctx context.Context, c topology.Source, m topology.Meta) map[string]error {
	none := func(topology.Chunk) error { return nil }
	errs := map[string]error{
		"chunks":      c.Chunks(ctx, m, topology.Version{}, none),
		"chunks from": c.ChunksFrom(ctx, m, m.Key.Min(), 5, none),
	}
	_, errs["server"] = c.Server(ctx)
	_, errs["heads"] = c.Heads(ctx, topology.Window{})
	_, errs["shards"] = c.Shards(ctx)
	_, errs["databases"] = c.Databases(ctx)
	_, errs["zones"] = c.Zones(ctx)
	_, errs["settings"] = c.Settings(ctx)
	_, errs["routers"] = c.Routers(ctx)
	_, _, errs["balancer"] = c.BalancerStatus(ctx)
	_, errs["events"] = c.Events(ctx, nil, 10)
	_, errs["sizes"] = c.Sizes(ctx, m.NS)
	_, errs["disks"] = c.Disks(ctx, m.NS.Database(), nil)
	if _, err := c.AllSizes(ctx); fault.Of(err) != fault.NotFound {
		errs["all sizes"] = err
	}
	return errs
}

// callEveryChange calls all changing methods in an order in which each would succeed. The
// collection has one chunk.
func callEveryChange(ctx context.Context, w *world, c *cluster.Client, ns topology.Namespace) map[string]error {
	errs := map[string]error{}
	do := func(s operation.Step) error { return change.Send(ctx, c, run, s) }
	all := w.follow(ns).chunks[0]
	lower, upper := keyDoc(bson.MinKey{}), keyDoc(bson.MaxKey{})
	errs["split"] = do(operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(0))})
	// of an empty chunk
	errs["split in the middle"] = ignoreKind(do(operation.Step{Op: operation.OpSplitMedian, NS: ns, Min: lower, Max: keyDoc(int32(0))}),
		fault.Conflict)
	errs["move"] = do(operation.Step{Op: operation.OpMove, NS: ns, Min: lower, Max: keyDoc(int32(0)),
		Shard: w.otherShard(all.Shard), Wait: true})
	errs["move back"] = do(operation.Step{Op: operation.OpMove, NS: ns, Min: lower, Max: keyDoc(int32(0)), Shard: all.Shard})
	errs["merge"] = do(operation.Step{Op: operation.OpMerge, NS: ns, Min: lower, Max: upper})
	errs["clear jumbo"] = do(operation.Step{Op: operation.OpClearJumbo, NS: ns, Min: lower, Max: upper})
	errs["refine"] = do(operation.Step{Op: operation.OpRefineKey, NS: ns, Key: keyDoc(int32(1))}) // the key that it has
	errs["move range"] = ignoreKind(do(operation.Step{Op: operation.OpMoveRange, NS: ns, Min: keyDoc(int32(5)), Max: keyDoc(int32(9)),
		Shard: w.otherShard(all.Shard)}), fault.NotFound)
	errs["add to zone"] = do(operation.Step{Op: operation.OpAddZone, Shard: all.Shard, Zone: w.db})
	errs["set zone range"] = do(operation.Step{Op: operation.OpSetRange, NS: ns, Min: keyDoc(int32(0)), Max: keyDoc(int32(1)), Zone: w.db})
	errs["remove zone range"] = do(operation.Step{Op: operation.OpRemoveRange, NS: ns, Min: keyDoc(int32(0)), Max: keyDoc(int32(1))})
	errs["remove from zone"] = do(operation.Step{Op: operation.OpRemoveZone, Shard: all.Shard, Zone: w.db})
	errs["start balancer"] = do(operation.Step{Op: operation.OpBalancerOn})
	errs["stop balancer"] = do(operation.Step{Op: operation.OpBalancerOff})
	errs["set window"] = do(operation.Step{Op: operation.OpBalancerWindow, Start: "01:00", Stop: "02:00"})
	errs["clear window"] = do(operation.Step{Op: operation.OpBalancerWindow})
	errs["set balancing"] = do(operation.Step{Op: operation.OpBalancing, NS: ns})
	errs["set migrations"] = ignoreKind(do(operation.Step{Op: operation.OpMigrations, NS: ns, On: true}), fault.NotFound)
	errs["set chunk size"] = ignoreKind(do(operation.Step{Op: operation.OpChunkSize, NS: ns}), fault.NotFound)
	errs["defragment"] = ignoreKind(do(operation.Step{Op: operation.OpDefragment, NS: ns}), fault.NotFound)
	if w.atLeast(7, 0) {
		errs["set automatic merging"] = do(operation.Step{Op: operation.OpAutoMerge, NS: ns, On: true})
	}
	return errs
}

// ignoreKind returns nil for errors that are unrelated to privileges, such as that of a
// command that a release does not have.
func ignoreKind(err error, kind fault.Kind) error {
	if err != nil && fault.Of(err) == kind {
		return nil
	}
	return err
}

func TestMonitorRoleReadsEverythingAndChangesNothing(t *testing.T) {
	withRoles(t, []string{"clusterMonitor"}, func(t *testing.T, w *world, c *cluster.Client) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		for what, err := range callEveryRead(t.Context(), c, w.head(ns).Meta) {
			expect.That(t, err == nil, "%s: %v", what, err)
		}
		before := w.follow(ns)
		for what, err := range callEveryChange(t.Context(), w, c, ns) {
			var denied *topology.DeniedError
			known := map[string]bool{"move range": w.atLeast(6, 0), "merge on shard": w.atLeast(7, 0), "set migrations": w.atLeast(5, 0),
				"set chunk size": w.atLeast(6, 0), "defragment": w.atLeast(6, 0)}
			if exists, limited := known[what]; limited && !exists {
				continue
			}
			if fault.Of(err) != fault.Forbidden || !errors.As(err, &denied) || denied.Privilege == "" {
				t.Errorf("%s: %v", what, err)
			}
		}
		if h := w.head(ns); h.Highest != before.highest || len(w.zoneRanges()) != 0 {
			t.Errorf("something changed: %+v", h)
		}
	})
}

func TestManagerRoleMayMakeEveryChange(t *testing.T) {
	withRoles(t, []string{"clusterManager", "clusterMonitor"}, func(t *testing.T, w *world, c *cluster.Client) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		for what, err := range callEveryChange(t.Context(), w, c, ns) {
			expect.That(t, err == nil, "%s: %v", what, err)
		}
		if h := w.head(ns); h.MigrationsBlocked || !h.NoBalance {
			t.Errorf("got %+v, want MigrationsBlocked false, NoBalance true", h)
		}
	})
}
