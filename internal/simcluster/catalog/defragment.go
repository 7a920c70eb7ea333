package catalog

// Defragmenting is the reason given by balancerCollectionStatus during a
// defragmentation.
const Defragmenting = "defragmentingChunks"

// defragmenting is the phase of a collection's defragmentation
// (db/s/balancer/balancer_defragmentation_policy.cpp).
type defragmenting int

const (
	notDefragmenting defragmenting = iota
	mergeAndMeasure
	moveAndMerge
	mergeRest
)

func (p defragmenting) String() string {
	return [...]string{"", "mergeAndMeasureChunks", "moveAndMergeChunks", "mergeChunks"}[p]
}

// defragment is the phase after the option was changed: turning it off goes to the last
// phase.
func defragment(on bool, at defragmenting) defragmenting {
	switch {
	case on && at == notDefragmenting:
		return mergeAndMeasure
	case !on && at != notDefragmenting:
		return mergeRest
	}
	return at
}

// Defragment runs one phase for every collection that is being defragmented: adjacent
// chunks on one shard are merged while they stay below the chunk size. Moving chunks
// together from different shards is not simulated, so the second phase changes nothing.
// The caller holds Mu for writing.
func (c *Cluster) Defragment() {
	for _, ns := range c.Namespaces() {
		r := c.routes[ns]
		phase := r.newer.defragment
		if phase == notDefragmenting || !r.Balanced() || c.moves.donating(ns, "") != nil {
			continue
		}
		if phase != moveAndMerge {
			c.mergeNeighbours(r)
		}
		if r.newer.defragment = phase + 1; phase == mergeRest {
			r.newer.defragment = notDefragmenting
		}
		c.saveCollection(r)
	}
}

// mergeNeighbours merges adjacent chunks of one shard up to the chunk size.
func (c *Cluster) mergeNeighbours(r *Routing) {
	limit := c.chunkSizeOf(r)
	for first := 0; first < len(r.chunks); first++ {
		size := c.bytesIn(r, r.chunks[first])
		last := first
		for last+1 < len(r.chunks) {
			next := r.chunks[last+1]
			if next.Shard != r.chunks[first].Shard || next.Jumbo || r.chunks[first].Jumbo ||
				c.zoneOf(r.NS, next) != c.zoneOf(r.NS, r.chunks[first]) {
				break
			}
			if size += c.bytesIn(r, next); size > limit {
				break
			}
			last++
		}
		if last > first {
			if log, err := c.merge(r.NS, r.chunks[first].Min, r.chunks[last].Max); err == nil {
				log()
			}
		}
	}
}
