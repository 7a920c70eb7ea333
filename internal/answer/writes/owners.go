package writes

import (
	"time"

	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ownerMoves are the moves of a collection's chunks after a time, newest first.
func ownerMoves(events []topology.Event, c *topology.Collection, after time.Time) (out []logbook.RangeChange) {
	for _, e := range events { // newest first
		if !e.Time.After(after) {
			break
		}
		if x, ok := logbook.ReadRangeChange(c, e); ok && x.What == "moved" {
			out = append(out, x)
		}
	}
	return out
}

// addOwners adds the earlier owners to rows that one shard owns now. Of a row of which only a part moved,
// and of one whose moves do not follow each other, the owners before that are not known.
func addOwners(events []topology.Event, c *topology.Collection, p keyvis.View, rows []api.HeatRow, at []int, from time.Time) {
	moves := ownerMoves(events, c, from)
	if len(moves) == 0 {
		return
	}
	for i := range rows {
		if rows[i].Mixed || rows[i].Shard == "" {
			continue
		}
		rows[i].Was = earlierOwners(moves, rowRange(c, p, at[i]), rows[i].Shard)
	}
}

// earlierOwners goes through moves, newest first, from the present owner of a range.
func earlierOwners(moves []logbook.RangeChange, row shardkey.Range, owner string) (out []api.HeatOwner) {
	for _, m := range moves {
		if m.Span.Max.Compare(row.Min) <= 0 || row.Max.Compare(m.Span.Min) <= 0 {
			continue
		}
		whole := m.Span.Min.Compare(row.Min) <= 0 && row.Max.Compare(m.Span.Max) <= 0
		if !whole || m.To != owner {
			return append(out, api.HeatOwner{Until: m.At})
		}
		out = append(out, api.HeatOwner{Until: m.At, Shard: m.From})
		owner = m.From
	}
	return out
}

// rowRange is the range of keys of a row of a picture by key.
func rowRange(c *topology.Collection, p keyvis.View, i int) shardkey.Range {
	r := shardkey.Range{Min: p.Bounds[i], Max: c.Key.Max()}
	if i+1 < len(p.Bounds) {
		r.Max = p.Bounds[i+1]
	}
	return r
}

// ChunkNumbers names chunks by their position: "chunk 3", "chunks 3–7".
func ChunkNumbers(first, n int) string {
	if n <= 1 {
		return "chunk " + format.Count(int64(first))
	}
	return "chunks " + format.Count(int64(first)) + "–" + format.Count(int64(first+n-1))
}
