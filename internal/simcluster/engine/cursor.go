package engine

import (
	"context"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
)

// Cursor is the result of a query. Nothing may change the collection while All runs: collect before writing.
type Cursor struct {
	ctx      context.Context
	coll     *Coll
	query    Query
	choice   choice
	order    *query.Sort // sort in memory, nil if not needed
	backward bool        // a scan of the collection from its end
	plan     Plan
	err      error
}

// All iterates over the documents, whose bytes never change; Err says why it ended early.
func (c *Cursor) All() iter.Seq2[RecordID, bson.Raw] {
	return func(yield func(RecordID, bson.Raw) bool) {
		skip := c.query.Skip
		c.ordered(func(r *record) bool {
			if skip > 0 {
				skip--
				return true
			}
			c.plan.Returned++
			return yield(r.id, r.doc) && c.plan.Returned != c.query.Limit
		})
	}
}

// ordered visits the matching records in the order of the query until visit returns false. To sort, it reads all of
// them and keeps only skip+limit if there is a limit.
func (c *Cursor) ordered(visit func(*record) bool) {
	if c.order == nil {
		c.matching(visit)
		return
	}
	keep := 0
	if q := c.query; q.Limit > 0 && q.Skip+q.Limit < 1<<30 {
		keep = int(q.Skip + q.Limit)
	}
	var all []*record
	arrange := func() {
		query.Arrange(c.order, all, func(r *record) bson.Raw { return r.doc })
		if keep > 0 && len(all) > keep {
			all = all[:keep]
		}
	}
	c.matching(func(r *record) bool {
		all = append(all, r)
		if keep > 0 && len(all) >= 2*keep+1024 {
			arrange()
		}
		return true
	})
	arrange()
	for _, r := range all {
		if c.err != nil || !visit(r) {
			return
		}
	}
}

// matching visits the records that match, as the scan finds them.
func (c *Cursor) matching(visit func(*record) bool) {
	if c.err != nil {
		return
	}
	c.scan(func(r *record) bool {
		c.plan.DocsExamined++
		c.coll.examined.Docs.Add(1)
		if c.plan.DocsExamined%256 == 0 {
			if c.err = Over(c.ctx); c.err != nil {
				return false
			}
		}
		ok, err := c.query.Filter.Match(r.doc)
		if err != nil {
			c.err = err
			return false
		}
		return !ok || c.query.Owned != nil && !c.query.Owned(r.doc) || visit(r)
	})
}

// scan visits the records of the collection in the order of insertion, or those of the ranges of an index, each once.
func (c *Cursor) scan(visit func(*record) bool) {
	x, more := c.choice.index, true
	if x == nil && c.backward {
		c.coll.records.Descend(visit)
		return
	}
	if x == nil {
		c.coll.records.Ascend(visit)
		return
	}
	seen := map[RecordID]bool{} // an index of arrays has a record several times
	take := func(e entry) bool {
		c.plan.KeysExamined++
		c.coll.examined.Keys.Add(1)
		if c.plan.Multikey {
			if seen[e.rec.id] {
				return true
			}
			seen[e.rec.id] = true
		}
		more = visit(e.rec)
		return more
	}
	ranges := c.choice.ranges
	if c.choice.backward {
		slices.Reverse(ranges)
	}
	for _, r := range ranges {
		if !more {
			return
		}
		if c.choice.backward {
			x.tree.DescendLessOrEqual(r.high, func(e entry) bool { return x.less(r.low, e) && take(e) })
		} else {
			x.tree.AscendGreaterOrEqual(r.low, func(e entry) bool { return x.less(e, r.high) && take(e) })
		}
	}
}

// Err is why All ended before the last document, nil if it did not.
func (c *Cursor) Err() error { return c.err }

// Plan is the plan with the counters so far.
func (c *Cursor) Plan() Plan { return c.plan }

// keyRange is a range of an index between two bounds, which are not entries themselves.
type keyRange struct{ low, high entry }

// makeRanges combines the bounds of the fields into ranges of the index, in index
// order.
func (ch *choice) makeRanges() {
	fields := ch.index.fields
	var prefix []bson.RawValue
	var build func(i int)
	build = func(i int) {
		if i == len(ch.bounds) {
			ch.ranges = append(ch.ranges, keyRange{bound(prefix, before), bound(prefix, after)})
			return
		}
		for _, in := range ch.bounds[i] {
			if i < len(ch.bounds)-1 { // all but the last field have points
				prefix = append(prefix, in.Low)
				build(i + 1)
				prefix = prefix[:i]
				continue
			}
			low, high, lowIn, highIn := in.Low, in.High, in.LowInclusive, in.HighInclusive
			if fields[i].descending {
				low, high, lowIn, highIn = high, low, highIn, lowIn
			}
			ch.ranges = append(ch.ranges, keyRange{
				bound(append(slices.Clip(prefix), low), side(!lowIn)),
				bound(append(slices.Clip(prefix), high), side(highIn)),
			})
		}
	}
	build(0)
}

// side places a bound after or before the entries that begin with its values.
func side(behind bool) RecordID {
	if behind {
		return after
	}
	return before
}

// describe is the plan without counters.
func (ch *choice) describe() Plan {
	if ch.index == nil {
		return Plan{Stage: "COLLSCAN"}
	}
	p := Plan{Stage: "IXSCAN", Index: ch.index.name, KeyPattern: ch.index.key, Spec: ch.index.spec,
		Multikey: ch.index.multi != 0, Backward: ch.backward}
	if ch.idhack {
		p.Stage = "IDHACK"
	}
	for i, f := range ch.index.fields {
		fb := FieldBounds{Field: f.name, Intervals: (*query.Filter)(nil).Bounds(f.name)}
		if i < len(ch.bounds) {
			fb.Intervals = ch.bounds[i]
		}
		p.Bounds = append(p.Bounds, fb)
	}
	return p
}

// Over is the error of a context that has ended, or whose time is up although nothing has said so yet: on a busy
// processor a timer can be late by more than a short limit.
func Over(ctx context.Context) error {
	if end, limited := ctx.Deadline(); limited && ctx.Err() == nil && !time.Now().Before(end) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}
