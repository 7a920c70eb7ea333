package heat

import (
	"shardboard/internal/topology"
)

const (
	// growingShare is which part of the writes the last chunk has to take for a
	// key to be called growing, and growingRows how many rows have to be seen.
	growingShare = 0.9
	growingRows  = 50
)

// Growing is the evidence that inserts always go to the end of the key space:
// no cut and no move helps against that for long.
type Growing struct {
	Is    bool
	Field string  // first of the key
	Share float64 // of the writes that went to the last chunk
	Rows  int64   // counted
	Slots int     // that had writes
	Of    int     // of those, how many had nine in ten in the last chunk
	Shard string  // that owns the last chunk
}

// Growing looks at where a window's writes went, by a table of now. A hashed
// first field does not grow, and changed rows are no inserts.
func (w Window) Growing(t *topology.Table) Growing {
	c := t.Collection(w.NS)
	if w.Method == ChangedRows || c == nil || c.Chunks.Len() < 2 || c.Key.Fields()[0].Hashed {
		return Growing{}
	}
	last := c.Chunks.Len() - 1
	g := Growing{Field: c.Key.Fields()[0].Name, Shard: c.Chunks.Owner(last)}
	var all, inLast float64
	for _, s := range w.slots {
		var here, end int64
		for _, p := range s.pieces(c) {
			here += p.Rows
			if chunkOf(c, p.Min) == last {
				end += p.Rows
			}
		}
		if here == 0 {
			continue
		}
		g.Rows += here
		all += float64(here * s.Every)
		inLast += float64(end * s.Every)
		if g.Slots++; float64(end) >= growingShare*float64(here) {
			g.Of++
		}
	}
	if all > 0 {
		g.Share = inLast / all
	}
	g.Is = g.Rows >= growingRows && g.Share >= growingShare && float64(g.Of) >= growingShare*float64(g.Slots)
	return g
}
