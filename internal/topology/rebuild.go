package topology

import "slices"

// rebuild copies the buckets that edits touch and shares all others.
func (m *ChunkMap) rebuild(edits []edit) *ChunkMap {
	next := &ChunkMap{
		pattern: m.pattern, max: m.max, names: slices.Clone(m.names), counts: slices.Clone(m.counts),
		jumbo: m.jumbo, highest: m.highest,
	}
	buckets := make([]*bucket, 0, len(m.buckets)+len(edits))
	done := 0 // old buckets taken over so far
	for len(edits) > 0 {
		group, first, last, rows := m.group(edits)
		edits = edits[len(group):]
		buckets = append(buckets, m.buckets[done:first]...)
		buckets = append(buckets, m.rewrite(next, group, first, last, rows)...)
		done = last + 1
	}
	next.adopt(append(buckets, m.buckets[done:]...))
	return next
}

// group takes from the front the edits that touch the same run of old buckets
// [first, last]; rows is how many chunks the run will have. A run that would
// become too small takes in the next bucket.
func (m *ChunkMap) group(edits []edit) (group []edit, first, last, rows int) {
	first, _ = m.locate(edits[0].from)
	last = first
	rows = m.buckets[first].len()
	extend := func(to int) {
		for last < to {
			last++
			rows += m.buckets[last].len()
		}
	}
	n := 0
	for {
		for n < len(edits) {
			b, _ := m.locate(edits[n].from)
			if b > last {
				break
			}
			b, _ = m.locate(edits[n].to - 1)
			extend(b)
			rows += len(edits[n].insert) - (edits[n].to - edits[n].from)
			n++
		}
		if rows >= bucketTarget/4 || last+1 == len(m.buckets) {
			return edits[:n], first, last, rows
		}
		extend(last + 1)
	}
}

// rewrite writes old buckets [first, last] anew with the edits done.
func (m *ChunkMap) rewrite(next *ChunkMap, group []edit, first, last, rows int) []*bucket {
	limit := rows
	if rows > 2*bucketTarget {
		limit = evenly(rows)
	}
	f := newFiller(limit)
	at := int(m.starts[first])
	end := int(m.starts[last]) + m.buckets[last].len()
	for i := range group {
		e := &group[i]
		m.copyRows(f, at, e.from)
		for p := e.from; p < e.to; p++ {
			b, o := m.locate(p)
			next.counts[m.buckets[b].shards[o]]--
			if m.buckets[b].isJumbo(o) {
				next.jumbo--
			}
		}
		for j := range e.insert {
			c := &e.insert[j]
			f.addKey(c.Min, next.take(c), c.Version, c.Since, c.Jumbo)
		}
		at = e.to
	}
	m.copyRows(f, at, end)
	f.seal()
	return f.done
}

// copyRows copies positions [from, to) as they are.
func (m *ChunkMap) copyRows(f *filler, from, to int) {
	for from < to {
		b, o := m.locate(from)
		n := min(to-from, m.buckets[b].len()-o)
		f.copy(m.buckets[b], o, o+n)
		from += n
	}
}
