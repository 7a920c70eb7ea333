package catalog

import (
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// distribution is the balancer policy's view of one collection.
type distribution struct {
	c     *Cluster
	r     *Routing
	zones []string // by chunk
	used  map[string]bool
	moves []Candidate
	sizes map[string]int64 // by shard, where the policy compares bytes
}

// names lists the collection's zones, then "" for chunks outside of zones.
func (d *distribution) names() []string {
	var names []string
	for _, z := range d.c.zones[d.r.NS] {
		names = append(names, z.Name)
	}
	slices.Sort(names)
	return append(slices.Compact(names), "")
}

func (d *distribution) move(i int, to, reason string) {
	ch := d.r.chunks[i]
	d.moves = append(d.moves, Candidate{NS: d.r.NS, Min: ch.Min, Max: ch.Max, From: ch.Shard, To: to, Reason: reason})
	d.used[ch.Shard], d.used[to] = true, true
}

// receiver is the shard with the fewest chunks of the collection that may receive a
// chunk of the zone.
func (d *distribution) receiver(zone string) string {
	best, least := "", int64(math.MaxInt64)
	for _, s := range d.c.shards {
		if d.used[s.name] || s.draining || zone != "" && !slices.Contains(s.tags, zone) {
			continue
		}
		if n := d.load(s.name); n < least {
			best, least = s.name, n
		}
	}
	return best
}

func (d *distribution) drain() {
	for _, s := range d.c.shards {
		if !s.draining || d.used[s.name] || d.r.counts[s.name] == 0 {
			continue
		}
		for i, ch := range d.r.chunks {
			if ch.Shard != s.name || ch.Jumbo {
				continue
			}
			if to := d.receiver(d.zones[i]); to != "" && to != s.name {
				d.move(i, to, Draining)
				break
			}
		}
	}
}

func (d *distribution) enforce() {
	if len(d.c.zones[d.r.NS]) == 0 {
		return
	}
	for _, s := range d.c.shards {
		if d.used[s.name] {
			continue
		}
		for i, ch := range d.r.chunks {
			if ch.Shard != s.name || d.zones[i] == "" || slices.Contains(s.tags, d.zones[i]) || ch.Jumbo {
				continue
			}
			if to := d.receiver(d.zones[i]); to != "" {
				d.move(i, to, Violation)
				break
			}
		}
	}
}

// level plans moves within one zone from shards above the rounded average to shards
// below it, one per pair of shards.
func (d *distribution) level(zone string) {
	if d.c.features.bySize {
		d.levelBySize(zone)
		return
	}
	count := make(map[string]int)
	for i, ch := range d.r.chunks {
		if d.zones[i] == zone {
			count[ch.Shard]++
		}
	}
	// For chunks outside of zones the server uses the average over all chunks.
	chunks, shards := len(d.r.chunks), 0
	if zone != "" {
		chunks = 0
		for _, n := range count {
			chunks += n
		}
	}
	for _, s := range d.c.shards {
		if zone == "" || slices.Contains(s.tags, zone) {
			shards++
		}
	}
	if shards == 0 {
		return
	}
	ideal := int(math.Round(float64(chunks) / float64(shards)))
	for d.levelOne(zone, ideal, count) {
	}
}

func (d *distribution) levelOne(zone string, ideal int, count map[string]int) bool {
	from, most := "", 0
	for _, s := range d.c.shards {
		if !d.used[s.name] && count[s.name] > most {
			from, most = s.name, count[s.name]
		}
	}
	if from == "" || most <= ideal {
		return false
	}
	to := d.receiver(zone)
	if to == "" || count[to] >= ideal || to == from {
		return false
	}
	for i, ch := range d.r.chunks {
		if ch.Shard == from && d.zones[i] == zone && !ch.Jumbo {
			d.move(i, to, Imbalance)
			return true
		}
	}
	return false
}

// orphanRange is the range of a moved chunk on its donor. The documents are kept for
// running queries and deleted later.
type orphanRange struct {
	ns       string
	uuid     [16]byte
	shard    string
	min, max bson.Raw
	left     time.Time // the chunk's commit
	due      time.Time
	gone     chan struct{} // closed when the documents are deleted
}

// leaveOrphans schedules the deletion of a moved chunk's documents on the donor.
func (c *Cluster) leaveOrphans(r *Routing, shard string, lo, hi bson.Raw, delay time.Duration) *orphanRange {
	now := c.Now()
	o := &orphanRange{
		ns: r.NS, uuid: r.UUID, shard: shard, min: lo, max: hi, left: now, due: now.Add(delay), gone: make(chan struct{}),
	}
	c.orphans = append(c.orphans, o)
	return o
}

// held reports whether an open cursor keeps the shard from deleting the range.
func (c *Cluster) held(o *orphanRange) bool {
	return c.opts.Held != nil && c.opts.Held(o.ns, o.shard, o.left, c.Now())
}

// orphansIn is a pending orphan range on shard that overlaps [lo, hi), or nil.
func (c *Cluster) orphansIn(r *Routing, shard string, lo, hi bson.Raw) *orphanRange {
	for _, o := range c.orphans {
		if o.ns == r.NS && o.shard == shard && o.uuid == r.UUID && compareKeys(o.min, hi) < 0 && compareKeys(lo, o.max) < 0 {
			return o
		}
	}
	return nil
}

// CleanOrphans deletes the orphans that are due. The caller holds Mu for writing.
func (c *Cluster) CleanOrphans() {
	now := c.Now()
	c.orphans = slices.DeleteFunc(c.orphans, func(o *orphanRange) bool {
		if o.due.After(now) || c.held(o) {
			return false
		}
		if r := c.routes[o.ns]; r != nil && r.UUID == o.uuid {
			c.deleteRange(r, o.shard, o.min, o.max)
		}
		close(o.gone)
		return true
	})
}

// forgetOrphans removes the pending ranges of a dropped collection.
func (c *Cluster) forgetOrphans(uuid [16]byte) {
	c.orphans = slices.DeleteFunc(c.orphans, func(o *orphanRange) bool {
		if o.uuid != uuid {
			return false
		}
		close(o.gone)
		return true
	})
}

// Orphans counts the orphaned documents of a namespace on shard. It reads every
// document of the pending ranges. The caller holds Mu.
func (c *Cluster) Orphans(ns, shard string) int {
	r, n := c.routes[ns], 0
	coll := c.data(shard, ns)
	if r == nil || coll == nil {
		return 0
	}
	for _, o := range c.orphans {
		if o.ns == ns && o.shard == shard && o.uuid == r.UUID {
			n += int(coll.CountRange(r.Key, o.min, o.max))
		}
	}
	return n
}

// deleteRange removes a shard's documents in [lo, hi).
func (c *Cluster) deleteRange(r *Routing, shard string, lo, hi bson.Raw) {
	coll := c.data(shard, r.NS)
	if coll == nil {
		return
	}
	var ids []engine.RecordID
	for id := range coll.Range(r.Key, lo, hi) {
		ids = append(ids, id)
	}
	for _, id := range ids {
		coll.Delete(id)
	}
}
