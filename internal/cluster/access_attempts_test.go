package cluster_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// attempt is one call of a client method.
type attempt struct {
	name string
	do   func(context.Context, *cluster.Client) error
}

const sampleNS = topology.Namespace("yorkie-meta.documents")

// readings lists all read methods. meta is of an existing collection.
func readings(meta topology.Meta) []attempt {
	id := bson.NewObjectID()
	nothing := func(topology.Chunk) error { return nil }
	return []attempt{
		{"Heads", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Heads(ctx, topology.Window{})
			return err
		}},
		{"Chunks", func(ctx context.Context, c *cluster.Client) error {
			return c.Chunks(ctx, meta, topology.Version{}, nothing)
		}},
		{"Shards", func(ctx context.Context, c *cluster.Client) error { _, err := c.Shards(ctx); return err }},
		{"Databases", func(ctx context.Context, c *cluster.Client) error { _, err := c.Databases(ctx); return err }},
		{"Zones", func(ctx context.Context, c *cluster.Client) error { _, err := c.Zones(ctx); return err }},
		{"Settings", func(ctx context.Context, c *cluster.Client) error { _, err := c.Settings(ctx); return err }},
		{"Routers", func(ctx context.Context, c *cluster.Client) error { _, err := c.Routers(ctx); return err }},
		{"BalancerStatus", func(ctx context.Context, c *cluster.Client) error { _, _, err := c.BalancerStatus(ctx); return err }},
		{"Events", func(ctx context.Context, c *cluster.Client) error { _, err := c.Events(ctx, nil, 5); return err }},
		{"BalancerActions", func(ctx context.Context, c *cluster.Client) error { _, err := c.BalancerActions(ctx, 5); return err }},
		{"Sizes", func(ctx context.Context, c *cluster.Client) error { _, err := c.Sizes(ctx, sampleNS); return err }},
		{"AllSizes", func(ctx context.Context, c *cluster.Client) error { _, err := c.AllSizes(ctx); return err }},
		{"Disks", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Disks(ctx, "yorkie-meta", nil)
			return err
		}},
		{"Collections", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Collections(ctx, "yorkie-meta")
			return err
		}},
		{"TargetShards", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.TargetShards(ctx, sampleNS, bson.D{{Key: "_id", Value: id}})
			return err
		}},
		{"Projects", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Projects(ctx, "yorkie-meta", profile.Yorkie().Names, bson.ObjectID{}, true)
			return err
		}},
		{"DocumentsByKey", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsByKey(ctx, "yorkie-meta", profile.Yorkie().Keys, placement.ObjectIDValue(id), "k", 5)
			return err
		}},
		{"DocumentsByKeyIn", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsByKeyIn(ctx, "yorkie-meta", profile.Yorkie().Keys, []bson.RawValue{placement.ObjectIDValue(id)}, []string{"k"}, 5)
			return err
		}},
		{"DocumentsOf", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsOf(ctx, "yorkie-meta", profile.Yorkie().Keys, placement.ObjectIDValue(id), placement.DocumentPage{Limit: 5})
			return err
		}},
		{"RowsByID", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.RowsByID(ctx, sampleNS, []string{"project_id"}, []bson.RawValue{placement.ObjectIDValue(id)}, 5)
			return err
		}},
		{"ByID", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.ByID(ctx, "yorkie-meta", profile.Yorkie().RowFields("clients"), id, 5)
			return err
		}},
		{"Balanced", func(ctx context.Context, c *cluster.Client) error { _, _, err := c.Balanced(ctx, sampleNS); return err }},
	}
}

// changes has a step of every operation. Their arguments do not exist, so that an allowed command has no effect.
func changes() (out []attempt) {
	bound := func(n int) bson.Raw {
		raw, _ := bson.Marshal(bson.D{{Key: "project_id", Value: bson.ObjectID{11: byte(n)}}})
		return raw
	}
	for _, s := range []operation.Step{
		{Op: operation.OpSplitAt, At: bound(1)},
		{Op: operation.OpSplitMedian, Min: bound(1), Max: bound(2)},
		{Op: operation.OpMerge, Min: bound(1), Max: bound(2)},
		{Op: operation.OpRefineKey, Key: keyOf(int32(1))},
		{Op: operation.OpClearJumbo, Min: bound(1), Max: bound(2)},
		{Op: operation.OpMove, Min: bound(1), Max: bound(2), Shard: "nowhere"},
		{Op: operation.OpMoveRange, Min: bound(1), Max: bound(2), Shard: "nowhere"},
		{Op: operation.OpReshard, Reshard: &operation.Reshard{Key: bound(2)}}, // refused: a key has 1 or "hashed"
		{Op: operation.OpReshardCommit},
		{Op: operation.OpBeginRemoval, Shard: "nowhere"},
		{Op: operation.OpStartDraining, Shard: "nowhere"},
		{Op: operation.OpStopDraining, Shard: "nowhere"},
		{Op: operation.OpRemoveShard, Shard: "nowhere"},
		{Op: operation.OpBeginDedicated, Shard: "config"}, // refused: it is no shard
		{Op: operation.OpDedicate, Shard: "config"},
		{Op: operation.OpMovePrimary, DB: sampleNS.Database(), Shard: "shard-rs-1"}, // where it is
		{Op: operation.OpMoveCollection, Shard: "shard-rs-1"},                       // refused: it is sharded
		{Op: operation.OpUnshard, Shard: "none"},                                    // refused: no such shard
		{Op: operation.OpAbortMove},                                                 // refused: none is running
		{Op: operation.OpAbortUnshard},
		{Op: operation.OpReshardAbort},
		{Op: operation.OpMigrations, On: true},
		{Op: operation.OpChunkSize},
		{Op: operation.OpAutoMerge, On: true},
		{Op: operation.OpDefragment},
		{Op: operation.OpBalancing, On: true},
		{Op: operation.OpBalancerOn},
		{Op: operation.OpBalancerOff},
		{Op: operation.OpBalancerWindow, Start: "01:00", Stop: "02:00"},
		{Op: operation.OpAddZone, Shard: "nowhere", Zone: "z"},
		{Op: operation.OpRemoveZone, Shard: "nowhere", Zone: "z"},
		{Op: operation.OpSetRange, Min: bound(1), Max: bound(2), Zone: "z"},
		{Op: operation.OpRemoveRange, Min: bound(1), Max: bound(2)},
	} {
		if s.DB == "" {
			s.NS = sampleNS
		}
		out = append(out, attempt{string(s.Op), func(ctx context.Context, c *cluster.Client) error { return change.Send(ctx, c, "", s) }})
	}
	return out
}

