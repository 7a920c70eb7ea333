package heat

import (
	"cmp"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Count is rows of one Yorkie document that were counted. Document is zero where the
// collection has no documents, and for those of a project without a line of their own.
type Count struct {
	Project  bson.ObjectID
	Document bson.ObjectID
	Rows     int64
}

// Piece is rows counted in the chunk that began at a bound.
type Piece struct {
	Min  shardkey.Key
	Rows int64
}

// Slot is what was counted of one collection in [From, To). By ChangedRows a slot
// is a whole minute, has counts by project only and those of the hottest ones; it
// is capped, and what it does not name is not known.
type Slot struct {
	NS       topology.Namespace
	Method   Method
	From, To time.Time
	// Every is 1 when the whole time was counted, n when one part in n was: rows
	// are those counted, not yet multiplied.
	Every  int64
	Capped bool                 // there may be more than was counted, as when there were more groups than may be read
	Counts []Count              // busiest first
	Pieces []Piece              // in key order; rows whose chunk can be told
	Life   topology.Incarnation // of the collection; pieces of another life have other keys
	Astray int64                // rows whose chunk cannot be told
}

// Seconds is how long the slot is.
func (s Slot) Seconds() float64 { return s.To.Sub(s.From).Seconds() }

// Rows is all rows counted.
func (s Slot) Rows() (n int64) {
	for _, c := range s.Counts {
		n += c.Rows
	}
	return n
}

// byRows orders counts for people: busiest first, then by id, so that equal
// ones stay in place.
func byRows(a, b Count) int {
	return cmp.Or(cmp.Compare(b.Rows, a.Rows), slices.Compare(a.Document[:], b.Document[:]), slices.Compare(a.Project[:], b.Project[:]))
}

// keepDocuments is how many documents an old slot still names; the others are
// folded into a line of their project.
const keepDocuments = 300

// joined makes one slot of several that follow each other; only the busiest
// documents keep a line of their own.
func joined(slots []Slot) Slot {
	out := Slot{NS: slots[0].NS, Method: slots[len(slots)-1].Method, Life: slots[len(slots)-1].Life, From: slots[0].From, To: slots[len(slots)-1].To, Every: 1}
	type id struct{ project, document bson.ObjectID }
	counts := map[id]int64{}
	pieces := map[shardkey.Key]int64{}
	for _, s := range slots {
		out.Every = max(out.Every, s.Every)
		out.Capped = out.Capped || s.Capped
		out.Astray += s.Astray
	}
	for _, s := range slots {
		// Slots of one kind keep their counts; a whole one beside sampled ones is
		// thinned to be like them.
		for _, c := range s.Counts {
			counts[id{c.Project, c.Document}] += thinned(c.Rows, s.Every, out.Every)
		}
		for _, p := range s.Pieces {
			if s.Life != out.Life {
				out.Astray += thinned(p.Rows, s.Every, out.Every)
				continue
			}
			pieces[p.Min] += thinned(p.Rows, s.Every, out.Every)
		}
	}
	for k, rows := range counts {
		out.Counts = append(out.Counts, Count{k.project, k.document, rows})
	}
	slices.SortFunc(out.Counts, byRows)
	out.Counts = folded(out.Counts)
	for min, rows := range pieces {
		out.Pieces = append(out.Pieces, Piece{min, rows})
	}
	slices.SortFunc(out.Pieces, func(a, b Piece) int { return a.Min.Compare(b.Min) })
	return out
}

// thinned rounds up: what was there does not vanish.
func thinned(rows, every, as int64) int64 {
	if every >= as {
		return rows
	}
	return (rows*every + as - 1) / as
}

func folded(counts []Count) []Count {
	if len(counts) <= keepDocuments {
		return counts
	}
	rest := map[bson.ObjectID]int64{}
	for _, c := range counts[keepDocuments:] {
		rest[c.Project] += c.Rows
	}
	out := slices.Clone(counts[:keepDocuments])
	for p, rows := range rest {
		out = append(out, Count{Project: p, Rows: rows})
	}
	slices.SortFunc(out, byRows)
	return out
}
