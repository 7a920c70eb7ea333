package realsuite_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

const (
	wholeData = "suite-whole"
	wholeRows = wholeData + ".rows"
	wholeName = wholeData + ".plain"
	// drainPatience is how long draining may take: some rounds of the balancer of ten seconds each.
	drainPatience = 15 * time.Minute
)

// wholeMoves changes what belongs to whole collections, databases and shards: refine, reshard, movePrimary,
// moveCollection, unshardCollection, the config shard in and out, drain and remove.
func wholeMoves(w *world) {
	w.makeWhole()
	d := w.serve()
	w.point("refine the key", func(w *world) {
		w.must(w.data.Database(wholeData).RunCommand(w.Context(), bson.D{{Key: "createIndexes", Value: "rows"}, {Key: "indexes", Value: bson.A{
			bson.D{{Key: "key", Value: bson.D{{Key: "p", Value: 1}, {Key: "q", Value: 1}}}, {Key: "name", Value: "p_1_q_1"}},
			bson.D{{Key: "key", Value: bson.D{{Key: "q", Value: 1}}}, {Key: "name", Value: "q_1"}}}}}).Err())
		w.as(d).change("refine-key", args{"ns": wholeRows, "key": map[string]int{"p": 1, "q": 1}})
		w.expectKey("p", "q")
	})
	w.point("move the primary and back", func(w *world) {
		before := w.primary()
		r := w.as(d).change("move-primary", args{"db": wholeData, "to": w.otherShard(before)})
		now := w.primary()
		expect.That(w, now != before, "the primary is still %s", now)
		w.as(d).succeed(w.as(d).undo(r.ID))
		expect.Equal(w, w.primary(), before, "the primary")
		w.expectDocuments()
	})
	w.point("reshard and back", func(w *world) {
		w.since(5, 0)
		r := w.as(d).change("reshard", args{"ns": wholeRows, "key": map[string]int{"q": 1}, "initialChunks": 3})
		w.expectKey("q")
		w.expectDocuments()
		w.as(d).succeed(w.as(d).undo(r.ID))
		w.expectKey("p", "q")
		w.expectDocuments()
	})
	w.point("distribute anew", func(w *world) {
		w.since(8, 0)
		was, _ := w.collection(wholeRows)
		w.as(d).change("reshard", args{"ns": wholeRows, "key": map[string]int{"p": 1, "q": 1}, "initialChunks": 3})
		now, _ := w.collection(wholeRows)
		expect.That(w, !slices.Equal(now.UUID.Data, was.UUID.Data), "it is the same collection as before")
		w.expectKey("p", "q")
		w.expectDocuments()
	})
	w.point("move a collection and back", func(w *world) {
		w.since(8, 0)
		before := w.primary()
		to := w.otherShard(before)
		r := w.as(d).change("move-collection", args{"ns": wholeName, "to": to})
		w.expectOn(wholeName, to)
		w.as(d).succeed(w.as(d).undo(r.ID))
		w.expectOn(wholeName, before)
		w.expectDocuments()
	})
	w.point("config shard in and out", func(w *world) { configShard(w, d) })
	w.point("drain and remove a shard", func(w *world) { drainAndRemove(w, d) })
	w.point("unshard", func(w *world) {
		w.since(8, 0)
		w.as(d).change("unshard-collection", args{"ns": wholeRows, "to": "shard-rs-1"})
		w.expectOn(wholeRows, "shard-rs-1")
		w.expectDocuments()
	})
}

// since skips a test on releases without its command.
func (w *world) since(major, minor int) {
	w.Helper()
	if w.before(major, minor) {
		w.Skipf("since %d.%d", major, minor)
	}
}

// as is the product with the failures of this test.
func (w *world) as(d *dashboard) *dashboard {
	own := *d
	own.TB = w.TB
	return &own
}