// connector connects as a user.
type connector func(user, password string) (*cluster.Client, error)

// withAccessControl runs a test against a small cluster with access control.
func withAccessControl(t *testing.T, version string, users []access.User,
	test func(t *testing.T, sim *simcluster.Cluster, connect connector)) {
	t.Helper()
	o := simcluster.Options{Projects: 3, Documents: 20, Still: true, ServerVersion: version, Users: users}
	onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, _ *cluster.Client, _ *counter) {
		test(t, sim, func(user, password string) (*cluster.Client, error) {
			text := strings.Replace(simcluster.URI(), "mongodb://", "mongodb://"+url.UserPassword(user, password).String()+"@", 1)
			uri := must.Get(cluster.ParseURI(text))
			c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
			if err == nil {
				t.Cleanup(func() { _ = c.Close(context.Background()) })
			}
			return c, err
		})
	})
}

// metaOf reads a collection's metadata with a privileged client.
func metaOf(t *testing.T, c *cluster.Client) topology.Meta {
	t.Helper()
	heads, err := c.Heads(t.Context(), topology.Window{Only: []topology.Namespace{sampleNS}})
	must.Do(t, err)
	must.That(t, len(heads) == 1, "%d heads", len(heads))
	return heads[0].Meta
}

// missingPrivilege is the missing privilege that an error names, or "".
func missingPrivilege(t *testing.T, name string, err error) string {
	t.Helper()
	if fault.Of(err) != fault.Forbidden || err == nil {
		return ""
	}
	var d *topology.DeniedError
	must.That(t, errors.As(err, &d) && d.Privilege != "", "%s: %v names no privilege", name, err)
	return d.Privilege
}

// The privilege named by a refusal is sufficient: with only that privilege the same
// attempt works.
func TestGrantingTheNamedPrivilegeIsEnough(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			users := []access.User{{Name: "root", Password: "pw"}}
			withAccessControl(t, version, users, func(t *testing.T, sim *simcluster.Cluster, connect connector) {
				root, err := connect("root", "pw")
				must.Do(t, err)
				must.Do(t, must.Err(root.Server(t.Context())))
				for _, a := range append(readings(metaOf(t, root)), changes()...) {
					name := "only" + a.name
					must.Do(t, run(t, sim, "admin", bson.D{{Key: "createRole", Value: name}, {Key: "privileges", Value: bson.A{}},
						{Key: "roles", Value: bson.A{}}}))
					must.Do(t, run(t, sim, "admin",
						bson.D{{Key: "createUser", Value: name}, {Key: "pwd", Value: "pw"}, {Key: "roles", Value: bson.A{name}}}))
					c, err := connect(name, "pw")
					must.Do(t, err)
					must.Do(t, must.Err(c.Server(t.Context())))
					err = a.do(t.Context(), c)
					lacks := missingPrivilege(t, a.name, err)
					if lacks == "" {
						expect.Equal(t, fault.Of(err), fault.NotFound,
							"%s: somebody without any privilege got %v", a.name, err)
						continue // this release does not have it
					}
					must.Do(t, run(t, sim, "admin", bson.D{
						{Key: "grantPrivilegesToRole", Value: name}, {Key: "privileges", Value: parsePrivileges(t, lacks)},
					}))
					expect.Equal(t, missingPrivilege(t, a.name, a.do(t.Context(), c)), "",
						"%s: what it lacks with %s", a.name, lacks)
				}
			})
		})
	}
}

// parsePrivileges parses a sentence like "find on config.shards, and find and update on
// config.tags".
func parsePrivileges(t *testing.T, sentence string) bson.A {
	t.Helper()
	var out bson.A
	var actions []string
	on := false
	for _, word := range strings.Fields(strings.ReplaceAll(sentence, ",", " ")) {
		resource := strings.ContainsAny(word, ".-") || word == "cluster"
		switch {
		case word == "and" || word == "the":
		case word == "on":
			on = true
		case on && resource:
			db, coll, _ := strings.Cut(word, ".")
			r := bson.D{{Key: "db", Value: db}, {Key: "collection", Value: coll}}
			if word == "cluster" {
				r = bson.D{{Key: "cluster", Value: true}}
			}
			out = append(out, bson.D{{Key: "resource", Value: r}, {Key: "actions", Value: slices.Clone(actions)}})
		default:
			if on {
				on, actions = false, nil
			}
			actions = append(actions, word)
		}
	}
	must.That(t, len(out) != 0, "%q names nothing that can be granted", sentence)
	return out
}
