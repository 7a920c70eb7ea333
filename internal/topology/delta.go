package topology

// Delta is the chunks of m that old does not have exactly so, in key order: what
// has to be kept to make m from old again with Apply. It costs the number of
// buckets and the chunks of those that the two maps do not share. A nil old
// gives every chunk.
func (m *ChunkMap) Delta(old *ChunkMap) []Chunk {
	if m == nil || m == old {
		return nil
	}
	shared := make(map[*bucket]bool)
	if old != nil {
		for _, b := range old.buckets {
			shared[b] = true
		}
	}
	var out []Chunk
	for i, b := range m.buckets {
		if shared[b] {
			continue
		}
		for o := range b.len() {
			if c := m.chunk(i, o); old.Len() == 0 || !old.holds(c) {
				out = append(out, c)
			}
		}
	}
	return out
}