// makeWhole makes a sharded collection with a chunk on each shard, and one that is not sharded.
func (w *world) makeWhole() {
	w.Helper()
	w.admin(bson.D{{Key: "enableSharding", Value: wholeData}, {Key: "primaryShard", Value: "shard-rs-1"}})
	w.admin(bson.D{{Key: "shardCollection", Value: wholeRows}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
	var rows, plain []any
	for i := range int32(300) {
		rows = append(rows, bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i}, {Key: "q", Value: (i * 7) % 300}})
		plain = append(plain, bson.D{{Key: "_id", Value: i}})
	}
	for ns, docs := range map[string][]any{wholeRows: rows, wholeName: plain} {
		w.must(must.Err(w.namespace(ns).InsertMany(w.Context(), docs)))
	}
	for _, at := range []int32{100, 200} {
		w.admin(bson.D{{Key: "split", Value: wholeRows}, {Key: "middle", Value: bson.D{{Key: "p", Value: at}}}})
	}
	for i, c := range w.chunks(wholeRows) {
		w.must(w.move(w.Context(), wholeRows, c, w.cluster.Shards()[i]))
	}
}

func (w *world) primary() string {
	w.Helper()
	return documents[struct{ Primary string }](w, "databases", bson.D{{Key: "_id", Value: wholeData}})[0].Primary
}

func (w *world) expectKey(fields ...string) {
	w.Helper()
	c, _ := w.collection(wholeRows)
	var got []string
	for _, f := range c.Key {
		got = append(got, f.Key)
	}
	expect.EqualSlices(w, got, fields, "the shard key")
}

func (w *world) expectOn(ns, shard string) {
	w.Helper()
	on, err := w.targets(w.Context(), ns, bson.D{})
	w.must(err)
	expect.That(w, slices.Equal(on, []string{shard}), "%s is on %v, want %s", ns, on, shard)
}

func (w *world) expectDocuments() {
	w.Helper()
	for _, ns := range []string{wholeRows, wholeName} {
		n, err := w.namespace(ns).CountDocuments(w.Context(), bson.D{})
		expect.That(w, err == nil && n == 300, "%s has %d documents, %v: want 300", ns, n, err)
	}
}

// configShard makes the config server a shard, moves a chunk onto it and back, and makes it dedicated again.
func configShard(w *world, d *dashboard) {
	w.since(8, 0)
	w.admin(bson.D{{Key: "transitionFromDedicatedConfigServer", Value: 1}})
	c := w.chunks(wholeRows)[0]
	d = w.as(d)
	d.eventually(patience, "the config shard is shown", func(ctx context.Context) error { return d.hasShard(ctx, "config", true) })
	r := d.change("move", args{"ns": wholeRows, "to": "config", "min": extended(w, c.Min), "max": extended(w, c.Max),
		"bounds": [2]any{extended(w, c.Min), extended(w, c.Max)}})
	expect.Equal(w, w.chunks(wholeRows)[0].Shard, "config", "the shard of the chunk")
	d.succeed(d.undo(r.ID))
	w.drain(d, "config", func() {})
	w.must(until(w.Context(), drainPatience, func(ctx context.Context) error { // documents of what left are deleted first
		r := d.wait(d.begin(d.plan("remove-shard", args{"shard": "config"})), patience)
		if r.State == "succeeded" {
			return nil
		}
		why := fmt.Sprint(r)
		must.That(w, strings.Contains(why, "not deleted yet"), "it is not dedicated: %s", why)
		return fmt.Errorf("it waits: %s", r)
	}))
	w.admin(bson.D{{Key: "balancerStop", Value: 1}})
	d.eventually(patience, "the config shard is gone", func(ctx context.Context) error { return d.hasShard(ctx, "config", false) })
	w.expectDocuments()
}

func (d *dashboard) hasShard(ctx context.Context, name string, want bool) error {
	var list struct{ Items []struct{ Name string } }
	if err := d.get(ctx, "/api/v1/shards", &list); err != nil {
		return err
	}
	var names []string
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	if slices.Contains(names, name) != want {
		return fmt.Errorf("the shards are %s", strings.Join(names, ", "))
	}
	return nil
}

// drain turns the balancer on and empties a shard. meanwhile does what the balancer leaves to people.
func (w *world) drain(d *dashboard, shard string, meanwhile func()) {
	w.Helper()
	w.admin(bson.D{{Key: "balancerStart", Value: 1}})
	d.eventually(patience, "the balancer is known to be on", func(ctx context.Context) error {
		var c struct{ Balancer struct{ Mode string } }
		if err := d.get(ctx, "/api/v1/cluster", &c); err != nil {
			return err
		}
		if c.Balancer.Mode != "full" {
			return fmt.Errorf("it is %q", c.Balancer.Mode)
		}
		return nil
	})
	id := d.begin(d.plan("drain-shard", args{"shard": shard}))
	meanwhile()
	r := d.wait(id, drainPatience)
	must.That(w, r.State == "succeeded", "%s", r)
}

