package heat

import (
	"maps"
	"slices"

	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// In is the rate of a range of keys in the current table: of rows that are surely in it.
func (w Window) In(t *topology.Table, prof *profile.Profile, r shardkey.Range) Rate {
	return w.Within(t, prof, r).Range()
}

// Halves are the writes per second of the two parts of a range that a split between two written keys makes most equal;
// not ok where the counts have no whole shard keys. A range with one written key has one part without writes.
func (w Window) Halves(t *topology.Table, prof *profile.Profile, r shardkey.Range) (lower, upper float64, ok bool) {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	if c == nil || of.ns == "" || w.Seconds == 0 || !w.hasWholeKeys(c, of) {
		return 0, 0, false
	}
	keys := map[Count]shardkey.Key{} // by writer, with zero rows
	sums := map[shardkey.Key]float64{}
	all := 0.0
	for _, s := range w.slots {
		for _, n := range s.Counts {
			who := Count{Project: n.Project, Document: n.Document}
			k, seen := keys[who]
			if !seen {
				if whole, ok := s.wholeKey(c, of, n); ok && r.Contains(whole) {
					k = whole
				}
				keys[who] = k
			}
			if !k.IsZero() {
				sums[k] += float64(n.Rows * s.Every)
				all += float64(n.Rows * s.Every)
			}
		}
	}
	below, best := 0.0, 0.0
	for _, k := range slices.SortedFunc(maps.Keys(sums), func(a, b shardkey.Key) int { return a.Compare(b) }) {
		if below += sums[k]; min(below, all-below) > min(best, all-best) {
			best = below
		}
	}
	return best / w.Seconds, (all - best) / w.Seconds, true
}

// Of is the rate of one project, Yorkie document, shard or chunk, which are looked for in this order; Chunk counts
// where no other is named.
func (w Window) Of(t *topology.Table, prof *profile.Profile, l Line) Rate {
	c, of := t.Collection(w.NS), targetOf(t, prof, w.NS)
	if c == nil || of.ns == "" {
		return Rate{}
	}
	var sum tally
	for _, s := range w.slots {
		switch {
		case !l.Project.IsZero() || !l.Document.IsZero():
			for _, n := range s.Counts {
				if (l.Project.IsZero() || n.Project == l.Project) && (l.Document.IsZero() || n.Document == l.Document) {
					sum.add(s, n.Rows)
				}
			}
		case l.Shard != "":
			sum.addPlaced(s, s.onShards(c, of)[l.Shard])
		default:
			placed, _ := s.inChunks(c, of)
			sum.addPlaced(s, placed[l.Chunk])
		}
	}
	return sum.rate(w.Seconds, w.estimate())
}
