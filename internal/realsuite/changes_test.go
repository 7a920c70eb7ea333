package realsuite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// change is one kind of change with everything that leads to it.
type change struct {
	name   string
	kind   string
	since  [2]int                       // first release with it; zero: all
	before func(w *world, d *dashboard) // makes what it needs
	args   func(w *world, c *cast) args // of this cluster
	lines  string                       // only the lines that begin so are compared; "": all
	stays  bool                         // it cannot be undone
	later  bool                         // the balancer ends what the undo asks for
}

// cast is what changes are made to.
type cast struct {
	projects []string // ids, in the order of the key
	docs     string   // namespace by {project_id: 1}
	changes  string   // namespace by {doc_id: "hashed"}
}

const (
	documentsNS = hashedData + ".documents"
	changesNS   = hashedData + ".changes"
	schemasNS   = hashedData + ".schemas"
)

// suiteZone is the zone that the tests make.
const suiteZone = "suite"

// chunkOf is a chunk of a collection as the API takes it.
func chunkOf(w *world, ns string, at int) (chunk, [2]json.RawMessage) {
	w.Helper()
	all := w.chunks(ns)
	c := all[min(at, len(all)-1)]
	return c, [2]json.RawMessage{extended(w, c.Min), extended(w, c.Max)}
}

// middleOf is the hash in the middle of a chunk of a collection by {doc_id: "hashed"}.
func middleOf(w *world, ns string, at int) int64 {
	w.Helper()
	c, _ := chunkOf(w, ns, at)
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if below, ok := c.Min.Lookup("doc_id").AsInt64OK(); ok {
		lo = below
	}
	if above, ok := c.Max.Lookup("doc_id").AsInt64OK(); ok {
		hi = above
	}
	return lo/2 + hi/2
}

func extended(w *world, d any) json.RawMessage {
	w.Helper()
	return must.Get(bson.MarshalExtJSON(d, true, false))
}

// projectKey is a key of documents that no project has, after project n.
func (c *cast) projectKey(w *world, n, plus int) json.RawMessage {
	id, err := bson.ObjectIDFromHex(c.projects[n])
	w.must(err)
	id[10], id[11] = byte(plus>>8), byte(plus)
	return extended(w, bson.D{{Key: "project_id", Value: id}})
}

