package heat

import (
	"math"
	"slices"
	"unique"

	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// placedRows are rows of a slot in one chunk of the current table: best, and at most loose more or fewer.
type placedRows struct{ best, loose float64 }

// inChunks places a slot's rows in the chunks of the current table, by their position. A piece whose chunk is whole
// there, or was merged into another one, is placed exactly. A piece whose chunk was split is divided by the keys of
// its rows: the counts of a slot are by Yorkie document, and those name the key. Rows of documents that an older
// slot does not list may be in any of the parts, which makes the interval of each. Where no key is known, nothing
// is placed, and without names the chunks that these rows may be in.
func (s Slot) inChunks(c *topology.Collection, of target) (placed map[int]placedRows, without []int) {
	placed = map[int]placedRows{}
	for _, p := range s.chunkRows(c) {
		from, to := p.In.Value().chunksNow(c)
		if to-from <= 1 {
			placed[from] = placed[from].plus(placedRows{best: float64(p.Rows)})
			continue
		}
		by, known, loose := s.dividePiece(c, of, p)
		if known == 0 && p.Rows > 0 {
			for i := from; i < to; i++ {
				without = append(without, i)
			}
			continue
		}
		for i := from; i < to; i++ {
			placed[i] = placed[i].plus(shareOut(p.Rows, known, by[i], loose))
		}
	}
	return placed, without
}

// Keys are how the rows of a collection name their shard keys.
type Keys struct{ of target }

// KeysOf are those of a collection; zero where its writes are not counted.
func KeysOf(t *topology.Table, p *profile.Profile, ns topology.Namespace) Keys {
	return Keys{targetOf(t, p, ns)}
}

// Divide gives a slot's rows to the chunks of a newer table of the collection, as inChunks places them. Rows that no
// key places stay with the lowest of the chunks that they may be in.
func (k Keys) Divide(s Slot, c *topology.Collection) (out []Piece) {
	for _, p := range s.chunkRows(c) {
		from, to := p.In.Value().chunksNow(c)
		by, known := map[int]int64{}, int64(0)
		if to-from > 1 && k.of.ns != "" {
			by, known, _ = s.dividePiece(c, k.of, p)
		}
		if known == 0 {
			out = append(out, p)
			continue
		}
		left := p.Rows
		for i := to - 1; i >= from; i-- {
			rows := min(int64(math.Round(shareOut(p.Rows, known, by[i], 0).best)), left)
			if i == from {
				rows = left
			}
			if left -= rows; rows > 0 {
				ch := c.Chunks.At(i)
				out = append(out, Piece{unique.Make(Chunk{ch.Min, ch.Max, p.In.Value().Shard}), rows})
			}
		}
	}
	return out
}

// onShards places a slot's rows on the shards that own them in the current table. Rows of which no key is known
// stay with the shard that took them.
func (s Slot) onShards(c *topology.Collection, of target) map[string]placedRows {
	placed := map[string]placedRows{}
	for _, p := range s.chunkRows(c) {
		from, to := p.In.Value().chunksNow(c)
		owners := map[string]int64{}
		for i := from; i < to; i++ {
			owners[c.Chunks.Owner(i)] = 0
		}
		known, loose := p.Rows, int64(0)
		if len(owners) == 1 {
			owners[c.Chunks.Owner(from)] = p.Rows
		} else {
			var by map[int]int64
			by, known, loose = s.dividePiece(c, of, p)
			for i, rows := range by {
				owners[c.Chunks.Owner(i)] += rows
			}
		}
		for shard, rows := range owners {
			part := shareOut(p.Rows, known, rows, loose)
			if known == 0 {
				part = placedRows{loose: float64(p.Rows)}
				if shard == p.In.Value().Shard {
					part.best = float64(p.Rows)
				}
			}
			placed[shard] = placed[shard].plus(part)
		}
	}
	return placed
}

func (a placedRows) plus(b placedRows) placedRows {
	return placedRows{best: a.best + b.best, loose: a.loose + b.loose}
}

// shareOut is the part of a piece's rows that a place has, to which so many of the known ones belong. More are
// known than the piece has where a slot of a minute has pieces of before and after a split; so many loose rows of the
// slot may then be the piece's instead of as many known ones.
func shareOut(rows, known, here, loose int64) placedRows {
	best := float64(rows) * float64(here) / float64(max(known, 1))
	least, most := max(here-max(known-rows+loose, 0), 0), min(here+max(rows-known, loose), rows)
	return placedRows{best: best, loose: max(best-float64(least), float64(most)-best)}
}

// dividePiece is how many rows of a piece belong to each chunk of the current table, of so many whose chunk is known.
// Those whose chunk is not known are loose where the slot has other pieces of the same range.
func (s Slot) dividePiece(c *topology.Collection, of target, p Piece) (by map[int]int64, known, loose int64) {
	by = map[int]int64{}
	if i, ok := growingChunk(c, s.From, s.To); ok {
		by[i] = p.Rows
		return by, p.Rows, 0
	}
	in := shardkey.Range{Min: p.In.Value().Min, Max: p.In.Value().Max}
	for _, n := range s.Counts {
		r, ok := s.keyRange(c, of, n)
		if !ok {
			loose += n.Rows
			continue
		}
		if !in.Contains(r.Min) {
			continue
		}
		if from, to := c.Chunks.Overlap(r); to-from == 1 {
			by[from] += n.Rows
			known += n.Rows
		} else {
			loose += n.Rows
		}
	}
	if loose > 0 && !slices.ContainsFunc(s.Pieces, func(other Piece) bool { return other != p && other.In.Value().overlaps(in) }) {
		loose = 0
	}
	return by, known, loose
}

// chunksNow are the chunks [from, to) of the current table that its rows can be in.
func (ch Chunk) chunksNow(c *topology.Collection) (from, to int) {
	if ch.Max.IsZero() {
		i := chunkOf(c, ch.Min)
		return i, i + 1
	}
	return c.Chunks.Overlap(shardkey.Range{Min: ch.Min, Max: ch.Max})
}

// overlaps tells whether a chunk and a range have keys in common.
func (ch Chunk) overlaps(r shardkey.Range) bool {
	if ch.Max.IsZero() {
		return r.Contains(ch.Min)
	}
	return r.Overlaps(shardkey.Range{Min: ch.Min, Max: ch.Max})
}

// within tells whether a chunk is in a range; one whose upper bound is not known is where it begins.
func (ch Chunk) within(r shardkey.Range) bool {
	if ch.Max.IsZero() {
		return r.Contains(ch.Min)
	}
	return r.Min.Compare(ch.Min) <= 0 && ch.Max.Compare(r.Max) <= 0
}

// rowsIn are the counted rows whose key is surely in a range.
func (s Slot) rowsIn(c *topology.Collection, of target, in shardkey.Range) (rows int64) {
	for _, n := range s.Counts {
		if r, ok := s.keyRange(c, of, n); ok && in.Min.Compare(r.Min) <= 0 && r.Max.Compare(in.Max) <= 0 {
			rows += n.Rows
		}
	}
	return rows
}

// addPlaced adds rows of a slot that were placed in a chunk.
func (t *tally) addPlaced(s Slot, rows placedRows) {
	t.add(s, int64(math.Round(rows.best)))
	t.estimate += (rows.best - math.Round(rows.best)) * float64(s.Every)
	t.loose += rows.loose * float64(s.Every)
}
