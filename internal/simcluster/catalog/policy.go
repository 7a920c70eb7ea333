package catalog

import (
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// Reasons of a candidate, as balancerCollectionStatus names them.
const (
	Draining  = "draining"
	Violation = "zoneViolation"
	Imbalance = "chunksImbalance"
)

// Candidate is a chunk that the balancer would move.
type Candidate struct {
	NS       string
	Min, Max bson.Raw
	From, To string
	Reason   string
	Zone     *Zone // of AnyMove: the range of a zone in which the chunk is; nil: none
}

// SplitCandidate is a chunk that crosses zone boundaries, with the points at which to
// split it.
type SplitCandidate struct {
	NS     string
	Min    bson.Raw
	Points []bson.Raw
}

// ZoneSplits are the splits at the beginning of a round, after which every chunk is
// inside one zone or outside of all. The caller holds Mu.
func (c *Cluster) ZoneSplits(ns string) []SplitCandidate {
	r := c.Routing(ns)
	if r == nil {
		return nil
	}
	var out []SplitCandidate
	for _, z := range c.zones[ns] {
		for _, edge := range []bson.Raw{z.Min, z.Max} {
			if compareKeys(edge, r.pattern.min()) <= 0 || compareKeys(edge, r.pattern.max()) >= 0 {
				continue
			}
			ch := r.chunks[r.indexOf(edge)]
			if compareKeys(ch.Min, edge) == 0 {
				continue
			}
			if n := len(out); n > 0 && compareKeys(out[n-1].Min, ch.Min) == 0 {
				if p := out[n-1].Points; compareKeys(p[len(p)-1], edge) != 0 {
					out[n-1].Points = append(p, edge)
				}
				continue
			}
			out = append(out, SplitCandidate{NS: ns, Min: ch.Min, Points: []bson.Raw{edge}})
		}
	}
	return out
}

// Candidates are the moves of a balancer round in one collection, most urgent first:
// away from draining shards, then away from shards outside of the chunk's zone, then
// from shards with more than their fair share of a zone's chunks. used holds the shards
// that already take part in a move of this round and is extended
// (db/s/balancer/balancer_policy.cpp, balance). The caller holds Mu.
func (c *Cluster) Candidates(ns string, used map[string]bool) []Candidate {
	r := c.Routing(ns)
	if r == nil {
		return nil
	}
	d := &distribution{c: c, r: r, used: used, zones: c.chunkZones(r)}
	d.drain()
	d.enforce()
	for _, zone := range d.names() {
		d.level(zone)
	}
	return d.moves
}

// chunkZones is the zone of every chunk of a table, in order.
func (c *Cluster) chunkZones(r *Routing) []string {
	out := make([]string, len(r.chunks))
	zones := c.zones[r.NS]
	for i, ch := range r.chunks {
		for len(zones) > 0 && compareKeys(zones[0].Max, ch.Min) <= 0 {
			zones = zones[1:]
		}
		if len(zones) == 0 {
			break
		}
		if compareKeys(zones[0].Min, ch.Min) <= 0 && compareKeys(ch.Max, zones[0].Max) <= 0 {
			out[i] = zones[0].Name
		}
	}
	return out
}

// MovesRanges reports whether the balancer moves ranges of about one chunk size (6.0.3)
// instead of whole chunks.
func (c *Cluster) MovesRanges() bool { return c.release.AtLeast(6, 0, 3) }

// TimesRounds reports whether the log entry of a balancer round has durations (7.0).
func (c *Cluster) TimesRounds() bool { return c.since(7) }

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
	if !d.c.MovesRanges() {
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

// AnyMove returns an arbitrary move that balancing does not require: to a shard that is in the chunk's zone, or with
// outside of a chunk in its zone to a shard that is not. The shard is not draining, has no orphans of the range, and
// takes part in no other move of the round (used, which is extended). pick chooses a number below n. The caller holds
// Mu.
func (c *Cluster) AnyMove(ns string, used map[string]bool, outside bool, pick func(n int) int) (Candidate, bool) {
	r := c.Routing(ns)
	if r == nil || len(r.chunks) == 0 {
		return Candidate{}, false
	}
	first := pick(len(r.chunks))
	for n := range r.chunks {
		ch := r.chunks[(first+n)%len(r.chunks)]
		zone := c.zoneAround(ns, ch)
		fits := func(s *shard) bool { return zone == nil || slices.Contains(s.tags, zone.Name) }
		if used[ch.Shard] || ch.Jumbo || outside && (zone == nil || !fits(c.shard(ch.Shard))) {
			continue
		}
		var to []string
		for _, s := range c.shards {
			if s.name != ch.Shard && !used[s.name] && !s.draining && fits(s) != outside && c.orphansIn(r, s.name, ch.Min, ch.Max) == nil {
				to = append(to, s.name)
			}
		}
		if len(to) == 0 {
			continue
		}
		m := Candidate{NS: ns, Min: ch.Min, Max: ch.Max, From: ch.Shard, To: to[pick(len(to))], Reason: Imbalance, Zone: zone}
		used[m.From], used[m.To] = true, true
		return m, true
	}
	return Candidate{}, false
}

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

// level plans moves within one zone from shards above the average to shards below it, one per pair of shards. Up to
// 6.0.2 the average is of chunks, rounded; then it is of bytes, the shards must differ by at least three chunk sizes,
// and one whose chunks cannot be moved does not count
// (db/s/balancer/balancer_policy.cpp, _singleZoneBalanceBasedOnDataSize).
func (d *distribution) level(zone string) {
	count, first := make(map[string]int64), make(map[string]int) // by shard: chunks in the zone, and the one to be moved
	total, shards := int64(0), int64(0)
	for i, ch := range d.r.chunks {
		if d.zones[i] != zone {
			continue
		}
		count[ch.Shard]++
		total++
		if _, seen := first[ch.Shard]; !seen && !ch.Jumbo {
			first[ch.Shard] = i
		}
	}
	measure := func(shard string) int64 { return count[shard] }
	if zone == "" { // for chunks outside of zones the server uses the average over all chunks
		total = int64(len(d.r.chunks))
	}
	bySize := d.c.MovesRanges()
	if bySize {
		measure, total = d.load, 0
	}
	for _, s := range d.c.shards {
		if zone == "" || slices.Contains(s.tags, zone) {
			shards++
			if bySize {
				total += d.load(s.name)
			}
		}
	}
	if shards == 0 {
		return
	}
	ideal := total / shards
	if !bySize {
		ideal = int64(math.Round(float64(total) / float64(shards)))
	}
	for {
		from, most := "", int64(math.MinInt64)
		for _, s := range d.c.shards {
			_, gives := first[s.name]
			if n := measure(s.name); !d.used[s.name] && (gives || !bySize) && n > most {
				from, most = s.name, n
			}
		}
		to := d.receiver(zone)
		i, gives := first[from]
		if !gives || to == "" || to == from || most <= ideal || measure(to) >= ideal ||
			bySize && most-measure(to) < 3*d.c.chunkSizeOf(d.r) {
			return
		}
		d.move(i, to, Imbalance)
	}
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
		if o.due.After(now) || c.opts.Held != nil && c.opts.Held(o.ns, o.shard, o.left, now) {
			return false
		}
		if r := c.Routing(o.ns); r != nil && r.UUID == o.uuid {
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
	r, n := c.Routing(ns), 0
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