func changeList() []change {
	addZone := func(w *world, _ *dashboard) {
		w.admin(bson.D{{Key: "addShardToZone", Value: "shard-rs-2"}, {Key: "zone", Value: suiteZone}})
	}
	balancerOn := func(w *world, _ *dashboard) { w.admin(bson.D{{Key: "balancerStart", Value: 1}}) }
	zoneArgs := func(w *world, c *cast) args {
		return args{"ns": c.docs, "zone": suiteZone, "min": c.projectKey(w, 1, 1), "max": c.projectKey(w, 1, 2)}
	}
	onChunk := func(ns string, more args) func(*world, *cast) args {
		return func(w *world, _ *cast) args {
			c, bounds := chunkOf(w, ns, 1)
			a := args{"ns": ns, "bounds": bounds}
			for k, v := range more {
				a[k] = v
			}
			if _, moves := a["to"]; moves {
				a["to"] = w.otherShard(c.Shard)
			}
			return a
		}
	}
	ofProject := func(n int, more args) func(*world, *cast) args {
		return func(_ *world, c *cast) args {
			a := args{"project": c.projects[n]}
			for k, v := range more {
				a[k] = v
			}
			return a
		}
	}
	setting := func(ns string, more args) func(*world, *cast) args {
		return func(*world, *cast) args {
			a := args{"ns": ns}
			for k, v := range more {
				a[k] = v
			}
			return a
		}
	}
	none := func(*world, *cast) args { return nil }
	return []change{
		{name: "split at a key", kind: "split", args: func(w *world, c *cast) args {
			return args{"ns": c.docs, "at": c.projectKey(w, 0, 3)}
		}},
		{name: "split into parts", kind: "split", args: onChunk(changesNS, args{"parts": 3})},
		{name: "split a project", kind: "split-project", args: ofProject(2, nil)},
		{name: "split a hot chunk", kind: "split-hot", args: func(w *world, c *cast) args {
			a := onChunk(changesNS, args{"to": ""})(w, c)
			a["at"] = extended(w, bson.D{{Key: "doc_id", Value: middleOf(w, changesNS, 1)}})
			return a
		}},
		{name: "spread a project", kind: "spread", args: ofProject(1, nil)},
		{
			name: "clear the jumbo flag", kind: "clear-jumbo", args: onChunk(changesNS, nil), stays: true,
			before: func(w *world, _ *dashboard) {
				c, _ := chunkOf(w, changesNS, 1)
				_, err := w.config("chunks").UpdateOne(w.Context(), bson.D{{Key: "_id", Value: c.ID}},
					bson.D{{Key: "$set", Value: bson.D{{Key: "jumbo", Value: true}}}})
				w.must(err)
			},
		},
		{name: "defragment", kind: "defragment", since: [2]int{6, 0}, later: true, before: balancerOn,
			args: setting(schemasNS, args{"on": true})},
		{
			name: "merge", kind: "merge",
			before: func(w *world, _ *dashboard) {
				w.admin(bson.D{{Key: "split", Value: changesNS},
					{Key: "middle", Value: bson.D{{Key: "doc_id", Value: middleOf(w, changesNS, 1)}}}})
			},
			args: func(w *world, _ *cast) args {
				first, _ := chunkOf(w, changesNS, 1)
				second, _ := chunkOf(w, changesNS, 2)
				return args{"ns": changesNS, "min": extended(w, first.Min), "max": extended(w, second.Max)}
			},
		},
		{name: "move", kind: "move", args: onChunk(changesNS, args{"to": ""})},
		{name: "pin", kind: "pin", args: ofProject(3, args{"shard": "shard-rs-3"})},
		{name: "isolate", kind: "isolate", args: ofProject(4, args{"shard": "shard-rs-1"})},
		{
			name: "unpin", kind: "unpin", args: ofProject(5, nil),
			before: func(_ *world, d *dashboard) {
				d.change("pin", args{"project": castOf(d).projects[5], "shard": "shard-rs-2"})
			},
		},
		{name: "zone, add a shard", kind: "zone-add-shard",
			args: func(*world, *cast) args { return args{"shard": "shard-rs-2", "zone": suiteZone} }},
		{name: "zone, set a range", kind: "zone-set-range", before: addZone, args: zoneArgs},
		{
			name: "zone, remove a range", kind: "zone-remove-range", args: zoneArgs,
			before: func(w *world, d *dashboard) { addZone(w, d); d.change("zone-set-range", zoneArgs(w, castOf(d))) },
		},
		{name: "zone, remove a shard", kind: "zone-remove-shard", before: addZone,
			args: func(*world, *cast) args { return args{"shard": "shard-rs-2", "zone": suiteZone} }},
		{name: "balancer window", kind: "balancer-window", args: func(*world, *cast) args { return args{"start": "01:00", "stop": "02:00"} }},
		{name: "balance a collection", kind: "balance-collection", args: setting(schemasNS, args{"on": false})},
		{name: "block moves", kind: "allow-migrations", since: [2]int{5, 0}, args: setting(schemasNS, args{"on": false})},
		{name: "chunk size", kind: "chunk-size", since: [2]int{6, 0}, args: setting(schemasNS, args{"size": 7})},
		{name: "automatic merging", kind: "auto-merge", since: [2]int{7, 0}, args: setting(schemasNS, args{"on": false})},
		{name: "several at once", kind: "batch", args: func(w *world, c *cast) args {
			return args{"plans": []any{
				map[string]any{"kind": "split", "args": args{"ns": c.docs, "at": c.projectKey(w, 6, 1)}},
				map[string]any{"kind": "split", "args": args{"ns": c.docs, "at": c.projectKey(w, 7, 1)}},
			}}
		}},
		{name: "balancer on", kind: "balancer-on", lines: "balancer", args: none},
		{name: "balancer off", kind: "balancer-off", lines: "balancer", args: none,
			before: balancerOn},
	}
}

// castOf reads the projects from the product.
func castOf(d *dashboard) *cast {
	d.Helper()
	var list struct{ Items []struct{ ID, DB string } }
	d.read("projects?limit=1000", &list)
	c := &cast{docs: documentsNS, changes: changesNS}
	for _, p := range list.Items {
		if p.DB == hashedData {
			c.projects = append(c.projects, p.ID)
		}
	}
	must.That(d, len(c.projects) >= 8, "%d projects are too few for a meaningful test", len(c.projects))
	return c
}

