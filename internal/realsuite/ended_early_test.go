package realsuite_test

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
	if err := <-ended; (err == nil) != (kind == "reshard-commit") {
		w.Errorf("after %s the resharding ends with %v", kind, err)
	}
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
	if draining() {
		w.Errorf("%s is still draining", shard)
	}
	d.succeed(d.undo(r.ID))
	if !draining() {
		w.Errorf("after the undo %s is not draining", shard)
	}
	d.change("stop-draining", args{"shard": shard})
	if draining() {
		w.Errorf("%s is still draining after the second time", shard)
	}
}

// canPlan is why a change cannot be planned now, or nil.
func (d *dashboard) canPlan(kind string, a args) error {
	p, err := d.tryPlan(kind, a)
	if err != nil || p.Blocked {
		return errors.Join(errors.New("the plan is not possible: "+p.blockers()), err)
	}
	return nil
}
