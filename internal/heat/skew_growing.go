package heat

import (
	"shardboard/internal/topology"
)

const (
	// A key counts as growing if its last chunk takes at least growingShare of the writes, judged
	// by at least growingRows rows.
	growingShare = 0.9
	growingRows  = 50
)

// Growing is the evidence that inserts always go to the end of the key space, so that splits and
// moves do not help for long.
type Growing struct {
	Is    bool
	Field string  // first field of the key
	Share float64 // share of the writes in the last chunk
	Rows  int64   // rows counted
	Slots int     // slots with writes
	Of    int     // slots with nine in ten writes in the last chunk
	Shard string  // owner of the last chunk
}

// Growing examines where a window's writes went, in the current table. A hashed first field does
// not grow, and changed rows are not inserts.
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
		for _, p := range s.chunkRows(c) {
			here += p.Rows
			if ch := p.In.Value(); chunkOf(c, ch.Min) == last || ch.Max == c.Key.Max() {
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
