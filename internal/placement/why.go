package placement

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Why is the chain from a value to the machines that hold it, read from one
// table: value → shard-key fields → hash → chunk → shard, what last moved or
// cut that chunk, and which zone binds it. It holds facts; the words are the
// pages'.
type Why struct {
	Basis   WhyBasis
	Fields  []WhyField // of the shard key, in order; empty when not sharded
	Chunk   *WhyChunk  // the one chunk; nil when several or none
	Chunks  int        // that may hold it
	Of      int        // chunks of the collection
	Shards  []WhyShard // where it is or may be
	History History
	Zone    WhyZone
	Primary string // the database's primary shard, "" when not known
}

// WhyBasis is the rule that decides the place.
type WhyBasis string

// The rules, by how much of the shard key is known.
const (
	WhyByKey     WhyBasis = "key"     // the whole key is known: one chunk
	WhyByPrefix  WhyBasis = "prefix"  // its leading fields are: the chunks of a range
	WhyByNothing WhyBasis = "every"   // none of it is: any chunk
	WhyPrimary   WhyBasis = "primary" // not sharded: the database's primary shard
	WhyTracked   WhyBasis = "tracked" // not sharded, but placed by itself (8.0 on)
	WhyAbsent    WhyBasis = "absent"  // there is no such collection
	WhyUnknown   WhyBasis = "unknown" // nothing here tells
)

// WhyField is one field of the shard key.
type WhyField struct {
	Name   string
	Hashed bool
	Known  bool
	Value  bson.RawValue // as stored, before hashing; of the zero type when not known
	Hash   *int64        // of a hashed field that is known
}

// WhyChunk is the chunk that holds the key.
type WhyChunk struct {
	Position int // in key order, from 0
	topology.Chunk
	Pattern shardkey.Pattern
}

// WhyShard is a shard with what is known of its machines.
type WhyShard struct {
	Name     string
	Known    bool // the table lists it
	ReplSet  string
	Hosts    []string
	Draining bool
}

// WhyZone says which zone binds the place. Min and Max are the range's.
type WhyZone struct {
	State    ZoneState
	Zone     string
	Min, Max shardkey.Key
	Shards   []string // that carry the zone
}

// ZoneState is how a chunk stands to the zones.
type ZoneState string

// How a chunk can stand to the zones.
const (
	ZoneNone      ZoneState = "none"      // the collection has no ranges
	ZoneOutside   ZoneState = "outside"   // it has some, elsewhere
	ZoneKept      ZoneState = "kept"      // in a zone that its shard carries
	ZoneWrong     ZoneState = "wrong"     // in a zone that its shard does not carry
	ZoneStraddles ZoneState = "straddles" // an edge cuts the chunk
	ZoneUnread    ZoneState = "unread"    // zones may not be read, or were not yet
	ZoneNotAsked  ZoneState = ""          // not sharded, or several chunks
)

// WhyOf explains one place. The table must be the one that the place is from
// or a newer one; a place that this table contradicts is explained as the
// table has it.
func WhyOf(t *topology.Table, p Place) Why {
	w := Why{Basis: WhyUnknown, Primary: t.Primary(p.NS.Database())}
	for _, s := range p.Shards {
		w.Shards = append(w.Shards, shardOf(t, s))
	}
	c := t.Collection(p.NS)
	switch {
	case p.Exists == "absent":
		w.Basis = WhyAbsent
		return w
	case c == nil:
		if w.Primary != "" {
			w.Basis = WhyPrimary
		}
		w.History = primaryHistory(t, p.NS.Database(), w.Primary)
		return w
	case c.Unsplittable:
		w.Basis = WhyTracked
		return w
	}
	w.Of, w.Chunks = c.Chunks.Len(), p.Chunks
	w.Fields = whyFields(c.Key, p.Match)
	known := 0
	for known < len(w.Fields) && w.Fields[known].Known {
		known++
	}
	switch {
	case !p.Key.IsZero() || known == len(w.Fields):
		w.Basis = WhyByKey
	case known > 0:
		w.Basis = WhyByPrefix
	default:
		w.Basis = WhyByNothing
	}
	if p.Min.IsZero() || c.Chunks.Len() == 0 {
		return w
	}
	i, ch := c.Chunks.Find(p.Min)
	w.Chunk = &WhyChunk{Position: i, Chunk: ch, Pattern: c.Key}
	w.History = chunkHistory(t, c, ch)
	w.Zone = zoneOf(t, c, i, ch)
	return w
}

// WhyChunkOf explains the place of a whole chunk.
func WhyChunkOf(t *topology.Table, c *topology.Collection, i int) Why {
	ch := c.Chunks.At(i)
	return Why{
		Basis: WhyByKey, Fields: whyFields(c.Key, nil), Chunks: 1, Of: c.Chunks.Len(),
		Chunk:  &WhyChunk{Position: i, Chunk: ch, Pattern: c.Key},
		Shards: []WhyShard{shardOf(t, ch.Shard)}, History: chunkHistory(t, c, ch),
		Zone: zoneOf(t, c, i, ch), Primary: t.Primary(c.NS.Database()),
	}
}

func whyFields(p shardkey.Pattern, match []Equal) []WhyField {
	var out []WhyField
	for _, f := range p.Fields() {
		w := WhyField{Name: f.Name, Hashed: f.Hashed}
		for _, m := range match {
			if m.Field != f.Name {
				continue
			}
			w.Known, w.Value = true, m.Value
			if f.Hashed {
				if h, err := shardkey.Hash(m.Value); err == nil {
					w.Hash = &h
				}
			}
		}
		out = append(out, w)
	}
	return out
}

func shardOf(t *topology.Table, name string) WhyShard {
	s := t.Shard(name)
	if s == nil {
		return WhyShard{Name: name}
	}
	return WhyShard{Name: name, Known: true, ReplSet: s.ReplSet, Hosts: s.Hosts, Draining: s.Draining}
}

// zoneOf finds the range around a chunk and who carries its zone.
func zoneOf(t *topology.Table, c *topology.Collection, i int, ch topology.Chunk) WhyZone {
	ranges := t.ZonesOf(c.NS)
	if len(ranges) == 0 {
		if h := t.Health[topology.PartZones]; h.At.IsZero() && len(t.Health) > 0 {
			return WhyZone{State: ZoneUnread}
		}
		return WhyZone{State: ZoneNone}
	}
	zone, straddles := t.ZoneOf(c, i)
	switch {
	case straddles:
		return WhyZone{State: ZoneStraddles}
	case zone == "":
		return WhyZone{State: ZoneOutside}
	}
	w := WhyZone{State: ZoneWrong, Zone: zone}
	for _, s := range t.Shards {
		for _, z := range s.Zones {
			if z == zone {
				w.Shards = append(w.Shards, s.Name)
				if s.Name == ch.Shard {
					w.State = ZoneKept
				}
			}
		}
	}
	for _, r := range ranges {
		if r.Zone == zone && !r.Min.IsZero() && r.Min.Compare(ch.Min) <= 0 && ch.Max.Compare(r.Max) <= 0 {
			w.Min, w.Max = r.Min, r.Max
		}
	}
	return w
}

// SinceTime is when the chunk came to its shard, by its own history; zero when
// the server does not say.
func (w WhyChunk) SinceTime() time.Time {
	if w.Since.T == 0 {
		return time.Time{}
	}
	return time.Unix(int64(w.Since.T), 0).UTC()
}
