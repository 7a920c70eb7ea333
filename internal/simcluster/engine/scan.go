package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
)

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
