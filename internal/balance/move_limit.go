package balance

// What a donor assumes when its collection is empty or has no computable mean document
// size (db/s/migration_chunk_cloner_source_legacy.cpp).
const (
	emptyLimit = 250_001 // documents
	smallest   = 5       // bytes of an empty BSON document
)

// NearLimit is the fraction of the limit within which an estimate is not reliable.
const NearLimit = 0.2

// MoveLimit is the largest number of documents in a chunk that a donor moves without
// force; a larger chunk is refused with ChunkTooBig (153). The limit is twice the chunk
// size divided by the mean document size of the collection on that shard, where the
// division is rounded down before doubling. The rule is the same from 4.4 to 8.0 for
// all requesters; since 6.0.3 the balancer requests only a part of the chunk, moveChunk
// always the whole. mean is 0 for an empty collection.
//
// Up to 4.4.14, 5.0.8 and 5.3.1 the limit was 0 when a row was larger than the
// chunk size on average; since then (SERVER-66041) it is at least two.
func (r Release) MoveLimit(chunkBytes, mean int64) int64 {
	if mean < 0 || chunkBytes <= 0 {
		return 0
	}
	if mean == 0 {
		return emptyLimit
	}
	full := chunkBytes / max(mean, smallest)
	if r.movesOneDocument() {
		full = max(full, 1)
	}
	return 2 * full
}

// movesOneDocument reports whether a chunk of one or two large documents can be moved.
func (r Release) movesOneDocument() bool {
	switch {
	case r.AtLeast(6, 0, 0):
		return true
	case r.AtLeast(5, 0, 0) && !r.AtLeast(5, 1, 0):
		return r.AtLeast(5, 0, 9)
	case r.AtLeast(5, 3, 0):
		return r.AtLeast(5, 3, 2)
	case r.AtLeast(4, 4, 0) && !r.AtLeast(4, 5, 0):
		return r.AtLeast(4, 4, 15)
	}
	return false
}

// MovesParts reports whether the balancer moves a part of a chunk that is too big
// as a whole: since 6.0.3 it asks for about one chunk size from the lower bound on.
func (r Release) MovesParts() bool { return r.AtLeast(6, 0, 3) }
