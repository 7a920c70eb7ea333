package topology

// describe appends what an edit did, in words of the field: parts of the key
// space that both sides bound alike are compared one by one.
func (m *ChunkMap) describe(e *edit, out []Change) []Change {
	news := e.insert
	for old := e.from; old < e.to; {
		// Grow both sides until they end at the same key.
		o, n := old+1, 1
		oldEnd := m.At(old).Max
		for d := oldEnd.Compare(news[n-1].Max); d != 0; d = oldEnd.Compare(news[n-1].Max) {
			if d < 0 {
				oldEnd = m.At(o).Max
				o++
			} else {
				n++
			}
		}
		out = m.describePart(old, o, news[:n], out)
		old, news = o, news[n:]
	}
	return out
}

// describePart compares old positions [from, to) with the chunks that now
// cover the same keys.
func (m *ChunkMap) describePart(from, to int, news []Chunk, out []Change) []Change {
	whole := Change{Min: news[0].Min, Max: news[len(news)-1].Max}
	if len(news) > 1 {
		whole.Kind = Split
		out = append(out, whole)
	}
	if to-from > 1 {
		whole.Kind = Merged
		out = append(out, whole)
	}
	// Walk the pieces of the common refinement; neighbours that moved alike are one move.
	moved := -1
	o, n := from, 0
	at := news[0].Min
	for o < to && n < len(news) {
		c := m.At(o)
		end := c.Max
		if news[n].Max.Compare(end) < 0 {
			end = news[n].Max
		}
		if c.Shard != news[n].Shard {
			if moved >= 0 && out[moved].Max.Compare(at) == 0 && out[moved].From == c.Shard && out[moved].To == news[n].Shard {
				out[moved].Max = end
			} else {
				moved = len(out)
				out = append(out, Change{Kind: Moved, Min: at, Max: end, From: c.Shard, To: news[n].Shard})
			}
		}
		if c.Max.Compare(end) == 0 {
			o++
		}
		if news[n].Max.Compare(end) == 0 {
			n++
		}
		at = end
	}
	return out
}
