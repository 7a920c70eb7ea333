package operation

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Fields returns the fields of a fact from a table, in the same form as Want and as a
// Reader returns them. If the collection does not exist, or the bounds are not keys of
// it, there are no fields.
func Fields(t *topology.Table, f Fact) map[string]string {
	switch f.Kind {
	case FactCollection:
		if c := t.Collection(f.NS); c != nil {
			return CollectionFields(c.Meta)
		}
		return map[string]string{}
	case FactResharded:
		if c := t.Collection(f.NS); c != nil {
			return reshardedFields(c.Meta, f.Was)
		}
		return map[string]string{}
	case FactResharding:
		return map[string]string{} // not in a table
	case FactShard:
		s := t.Shard(f.Shard)
		return map[string]string{"exists": strconv.FormatBool(s != nil), "draining": strconv.FormatBool(s != nil && s.Draining)}
	case FactRemains, FactSpare:
		return drainFields(t, f)
	case FactShardZone:
		s := t.Shard(f.Shard)
		return map[string]string{"member": strconv.FormatBool(s != nil && slices.Contains(s.Zones, f.Zone))}
	case FactBalancer:
		b := t.Balancer
		refused := b.Refuses("activeWindow") || b.Refuses("activeWindowDOW")
		return map[string]string{"on": strconv.FormatBool(b.Enabled()), "windowStart": b.WindowStart, "windowStop": b.WindowStop,
			"windowDays": topology.DaysText(b.Days), "windowRefused": strconv.FormatBool(refused)}
	case FactDatabase:
		return DatabaseFields(t, f.DB)
	case FactPlace:
		return PlaceFields(t, f.NS)
	case FactZoneRange:
		for _, z := range t.ZonesOf(f.NS) {
			if string(z.RawMin) == string(f.Min) && string(z.RawMax) == string(f.Max) {
				return map[string]string{"zone": z.Zone}
			}
		}
		return map[string]string{"zone": ""}
	}
	c := t.Collection(f.NS)
	if c == nil {
		return map[string]string{}
	}
	if f.Kind == FactZoneFree {
		return zoneFields(c, t.ZonesOf(f.NS), f)
	}
	return chunkFields(c, f)
}

// CollectionFields returns the fields of FactCollection. An identity that this release
// of the server does not have is "".
func CollectionFields(m topology.Meta) map[string]string {
	return map[string]string{
		"uuid": UUIDText(m.Incarnation.UUID), "timestamp": TimestampText(m.Incarnation.Timestamp), "epoch": epochText(m.Incarnation.Epoch),
		"key": m.Key.String(), "noBalance": strconv.FormatBool(m.NoBalance), "migrationsBlocked": strconv.FormatBool(m.MigrationsBlocked),
		"chunkSize": chunkSizeText(m.MaxChunkBytes), "autoMerge": strconv.FormatBool(!m.AutoMergeOff),
		"defragmenting": strconv.FormatBool(m.Defragmenting), "defragmentationEnds": strconv.FormatBool(m.Ending()),
		"resharding": strconv.FormatBool(m.Resharding),
	}
}

// reshardedFields compares a collection with its UUID before.
func reshardedFields(m topology.Meta, was string) map[string]string {
	all := CollectionFields(m)
	return map[string]string{"key": all["key"], "replaced": strconv.FormatBool(all["uuid"] != was), "resharding": all["resharding"]}
}

func chunkFields(c *topology.Collection, f Fact) map[string]string {
	lo, err := c.Key.Bound(f.Min)
	if err != nil {
		return map[string]string{}
	}
	if f.Kind == FactEdge {
		_, ch := c.Chunks.Find(lo)
		return map[string]string{"exists": strconv.FormatBool(ch.Min.Compare(lo) == 0)}
	}
	hi, err := c.Key.Bound(f.Max)
	if err != nil {
		return map[string]string{}
	}
	if f.Kind == FactChunk {
		_, ch := c.Chunks.Find(lo)
		if ch.Min.Compare(lo) != 0 || ch.Max.Compare(hi) != 0 {
			return map[string]string{"exists": "false"}
		}
		return map[string]string{"exists": "true", "shard": ch.Shard, "lastmod": ch.Version.String(), "jumbo": strconv.FormatBool(ch.Jumbo)}
	}
	from, to := c.Chunks.Overlap(shardkey.Range{Min: lo, Max: hi})
	here, shards, edges := 0, []string(nil), from < to
	for i, ch := range c.Chunks.Range(from, to) {
		shards = append(shards, ch.Shard)
		if ch.Shard == f.Shard {
			here++
		}
		edges = edges && (i > from || ch.Min.Compare(lo) == 0) && (i+1 < to || ch.Max.Compare(hi) == 0)
	}
	if f.Kind == FactHeld {
		return map[string]string{"chunks": strconv.Itoa(here)}
	}
	natural.Sort(shards)
	return map[string]string{
		"shards": strings.Join(slices.Compact(shards), ","),
		"chunks": strconv.Itoa(to - from),
		"edges":  strconv.FormatBool(edges),
	}
}

