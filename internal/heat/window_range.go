package heat

import (
	"unique"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Within returns the part of the window in a range of keys of the current table: documents whose
// position is known. Shares stay relative to the whole window.
func (w Window) Within(t *topology.Table, prof *profile.Profile, r shardkey.Range) Window {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	out := w
	out.slots = nil
	if c == nil || of.ns == "" {
		return out
	}
	type id struct{ project, document bson.ObjectID }
	known := map[id]bool{}
	for _, s := range w.slots {
		part := s
		part.Counts, part.Pieces, part.Astray = nil, nil, 0
		for _, n := range s.Counts {
			k := id{n.Project, n.Document}
			in, seen := known[k]
			if !seen {
				rows, ok := s.keyRange(c, of, n)
				in = ok && r.Min.Compare(rows.Min) <= 0 && rows.Max.Compare(r.Max) <= 0
				known[k] = in
			}
			if in {
				part.Counts = append(part.Counts, n)
			}
		}
		for _, p := range s.chunkRows(c) {
			ch := p.In.Value()
			switch {
			case ch.within(r):
				part.Pieces = append(part.Pieces, p)
			case !ch.overlaps(r):
			default: // a larger chunk of before a split: what was counted in the range by key
				ch.Min, ch.Max = shardkey.Later(ch.Min, r.Min), shardkey.Earlier(ch.Max, r.Max)
				rows := s.rowsIn(c, of, shardkey.Range{Min: ch.Min, Max: ch.Max})
				part.Pieces = append(part.Pieces, Piece{unique.Make(ch), rows})
			}
		}
		out.slots = append(out.slots, part)
	}
	return out
}

// Range is the rate of a part: what was counted in chunks that begin in it.
func (w Window) Range() Rate {
	sum := tally{}
	for _, s := range w.slots {
		rows := int64(0)
		for _, p := range s.Pieces {
			rows += p.Rows
		}
		sum.add(s, rows)
	}
	return sum.rate(w.Seconds, w.estimate())
}
