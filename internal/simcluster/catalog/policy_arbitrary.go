package catalog

// AnyMove returns an arbitrary legal move that balancing does not require: to a shard
// that is in the chunk's zone, is not draining, has no orphans of the range, and takes
// part in no other move of the round (used, which is extended). pick chooses a number
// below n. The caller holds Mu.
func (c *Cluster) AnyMove(ns string, used map[string]bool, pick func(n int) int) (Candidate, bool) {
	r := c.routes[ns]
	if r == nil || len(r.chunks) == 0 {
		return Candidate{}, false
	}
	zones, first := c.chunkZones(r), pick(len(r.chunks))
	for n := range r.chunks {
		i := (first + n) % len(r.chunks)
		ch := r.chunks[i]
		if used[ch.Shard] || ch.Jumbo {
			continue
		}
		var to []string
		for _, s := range c.shards {
			switch {
			case s.name == ch.Shard || used[s.name] || s.draining:
			case zones[i] != "" && !contains(s.tags, zones[i]):
			case c.orphansIn(r, s.name, ch.Min, ch.Max) != nil:
			default:
				to = append(to, s.name)
			}
		}
		if len(to) == 0 {
			continue
		}
		m := Candidate{NS: ns, Min: ch.Min, Max: ch.Max, From: ch.Shard, To: to[pick(len(to))], Reason: Imbalance}
		used[m.From], used[m.To] = true, true
		return m, true
	}
	return Candidate{}, false
}
