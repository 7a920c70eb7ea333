package keys

// initialPieces is in how many pieces resharding cuts a collection (reshardingNumInitialChunks).
const initialPieces = 90

// pieces is where resharding cuts rows: at the values that divide the rows into equal numbers. It has the places in the
// order of the key at which pieces begin, the first of them 0. A cut at the least value leaves the first piece empty,
// as in the server, where it begins at MinKey. Rows from limit on, in the order of insertion, are not there yet.
func (r *sorter) pieces(limit int) []int {
	out := []int{0}
	var value, last []byte // last is where it was cut last
	seen, next, start := 0, 1, 0
	for at, p := range r.order {
		if key := r.key(p.row); at == 0 || string(key) != string(value) {
			value, start = key, at
		}
		if int(p.row) >= limit {
			continue
		}
		for next < initialPieces && seen == next*limit/initialPieces {
			if last == nil || string(value) != string(last) {
				out, last = append(out, start), value
			}
			next++
		}
		seen++
	}
	return out
}

// resharded is the bytes of each shard after resharding, which gives the pieces to the shards in turn.
func resharded(s *Sample, c *Cluster, sorted *sorter) []int64 {
	out := make([]int64, c.Shards)
	pieces := sorted.pieces(s.Len())
	piece := 0
	for at, p := range sorted.order {
		for piece+1 < len(pieces) && at >= pieces[piece+1] {
			piece++
		}
		out[piece%c.Shards] += int64(s.sizes[p.row])
	}
	for i := range out {
		out[i] = int64(float64(out[i]) * s.scale())
	}
	return out
}

// movable is how many times the chunk size a chunk may have that the server moves.
const movable = 2

// balanced is the bytes of each shard after a collection was sharded: the balancer moves chunks away from the first
// shard until all have as many. It does not move those that are fixed: too big, and no split divides them.
func balanced(sizes []int64, fixed []bool, shards int) []int64 {
	out, chunks := make([]int64, shards), make([]int, shards)
	var free []int64
	for n, b := range sizes {
		if fixed[n] {
			out[0] += b
			chunks[0]++
		} else {
			free = append(free, b)
		}
	}
	for _, b := range free {
		least := 0
		for shard, n := range chunks {
			if n < chunks[least] {
				least = shard
			}
		}
		out[least] += b
		chunks[least]++
	}
	return out
}

// shardsOfPieces is on how many shards neighbouring pieces are.
func shardsOfPieces(first, last, shards int) int { return min(last-first+1, shards) }
