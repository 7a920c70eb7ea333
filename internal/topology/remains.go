package topology

import (
	"slices"
	"time"
)

// Remains is what is still on a shard that is to be emptied.
type Remains struct {
	Known     bool        // false: the chunks of a collection are not loaded yet
	Chunks    int         // of sharded collections, the server's own included, because they have to leave too
	Jumbo     int         // of these: flagged as jumbo, which the balancer leaves where they are
	Unsharded []Namespace // unsharded collections in the routing table (8.0), which the balancer never moves
	Databases []string    // that have it as their primary shard, which the balancer never changes
	Bytes     Figure      // of the documents in these chunks and unsharded collections
}

// Empty reports whether nothing is left, so that the shard can be removed.
func (r Remains) Empty() bool {
	return r.Known && r.Chunks == 0 && len(r.Unsharded) == 0 && len(r.Databases) == 0
}

// NeedsSomebody reports whether only things are left that a draining does not move: jumbo chunks, unsharded
// collections and databases.
func (r Remains) NeedsSomebody() bool { return r.Known && !r.Empty() && r.Chunks == r.Jumbo }

// Pieces is the number of things that have to leave the shard.
func (r Remains) Pieces() int { return r.Chunks + len(r.Unsharded) + len(r.Databases) }

// RemainsOn returns what is on a shard.
func (t *Table) RemainsOn(shard string) Remains {
	out := Remains{Known: t.Loaded, Bytes: Figure{Known: true, Exact: true, Method: "collStats"}}
	for _, c := range t.Collections {
		if c.Chunks == nil {
			out.Known = false
			continue
		}
		n := c.Chunks.CountByShard()[shard]
		switch {
		case n == 0:
			continue
		case c.Unsplittable:
			out.Unsharded = append(out.Unsharded, c.NS)
		default:
			out.Chunks += n
			out.Jumbo += c.Chunks.JumboByShard()[shard]
		}
		out.Bytes = addBytes(out.Bytes, t.SizeOn(c.NS, shard).Bytes, IsInternal(c.NS))
	}
	for _, d := range t.Databases {
		if d.Primary == shard && d.Name != "config" && d.Name != "admin" {
			out.Databases = append(out.Databases, d.Name)
		}
	}
	return out
}

// addBytes adds the size of a collection. The server's own collections are small, and their
// sizes may often not be read, so an unknown one is left out.
func addBytes(sum, f Figure, internal bool) Figure {
	switch {
	case !f.Known && internal, !sum.Known:
		return sum
	case !f.Known:
		return Figure{Reason: f.Reason}
	}
	sum.Value, sum.PlusMinus, sum.Exact = sum.Value+f.Value, sum.PlusMinus+f.PlusMinus, sum.Exact && f.Exact
	if f.Method != "" {
		sum.Method = f.Method
	}
	if sum.At.IsZero() || f.At.Before(sum.At) {
		sum.At = f.At
	}
	return sum
}

// DrainWindow is the time over which the pace of a draining is observed.
const DrainWindow = 30 * time.Minute

// DrainPace is how fast a shard gave chunks away lately.
type DrainPace struct {
	Over   time.Duration
	Chunks int
	Bytes  int64 // copied by these moves
}

// DrainingSince returns when a shard began to drain, as far as the changelog that is held
// shows.
func (t *Table) DrainingSince(shard string) (at time.Time, known bool) {
	for _, e := range t.Events {
		if name, _ := e.Details.Lookup("shard").StringValueOK(); name == shard && e.What == "removeShard.start" {
			return e.Time, true
		}
	}
	return time.Time{}, false
}

// PaceOf returns how fast a shard gave chunks away in the last half hour, or since it began
// to drain. It is not known before two chunks have left.
func (t *Table) PaceOf(shard string, now time.Time) (p DrainPace, known bool) {
	from := now.Add(-DrainWindow)
	began, since := t.DrainingSince(shard)
	if since && began.After(from) {
		from = began
	}
	var first time.Time
	for _, e := range t.Events { // newest first
		if e.Time.Before(from) {
			continue
		}
		if donor, _ := e.Details.Lookup("from").StringValueOK(); e.What != "moveChunk.commit" || donor != shard {
			continue
		}
		if first.IsZero() || e.Time.Before(first) {
			first = e.Time
		}
		copied, _ := Amount(e.Details.Lookup("counts", "clonedBytes"))
		p.Chunks, p.Bytes = p.Chunks+1, p.Bytes+copied
	}
	if p.Chunks < 2 {
		return DrainPace{}, false
	}
	p.Over = now.Sub(from)
	if !since { // what was before the first of these moves is not known
		p.Over = now.Sub(first)
	}
	return p, p.Over > 0
}

// TimeLeft estimates how long the chunks need to leave a shard at a pace. The slower of
// chunks and bytes counts: empty chunks take a round of the balancer each, and large
// chunks leave in several moves (6.0.3 and later).
func (r Remains) TimeLeft(p DrainPace) (left time.Duration, known bool) {
	if !r.Known || p.Chunks == 0 || p.Over <= 0 {
		return 0, false
	}
	left = time.Duration(float64(p.Over) / float64(p.Chunks) * float64(r.Chunks))
	if r.Bytes.Known && p.Bytes > 0 {
		left = max(left, time.Duration(float64(p.Over)/float64(p.Bytes)*float64(r.Bytes.Value)))
	}
	return left, true
}

// Staying returns the shards that keep their chunks when the given one is drained: the
// others that are not draining.
func (t *Table) Staying(without string) (names []string) {
	for _, s := range t.Shards {
		if s.Name != without && !s.Draining {
			names = append(names, s.Name)
		}
	}
	return names
}

// OnlyShardOf returns the zones with ranges that no other shard can take over from this
// one: no other shard that stays is in them.
func (t *Table) OnlyShardOf(shard string) (zones []string) {
	s := t.Shard(shard)
	if s == nil {
		return nil
	}
	for _, zone := range s.Zones {
		other := slices.ContainsFunc(t.Shards, func(o Shard) bool {
			return o.Name != shard && !o.Draining && slices.Contains(o.Zones, zone)
		})
		ranged := slices.ContainsFunc(t.Zones, func(z ZoneRange) bool { return z.Zone == zone })
		if ranged && !other {
			zones = append(zones, zone)
		}
	}
	return zones
}