// drainAndRemove empties a shard by the balancer and removes it.
func drainAndRemove(w *world, d *dashboard) {
	const gone = "shard-rs-3"
	d = w.as(d)
	if w.primary() == gone {
		d.change("move-primary", args{"db": wholeData, "to": "shard-rs-1"})
	}
	tracked := !w.before(8, 0) // a collection that no balancer moves
	if tracked {
		d.change("move-collection", args{"ns": wholeName, "to": gone})
	}
	w.drain(d, gone, func() {
		if tracked {
			d.change("move-collection", args{"ns": wholeName, "to": "shard-rs-1"})
		}
	})
	for _, c := range w.chunks(wholeRows) {
		expect.That(w, c.Shard != gone, "the chunk at %s is still on %s", c.Min, gone)
	}
	d.change("remove-shard", args{"shard": gone})
	for _, s := range documents[shardEntry](w, "shards", bson.D{}) {
		expect.That(w, s.ID != gone, "%s is still in the cluster", gone)
	}
	w.admin(bson.D{{Key: "balancerStop", Value: 1}})
	w.expectDocuments()
}

// endedEarly ends work that takes minutes by itself: a resharding, and the draining of a shard.
func endedEarly(w *world) {
	w.makeWhole()
	w.must(w.data.Database(wholeData).RunCommand(w.Context(), bson.D{{Key: "createIndexes", Value: "rows"}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "key", Value: bson.D{{Key: "q", Value: 1}}}, {Key: "name", Value: "q_1"}}}}}).Err())
	d := w.serve()
	for _, e := range []struct{ kind, key string }{{"reshard-abort", "p"}, {"reshard-commit", "q"}} {
		w.point(e.kind, func(w *world) { endResharding(w, w.as(d), e.kind, e.key) })
	}
	w.point("stop draining", func(w *world) { stopDraining(w, w.as(d)) })
}

// endResharding ends a resharding that somebody else began, and looks at the key that is left.
func endResharding(w *world, d *dashboard, kind, key string) {
	w.since(5, 0)
	ended := make(chan error, 1)
	go func() {
		ended <- w.data.Database("admin").RunCommand(w.Context(), bson.D{{Key: "reshardCollection", Value: wholeRows},
			{Key: "key", Value: bson.D{{Key: "q", Value: 1}}}}).Err()
	}()
	d.eventually(patience, "the resharding is known", func(context.Context) error {
		select {
		case err := <-ended:
			w.Fatalf("the resharding ended by itself: %v", err)
		default:
		}
		return d.canPlan(kind, args{"ns": wholeRows})
	})
	d.change(kind, args{"ns": wholeRows})
	w.expectKey(key)
	w.expectDocuments()
	err := <-ended
	expect.Equal(w, err == nil, kind == "reshard-commit", "after %s the resharding ends with %v", kind, err)
}

// stopDraining stops what somebody else began, takes that back, and stops it again.
func stopDraining(w *world, d *dashboard) {
	const shard = "shard-rs-3"
	w.since(8, 3)
	w.admin(bson.D{{Key: "balancerStop", Value: 1}})
	w.admin(bson.D{{Key: "removeShard", Value: shard}})
	draining := func() bool {
		return documents[shardEntry](w, "shards", bson.D{{Key: "_id", Value: shard}})[0].Draining
	}
	d.eventually(patience, "the draining is known", func(context.Context) error {
		return d.canPlan("stop-draining", args{"shard": shard})
	})
	r := d.change("stop-draining", args{"shard": shard})
	expect.That(w, !draining(), "%s is still draining", shard)
	d.succeed(d.undo(r.ID))
	expect.That(w, draining(), "after the undo %s is not draining", shard)
	d.change("stop-draining", args{"shard": shard})
	expect.That(w, !draining(), "%s is still draining after the second time", shard)
}

// canPlan is why a change cannot be planned now, or nil.
func (d *dashboard) canPlan(kind string, a args) error {
	p, err := d.tryPlan(kind, a)
	if err != nil || p.Blocked {
		return errors.Join(errors.New("the plan is not possible: "+p.blockers()), err)
	}
	return nil
}
