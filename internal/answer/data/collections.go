// Package data answers what is stored: collections, their chunks with sizes and owners, layouts, duplicates and
// damaged metadata.
package data

import (
	"cmp"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// namesKey and collectionsKey are the keys of what is kept of a table's collections.
type (
	namesKey       struct{}
	collectionsKey struct{}
)

// namesOf are all collections by name, damaged ones too. Read only.
func namesOf(v answer.View) []topology.Namespace {
	return answer.OncePerTable(v, namesKey{}, func() []topology.Namespace {
		names := slices.Collect(answer.Namespaces(v.Table))
		for d := range v.Table.Missing {
			names = append(names, d.NS)
		}
		natural.Sort(names)
		return names
	})
}

// everyCollection are all collections by name. Read only.
func everyCollection(v answer.View) []api.Collection {
	return answer.OncePerTable(v, collectionsKey{}, func() []api.Collection {
		return answer.Map(namesOf(v), func(ns topology.Namespace) api.Collection { return collectionOf(v.Table, ns) })
	})
}

// Collections are all collections by name, or those of one database, with their part
// on each shard. The items are read only.
func Collections(v answer.View, db string) api.Collections {
	var out api.Collections
	out.Items = everyCollection(v)
	if db != "" {
		out.Items = slices.DeleteFunc(slices.Clone(out.Items), func(c api.Collection) bool { return topology.Namespace(c.NS).Database() != db })
	}
	sharded, chunks := 0, 0
	for i := range out.Items {
		c := &out.Items[i]
		switch {
		case c.System:
			out.System++
		case c.Sharded:
			sharded++
			chunks += c.Chunks
		}
	}
	if sharded > 0 {
		out.Summary = message.New("collections.summary",
			message.Plural(sharded, "1 sharded collection in ", "{n} sharded collections in ")+
				message.Plural(chunks, "1 chunk on ", "{chunks} chunks on ")+message.Plural(len(v.Table.Shards), "1 shard.", "{shards} shards."),
			message.Count("n", sharded), message.Count("chunks", chunks), message.Count("shards", len(v.Table.Shards)))
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	out.Incomplete = UnreadCollections(v)
	return out
}

// UnreadCollections says which collections are missing in lists and sums, because they could not be read or their
// routing table is damaged; "" if none is.
func UnreadCollections(v answer.View) string {
	text := withoutDamaged(v.Table)
	switch s := answer.PartState(v, topology.PartCollections); s.Code {
	case "", "stale":
		return text
	default:
		return strings.TrimSpace(text + " " + s.Title + ". " + s.Detail)
	}
}

// collectionOf is one collection with its part on each shard that has one.
func collectionOf(t *topology.Table, ns topology.Namespace) api.Collection {
	out := api.Collection{
		NS: string(ns), Primary: t.Primary(ns.Database()),
		System: answer.System(t, ns), Zones: []string{}, Counts: CountsOf(t, ns),
	}
	counts := map[string]int{}
	if c := t.Collection(ns); c != nil {
		counts = c.Chunks.CountByShard()
		out.Sharded, out.Key, out.KeyText = !c.Unsplittable, api.Document(c.Key.Raw()), c.Key.String()
		out.UUID, out.Version, out.Unique = answer.UUIDText(c.Incarnation.UUID), VersionOf(c.Highest), c.Unique
		out.Chunks, out.Jumbo = c.Chunks.Len(), c.Chunks.Jumbo()
		out.JumboAsOf = api.Time(t.FlagsRead[ns])
		out.NoBalance, out.MigrationsBlocked = c.NoBalance, c.MigrationsBlocked
		out.Resharding, out.Unsplittable = c.Resharding, c.Unsplittable
		upkeepOf(t, c, &out)
		if x := c.Series; x.Exists() {
			out.TimeSeries = &api.TimeSeries{Name: string(topology.SeriesName(ns)), TimeField: x.TimeField, MetaField: x.MetaField,
				Granularity: x.Granularity, SpanSeconds: x.Span()}
		}
	}
	if d := t.DamageOf(ns); d != nil {
		out.Damage = DamageOf(d)
		out.Sharded, out.Key, out.KeyText = !d.Unsplittable, api.Document(d.Key.Raw()), d.Key.String()
	}
	out.Shards = shardParts(t, ns, answer.Holders(t, ns), counts)
	if !out.Sharded {
		out.Home = shardParts(t, ns, []string{t.Home(ns)}, counts)[0]
	}
	b, d, _ := answer.SizeOf(t, ns)
	out.Bytes, out.Documents = answer.FigureOf(b), answer.FigureOf(d)
	for _, z := range t.ZonesOf(ns) {
		if !slices.Contains(out.Zones, z.Zone) {
			out.Zones = append(out.Zones, z.Zone)
		}
	}
	return out
}

// CountsOf is what is counted as documents of a collection.
func CountsOf(t *topology.Table, ns topology.Namespace) string {
	if t.CountsBuckets(ns) {
		return "buckets"
	}
	return "documents"
}

// shardParts are a collection's parts on some shards; counts has its chunks by shard.
func shardParts(t *topology.Table, ns topology.Namespace, shards []string, counts map[string]int) []api.ShardPart {
	out := make([]api.ShardPart, 0, len(shards))
	var bytes int64
	chunks := 0
	for _, n := range counts {
		chunks += n
	}
	for _, shard := range shards {
		size := t.SizeOn(ns, shard)
		if size.Bytes.Known {
			bytes += size.Bytes.Value
		}
		out = append(out, api.ShardPart{Shard: shard, Chunks: counts[shard], Bytes: answer.FigureOf(size.Bytes),
			Documents:  answer.FigureOf(size.Documents),
			ChunkShare: answer.Share(int64(counts[shard]), int64(chunks)), ByteShare: -1})
	}
	for i, part := range out {
		if part.Bytes.Value != nil {
			out[i].ByteShare = answer.Share(*part.Bytes.Value, bytes)
		}
	}
	return out
}

// Collection is one collection in detail, sharded or not.
func Collection(v answer.View, ns topology.Namespace) (api.CollectionDetail, error) {
	if err := findCollection(v.Table, ns); err != nil {
		return api.CollectionDetail{}, err
	}
	t := v.Table
	if c := t.Collection(ns); c != nil {
		ns = c.NS
	} else if d := t.DamageOf(ns); d != nil {
		ns = d.NS
	}
	out := api.CollectionDetail{
		Collection: collectionOf(t, ns), ZoneRanges: []api.ZoneRange{},
		Orphans: OrphansOf(t.OrphansOf(ns, v.Now)), ByShard: []api.ShardOrphans{},
		Moving: logbook.InFlightOf(v, t.MovingOf(ns)), Freshness: answer.FreshnessOf(v, topology.PartRouting),
	}
	out.Deletions = answer.DeletionsHeld(v, func(h topology.HeldDeletion) (topology.HeldDeletion, bool) { return h, h.NS == ns })
	var shards []string
	for _, sh := range t.Shards {
		shards = append(shards, sh.Name)
		if out.Sharded {
			out.ByShard = append(out.ByShard, api.ShardOrphans{Shard: sh.Name, Orphans: OrphansOf(t.OrphansOn(ns, sh.Name, v.Now))})
		}
	}
	for _, z := range t.ZonesOf(ns) {
		out.ZoneRanges = append(out.ZoneRanges, answer.ZoneRangeOf(v, z))
	}
	if c := t.Collection(ns); c != nil {
		out.EveryShard = shardParts(t, ns, shards, c.Chunks.CountByShard())
		out.ChunkBytes = c.MaxChunkBytes
	}
	if out.ChunkBytes == 0 {
		out.ChunkBytes = t.Balancer.ChunkBytes
	}
	if out.Bytes.Value != nil && out.Chunks > 0 {
		mean := *out.Bytes.Value / int64(out.Chunks)
		out.BytesPerChunk = out.Bytes
		out.BytesPerChunk.Value = &mean
	}
	return out, nil
}

// findCollection refuses a name that no collection has. Before the table is loaded nobody knows.
func findCollection(t *topology.Table, ns topology.Namespace) error {
	switch {
	case t.Collection(ns) != nil || t.DamageOf(ns) != nil || slices.Contains(t.Unsharded, ns):
		return nil
	case ns.Database() == "" || ns.Collection() == "":
		return fault.New(fault.Invalid, "A collection is written as database.collection, not %q.", sanitize.Truncate(string(ns), 100))
	case !t.Loaded:
		return t.NotLoaded()
	}
	return fault.New(fault.NotFound, "No collection is named %q (searched: %d sharded, %d not sharded).",
		sanitize.Truncate(string(ns), 200), len(t.Collections), len(t.Unsharded))
}

// ShardedCollection is the routing of a collection that has chunks.
func ShardedCollection(t *topology.Table, ns topology.Namespace) (*topology.Collection, error) {
	if c := t.Collection(ns); c != nil {
		return c, nil
	}
	if err := findCollection(t, ns); err != nil {
		return nil, err
	}
	if d := t.DamageOf(ns); d != nil {
		err := &fault.Error{Kind: fault.Conflict, Text: rules.DamageText(d).String()}
		switch {
		case d.NoRoom != nil:
			err.Advice = rules.MoreMemory
		case d.Kind == topology.DamageUnread:
			err.Advice = "It is read again until that works."
		default:
			err.Text += " MongoDB refuses every operation on it until that is repaired."
			err.Advice = "The problems say what is known of it and who can repair it."
		}
		return nil, err
	}
	return nil, fault.New(fault.NotFound, "%q is not sharded: it has no chunks; all of it is on shard %s, the primary shard of its database.",
		sanitize.Truncate(string(ns), 200), cmp.Or(t.Primary(ns.Database()), format.Unknown))
}
