package engine

import (
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
)

// Cursor iterates lazily over a query's result. Writes between calls of Next are
// allowed: it continues after the last document that it read. The caller holds the lock
// while calling Next; an update that moves a document forward in the scanned index can
// make it appear again, so collect before writing.
type Cursor struct {
	coll   *Coll
	filter *query.Filter
	owned  func(bson.Raw) bool
	plan   Plan
	source source
	order  *query.Sort // sort in memory, nil if not needed

	skip, limit int64
	buf         []*record
	next        int
	batch       int
	writes      uint64
	seen        map[RecordID]struct{} // multikey: records met already
	sorted      []*record
	sortedDone  bool
	current     *record
	err         error
}

// Next moves to the next document.
func (c *Cursor) Next() bool {
	if c.err != nil || c.limit > 0 && c.plan.Returned >= c.limit {
		return false
	}
	for {
		r := c.advance()
		if r == nil {
			return false
		}
		if c.skip > 0 {
			c.skip--
			continue
		}
		c.plan.Returned++
		c.current = r
		return true
	}
}

func (c *Cursor) advance() *record {
	if c.order == nil {
		return c.scan()
	}
	if !c.sortedDone {
		c.sort()
	}
	if len(c.sorted) == 0 {
		return nil
	}
	r := c.sorted[0]
	c.sorted[0] = nil
	c.sorted = c.sorted[1:]
	return r
}

// scan gives the next matching record of the source.
func (c *Cursor) scan() *record {
	for {
		r := c.candidate()
		if r == nil {
			return nil
		}
		c.plan.DocsExamined++
		c.coll.examined.Docs.Add(1)
		ok, err := c.filter.Match(r.doc)
		if err != nil {
			c.err = err
			return nil
		}
		if ok && (c.owned == nil || c.owned(r.doc)) {
			return r
		}
	}
}

// Cursors read ahead in growing batches: cheap for a limit of 1, few seeks for long
// scans.
const (
	firstBatch = 4
	lastBatch  = 256
)

func (c *Cursor) candidate() *record {
	for {
		if c.writes != c.coll.writes {
			c.buf, c.next, c.writes = c.buf[:0], 0, c.coll.writes
		}
		if c.next == len(c.buf) {
			if c.coll.dropped || !c.source.alive() {
				c.err = status.Errorf(status.QueryPlanKilled, "collection dropped. UUID %s", uuidText(c.coll.UUID))
				return nil
			}
			c.batch = min(max(2*c.batch, firstBatch), lastBatch)
			c.buf, c.next = c.source.fill(c.buf[:0], c.batch), 0
			if len(c.buf) == 0 {
				return nil
			}
		}
		r := c.buf[c.next]
		c.source.taken(c.next)
		c.next++
		if c.plan.Index == "" {
			return r
		}
		c.plan.KeysExamined++
		c.coll.examined.Keys.Add(1)
		if !c.plan.Multikey {
			return r
		}
		if _, again := c.seen[r.id]; again {
			continue
		}
		if c.seen == nil {
			c.seen = map[RecordID]struct{}{}
		}
		c.seen[r.id] = struct{}{}
		return r
	}
}

// sort reads all documents and keeps only skip+limit of them if there is a limit.
func (c *Cursor) sort() {
	type keyed struct {
		rec *record
		key []bson.RawValue
	}
	c.sortedDone = true
	keep := 0
	if c.limit > 0 && c.skip+c.limit < 1<<30 {
		keep = int(c.skip + c.limit)
	}
	var all []keyed
	arrange := func() {
		slices.SortStableFunc(all, func(a, b keyed) int { return c.order.CompareKeys(a.key, b.key) })
		if keep > 0 && len(all) > keep {
			all = all[:keep]
		}
	}
	for r := c.scan(); r != nil; r = c.scan() {
		all = append(all, keyed{r, c.order.Key(r.doc)})
		if keep > 0 && len(all) >= 2*keep+1024 {
			arrange()
		}
	}
	arrange()
	for _, k := range all {
		c.sorted = append(c.sorted, k.rec)
	}
}

