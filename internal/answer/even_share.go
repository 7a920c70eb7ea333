package answer

import (
	"slices"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// EvenShare says what an even share is: an equal part for each shard that may hold the data. A
// draining shard may hold nothing, and keys of a zone belong on the shards of that zone only.
type EvenShare struct {
	t     *topology.Table
	shard string              // whose share is asked for
	Able  []string            // shards that do not drain
	zones map[string][]string // of these, by zone
}

// NewEvenShare is the even share of one shard.
func NewEvenShare(t *topology.Table, shard string) EvenShare {
	e := EvenShare{t: t, shard: shard, zones: map[string][]string{}}
	for _, s := range t.Shards {
		if s.Draining {
			continue
		}
		e.Able = append(e.Able, s.Name)
		for _, z := range s.Zones {
			e.zones[z] = append(e.zones[z], s.Name)
		}
	}
	return e
}

// Holders are the shards that may hold keys of a zone; "" is no zone.
func (e EvenShare) Holders(zone string) []string {
	if zone == "" {
		return e.Able
	}
	return e.zones[zone]
}

// Part is the shard's part of keys in a zone, 0 to 1. Where no shard may hold them it is 0: they
// are too many wherever they are.
func (e EvenShare) Part(zone string) float64 {
	holders := e.Holders(zone)
	if !slices.Contains(holders, e.shard) {
		return 0
	}
	return 1 / float64(len(holders))
}

// ZoneSpan is a run of chunks that are wholly in one zone.
type ZoneSpan struct {
	From, To int
	Zone     string
}

// ZoneSpansOf are the runs of a collection's chunks in zones, in key order. A chunk that a zone's
// bound cuts is in none until the balancer has split it.
func ZoneSpansOf(t *topology.Table, c *topology.Collection) (out []ZoneSpan) {
	for _, z := range ZoneOverlaps(t, c) {
		if from, to := z.Whole(); from < to {
			out = append(out, ZoneSpan{from, to, z.Zone})
		}
	}
	return out
}

// WholeChunks are the positions [from, to) of the chunks that lie in a range with all their keys.
func WholeChunks(c *topology.Collection, r shardkey.Range) (from, to int) {
	from, to = c.Chunks.Overlap(r)
	if from < to && c.Chunks.At(from).Min.Compare(r.Min) < 0 {
		from++
	}
	if from < to && c.Chunks.At(to-1).Max.Compare(r.Max) > 0 {
		to--
	}
	return from, max(from, to)
}

// Parts calls use for each chunk in [from, to) with its owner and the shard's even part of it.
func (e EvenShare) Parts(c *topology.Collection, spans []ZoneSpan, from, to int, use func(i int, owner string, part float64)) {
	free := e.Part("")
	part, span, next := free, -1, 0
	for i := from; i < to; i++ {
		if span >= 0 && i >= spans[span].To {
			part, span = free, -1
		}
		for next < len(spans) && spans[next].From <= i {
			if i < spans[next].To {
				span, part = next, e.Part(spans[next].Zone)
			}
			next++
		}
		use(i, c.Chunks.Owner(i), part)
	}
}

// Means says in words what an even share is.
func (e EvenShare) Means(zoned bool) string {
	drains := len(e.Able) < len(e.t.Shards)
	text := "An even share is an equal part for each shard."
	if drains {
		text = "An even share is an equal part for each shard that is not draining."
	}
	if zoned {
		text += " Keys in a zone are divided among the shards of that zone only."
	}
	if s := e.t.Shard(e.shard); s != nil && s.Draining {
		text += " This shard is draining, so its even share is 0."
	}
	return text
}
