package heat

import (
	"cmp"
	"slices"
	"time"
	"unique"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Count is the number of rows of one Yorkie document in a slot, or of all documents of a project
// that are not listed separately (Document zero).
type Count struct {
	Project  bson.ObjectID
	Document bson.ObjectID
	Rows     int64
}

// Piece is the number of rows in a chunk as it was when they were counted.
type Piece struct {
	In   unique.Handle[Chunk] // one for all slots of a day
	Rows int64
}

// Chunk is a chunk as it was when rows of it were counted.
type Chunk struct {
	Min   shardkey.Key
	Max   shardkey.Key // the zero key where only the lower bound is known
	Shard string       // its owner then; "" where that is not known
}

// Slot is what was counted of one collection in [From, To). By ChangedRows a slot is a whole
// minute, has counts by project for the hottest ones only, and is capped: projects it does not name
// are unknown.
type Slot struct {
	NS       topology.Namespace
	Method   Method
	From, To time.Time
	// Every is 1 when the whole time was counted, n when one part in n was. Rows are those counted,
	// not extrapolated.
	Every  int64
	Capped bool                 // some rows were not counted, for example because there were more groups than may be read
	Counts []Count              // busiest first
	Pieces []Piece              // in key order; only rows whose chunk is known
	Life   topology.Incarnation // the collection's incarnation; pieces of another one have other keys
	Astray int64                // rows whose chunk is unknown
	Stored placement.StoredIDs  // of projects and Yorkie documents in Counts
}

// Seconds is the slot's length.
func (s Slot) Seconds() float64 { return s.To.Sub(s.From).Seconds() }

// Rows is the number of rows counted.
func (s Slot) Rows() (n int64) {
	for _, c := range s.Counts {
		n += c.Rows
	}
	return n
}

// byRows orders counts for display: busiest first, then by id, so that equal ones keep their place.
func byRows(a, b Count) int {
	return cmp.Or(cmp.Compare(b.Rows, a.Rows), slices.Compare(a.Document[:], b.Document[:]), slices.Compare(a.Project[:], b.Project[:]))
}

// keepDocuments is how many documents an old slot lists; the others are added to a line of their
// project.
const keepDocuments = 100

// mergeSlots merges consecutive slots; only the busiest documents keep their own line.
func mergeSlots(slots []Slot) Slot {
	out := Slot{
		NS:     slots[0].NS,
		Method: slots[len(slots)-1].Method,
		Life:   slots[len(slots)-1].Life,
		From:   slots[0].From,
		To:     slots[len(slots)-1].To,
		Every:  1,
	}
	type id struct{ project, document bson.ObjectID }
	counts := map[id]int64{}
	pieces := map[unique.Handle[Chunk]]int64{}
	for _, s := range slots {
		out.Every = max(out.Every, s.Every)
		out.Capped = out.Capped || s.Capped
		out.Astray += s.Astray
	}
	for _, s := range slots {
		// Counts of slots with the same sampling are added. A fully counted slot beside sampled
		// ones is scaled down to match.
		for _, c := range s.Counts {
			counts[id{c.Project, c.Document}] += scaleDown(c.Rows, s.Every, out.Every)
		}
		for _, p := range s.Pieces {
			if s.Life != out.Life {
				out.Astray += scaleDown(p.Rows, s.Every, out.Every)
				continue
			}
			pieces[p.In] += scaleDown(p.Rows, s.Every, out.Every)
		}
	}
	// What is kept for a day has no room to grow.
	out.Counts = make([]Count, 0, len(counts))
	for k, rows := range counts {
		out.Counts = append(out.Counts, Count{k.project, k.document, rows})
	}
	slices.SortFunc(out.Counts, byRows)
	out.Counts = foldRest(out.Counts)
	for _, s := range slots {
		if len(s.Stored) == 0 {
			continue
		}
		for _, c := range out.Counts {
			out.Stored = out.Stored.With(c.Project, s.Stored[c.Project]).With(c.Document, s.Stored[c.Document])
		}
	}
	out.Pieces = make([]Piece, 0, len(pieces))
	for in, rows := range pieces {
		out.Pieces = append(out.Pieces, Piece{in, rows})
	}
	slices.SortFunc(out.Pieces, func(x, y Piece) int {
		a, b := x.In.Value(), y.In.Value()
		return cmp.Or(a.Min.Compare(b.Min), a.Max.Compare(b.Max), natural.Compare(a.Shard, b.Shard))
	})
	return out
}

// scaleDown rounds up, so that rows do not vanish.
func scaleDown(rows, every, as int64) int64 {
	if every >= as {
		return rows
	}
	return (rows*every + as - 1) / as
}

func foldRest(counts []Count) []Count {
	if len(counts) <= keepDocuments {
		return counts
	}
	rest := map[bson.ObjectID]int64{}
	for _, c := range counts[keepDocuments:] {
		rest[c.Project] += c.Rows
	}
	out := append(make([]Count, 0, keepDocuments+len(rest)), counts[:keepDocuments]...)
	for p, rows := range rest {
		out = append(out, Count{Project: p, Rows: rows})
	}
	slices.SortFunc(out, byRows)
	return out
}