// changesAs plans, runs, proves and takes back every kind of change as a user.
func changesAs(uri func(*world) string) func(*world) {
	return func(w *world) {
		d := serve(w.TB, uri(w))
		c := castOf(d)
		for _, k := range changeList() {
			if k.since != [2]int{} && w.before(k.since[0], k.since[1]) {
				continue
			}
			w.point(k.name, func(w *world) {
				own := *d
				own.TB = w.TB
				changeAndUndo(w, &own, c, k)
			})
		}
	}
}

// changeAndUndo compares what the config server has before and after the change, and after its undo.
func changeAndUndo(w *world, d *dashboard, c *cast, k change) {
	w.Helper()
	w.calm()
	if k.before != nil {
		k.before(w, d)
	}
	state := func() string { return linesWith(w.state(hashedData), k.lines) }
	before := state()
	d.catchUp(w)
	r := d.change(k.kind, k.args(w, c))
	expect.That(w, state() != before, "the run succeeded, and nothing has changed: %s", r)
	if k.stays {
		return
	}
	d.succeed(d.undo(r.ID))
	limit := time.Duration(0)
	if k.later {
		limit = patience
	}
	err := until(w.Context(), limit, func(context.Context) error {
		if d := differences(before, state()); d != "" {
			return errors.New(d)
		}
		return nil
	})
	expect.That(w, err == nil, "the undo succeeded, and these differ from before the change:\n%v", err)
}

// calm turns the balancer off and removes the zone of these tests.
func (w *world) calm() {
	w.Helper()
	w.admin(bson.D{{Key: "balancerStop", Value: 1}})
	for _, z := range documents[zoneRange](w, "tags", bson.D{{Key: "tag", Value: suiteZone}}) {
		w.removeRange(z)
	}
	for _, s := range documents[shardEntry](w, "shards", bson.D{{Key: "tags", Value: suiteZone}}) {
		w.admin(bson.D{{Key: "removeShardFromZone", Value: s.ID}, {Key: "zone", Value: suiteZone}})
	}
}

// catchUp waits until the product has seen what a test changed past it.
func (d *dashboard) catchUp(w *world) {
	d.Helper()
	want := 0
	for _, c := range w.shardedOf(hashedData) {
		want += len(w.chunks(c.ID))
	}
	d.eventually(patience, "the product knows the chunks", func(ctx context.Context) error {
		var list struct {
			Items []struct {
				NS     string
				Shards []struct{ Chunks int }
			}
		}
		if err := d.get(ctx, "/api/v1/collections?limit=1000", &list); err != nil {
			return err
		}
		has := 0
		for _, c := range list.Items {
			if strings.HasPrefix(c.NS, hashedData+".") {
				for _, s := range c.Shards {
					has += s.Chunks
				}
			}
		}
		if has != want {
			return fmt.Errorf("it has %d chunks, the cluster %d", has, want)
		}
		return nil
	})
}

// refusedChanges shows that a user who may only look is told which privilege is missing.
func refusedChanges(w *world) {
	d := serve(w.TB, w.uriAs(viewerUser))
	c := castOf(d)
	before := w.state(hashedData)
	for kind, a := range map[string]args{
		"split":              {"ns": c.docs, "at": c.projectKey(w, 0, 9)},
		"balance-collection": {"ns": c.changes, "on": false},
		"zone-add-shard":     {"shard": "shard-rs-2", "zone": suiteZone},
		"balancer-on":        nil,
	} {
		p, err := d.tryPlan(kind, a)
		said := fmt.Sprint(err, p.blockers())
		if err == nil && !p.Blocked {
			r := d.wait(d.begin(p), healingPatience)
			said = r.String()
			expect.That(w, r.State != "succeeded", "%s succeeded for a user who may only look", kind)
		}
		w.Logf("%s: %s", kind, said)
		expect.That(w, missingPrivilege.MatchString(said), "%s does not say which privilege is missing: %s", kind, said)
	}
	expect.Equal(w, differences(before, w.state(hashedData)), "", "a user who may only look changed:\n")
}

// missingPrivilege finds the names of the actions that the changes need.
var missingPrivilege = regexp.MustCompile(`splitChunk|update|moveChunk|enableSharding`)