// Doc is the current document; its bytes never change.
func (c *Cursor) Doc() bson.Raw { return c.current.doc }

// ID is the current record.
func (c *Cursor) ID() RecordID { return c.current.id }

// Err is why Next returned false, nil at the end.
func (c *Cursor) Err() error { return c.err }

// Plan is the plan with the counters so far.
func (c *Cursor) Plan() Plan { return c.plan }

// All iterates over the remaining documents; an error comes last.
func (c *Cursor) All() iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for c.Next() {
			if !yield(c.Doc(), nil) {
				return
			}
		}
		if c.err != nil {
			yield(nil, c.err)
		}
	}
}

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
			ch.ranges = append(ch.ranges, keyRange{bound(len(fields), prefix, before), bound(len(fields), prefix, after)})
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
				bound(len(fields), append(slices.Clip(prefix), low), side(!lowIn)),
				bound(len(fields), append(slices.Clip(prefix), high), side(highIn)),
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

// source returns candidate records in some order and can continue after the collection
// has changed.
type source interface {
	// fill appends up to n records that follow those already taken.
	fill(buf []*record, n int) []*record
	// taken records that the first record of the buffer was returned.
	taken(i int)
	// alive reports whether the source can still be read.
	alive() bool
}

// tableScan reads in insertion order.
type tableScan struct {
	coll     *Coll
	backward bool
	last     RecordID
	buffered []RecordID
}

func (s *tableScan) alive() bool { return !s.coll.dropped }

func (s *tableScan) taken(i int) { s.last = s.buffered[i] }

func (s *tableScan) fill(buf []*record, n int) []*record {
	s.buffered = s.buffered[:0]
	take := func(r *record) bool {
		if r.id == s.last {
			return true
		}
		buf = append(buf, r)
		s.buffered = append(s.buffered, r.id)
		return len(s.buffered) < n
	}
	switch {
	case !s.backward:
		s.coll.records.AscendGreaterOrEqual(&record{id: s.last}, take)
	case s.last == 0:
		s.coll.records.Descend(take)
	default:
		s.coll.records.DescendLessOrEqual(&record{id: s.last}, take)
	}
	return buf
}

// indexScan reads the ranges of an index.
type indexScan struct {
	choice   choice
	at       int // range of the last record taken
	last     entry
	buffered []scanned
}

type scanned struct {
	entry entry
	at    int
}

func newIndexScan(ch choice) *indexScan {
	if ch.backward {
		slices.Reverse(ch.ranges)
	}
	return &indexScan{choice: ch}
}

func (s *indexScan) alive() bool { return !s.choice.index.dropped }

func (s *indexScan) taken(i int) { s.last, s.at = s.buffered[i].entry, s.buffered[i].at }

func (s *indexScan) fill(buf []*record, n int) []*record {
	s.buffered = s.buffered[:0]
	x := s.choice.index
	for at := s.at; at < len(s.choice.ranges) && len(s.buffered) < n; at++ {
		r := s.choice.ranges[at]
		resumed := at == s.at && s.last.rec != nil
		take := func(e entry) bool {
			if resumed && !x.less(e, s.last) && !x.less(s.last, e) {
				return true // the last returned record
			}
			buf = append(buf, e.rec)
			s.buffered = append(s.buffered, scanned{e, at})
			return len(s.buffered) < n
		}
		from := func(start entry) entry {
			if resumed {
				return s.last
			}
			return start
		}
		if s.choice.backward {
			x.tree.DescendLessOrEqual(from(r.high), func(e entry) bool { return x.less(r.low, e) && take(e) })
		} else {
			x.tree.AscendGreaterOrEqual(from(r.low), func(e entry) bool { return x.less(e, r.high) && take(e) })
		}
	}
	return buf
}
