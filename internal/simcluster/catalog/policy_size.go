package catalog

import "math"

// MovesRanges reports whether the balancer moves ranges of about one chunk size (6.0.3)
// instead of whole chunks.
func (c *Cluster) MovesRanges() bool { return c.features.bySize }

// TimesRounds reports whether the log entry of a balancer round has durations (7.0).
func (c *Cluster) TimesRounds() bool { return c.features.roundTimes }

// ownedBytes is the size of a shard's owned documents of a collection.
func (c *Cluster) ownedBytes(r *Routing, shard string) int64 {
	coll := c.data(shard, r.NS)
	if coll == nil || coll.Len() == 0 {
		return 0
	}
	return coll.Bytes() - int64(c.Orphans(r.NS, shard))*(coll.Bytes()/int64(coll.Len()))
}

// bytesIn estimates the size of a chunk: its number of documents times the average
// document size on the shard.
func (c *Cluster) bytesIn(r *Routing, ch *Chunk) int64 {
	coll := c.data(ch.Shard, r.NS)
	if coll == nil || coll.Len() == 0 {
		return 0
	}
	return coll.CountRange(r.Key, ch.Min, ch.Max) * (coll.Bytes() / int64(coll.Len()))
}

// load is the measure by which the policy compares shards: number of chunks, or since
// 6.0.3 bytes.
func (d *distribution) load(shard string) int64 {
	if !d.c.features.bySize {
		return int64(d.r.counts[shard])
	}
	if d.sizes == nil {
		d.sizes = make(map[string]int64, len(d.c.shards))
		for _, s := range d.c.shards {
			d.sizes[s.name] = d.c.ownedBytes(d.r, s.name)
		}
	}
	return d.sizes[shard]
}

// levelBySize moves data from the fullest shard of a zone to the emptiest while they
// differ by at least three chunk sizes; the number of chunks does not matter
// (db/s/balancer/balancer_policy.cpp, _singleZoneBalanceBasedOnDataSize).
func (d *distribution) levelBySize(zone string) {
	var total, shards int64
	for _, s := range d.c.shards {
		if zone == "" || contains(s.tags, zone) {
			total += d.load(s.name)
			shards++
		}
	}
	if shards == 0 {
		return
	}
	for d.levelOneBySize(zone, total/shards) {
	}
}

func (d *distribution) levelOneBySize(zone string, ideal int64) bool {
	first := make(map[string]int, len(d.c.shards)) // the chunk that each shard would donate
	for i, ch := range d.r.chunks {
		if _, seen := first[ch.Shard]; !seen && d.zones[i] == zone && !ch.Jumbo {
			first[ch.Shard] = i
		}
	}
	from, most := "", int64(math.MinInt64)
	for _, s := range d.c.shards {
		if _, gives := first[s.name]; gives && !d.used[s.name] && d.load(s.name) > most {
			from, most = s.name, d.load(s.name)
		}
	}
	if from == "" || most <= ideal {
		return false
	}
	to := d.receiver(zone)
	if to == "" || to == from || d.load(to) >= ideal || most-d.load(to) < 3*d.c.chunkSizeOf(d.r) {
		return false
	}
	d.move(first[from], to, Imbalance)
	return true
}