func zoneFields(c *topology.Collection, zones []topology.ZoneRange, f Fact) map[string]string {
	r, err := c.Key.Range(f.Min, f.Max)
	if err != nil {
		return map[string]string{}
	}
	var others []string
	for _, z := range OverlappingRanges(zones, r.Min, r.Max) {
		others = append(others, fmt.Sprintf("%s: %s → %s", z.Zone, c.Key.Display(z.Min), c.Key.Display(z.Max)))
	}
	return map[string]string{"ranges": strconv.Itoa(len(others)), "others": strings.Join(others, "; ")}
}

// overlapping returns the zone ranges that overlap [lo, hi), in key order.
func OverlappingRanges(zones []topology.ZoneRange, lo, hi shardkey.Key) []topology.ZoneRange {
	var out []topology.ZoneRange
	for _, z := range zones {
		if !z.Min.IsZero() && z.Min.Compare(hi) < 0 && z.Max.Compare(lo) > 0 {
			out = append(out, z)
		}
	}
	return out
}

// UUIDText formats a UUID in the usual form; "" for none.
func UUIDText(u [16]byte) string {
	if u == [16]byte{} {
		return ""
	}
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// TimestampText formats a timestamp as mongosh does; "" for none.
func TimestampText(t bson.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("Timestamp(%d, %d)", t.T, t.I)
}

func epochText(id bson.ObjectID) string {
	if id.IsZero() {
		return ""
	}
	return id.Hex()
}

// Joined joins names as facts and sentences have them.
func Joined[S ~string](names []S) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}

// drainFields returns the fields of FactRemains and FactSpare.
func drainFields(t *topology.Table, f Fact) map[string]string {
	if f.Kind == FactSpare {
		return map[string]string{
			"others": strconv.FormatBool(len(t.Staying(f.Shard)) > 0), "onlyOf": Joined(t.OnlyShardOf(f.Shard)),
		}
	}
	left := t.RemainsOn(f.Shard)
	if !left.Known {
		return map[string]string{}
	}
	return RemainsFields(left.Chunks+len(left.Unsharded), len(left.Databases))
}

// RemainsFields are the fields of FactRemains.
func RemainsFields(chunks, databases int) map[string]string {
	return map[string]string{"chunks": strconv.Itoa(chunks), "databases": strconv.Itoa(databases)}
}

// DatabaseFields returns the fields of FactDatabase.
func DatabaseFields(t *topology.Table, db string) map[string]string {
	for _, d := range t.Databases {
		if d.Name == db {
			return map[string]string{"exists": "true", "primary": d.Primary, "version": databaseVersionText(d.Version)}
		}
	}
	return map[string]string{"exists": "false"}
}

// databaseVersionText is UUID and number of a version; "" when it is not known.
func databaseVersionText(v topology.DatabaseVersion) string {
	if v == (topology.DatabaseVersion{}) {
		return ""
	}
	return fmt.Sprintf("%s|%d", UUIDText(v.UUID), v.LastMod)
}

// PlaceFields returns the fields of FactPlace. A collection that is neither sharded nor
// tracked is on the primary shard of its database, and has no uuid here.
func PlaceFields(t *topology.Table, ns topology.Namespace) map[string]string {
	if c := t.Collection(ns); c != nil {
		out := map[string]string{"exists": "true", "sharded": strconv.FormatBool(!c.Unsplittable), "shard": "",
			"uuid": UUIDText(c.Incarnation.UUID)}
		if c.Unsplittable {
			out["shard"] = t.Home(ns)
		}
		return out
	}
	if !slices.Contains(t.Unsharded, ns) {
		return map[string]string{"exists": "false"}
	}
	return map[string]string{"exists": "true", "sharded": "false", "shard": t.Primary(ns.Database()), "uuid": ""}
}
