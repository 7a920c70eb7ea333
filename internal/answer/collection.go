package answer

import (
	"cmp"
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Collection is one collection in detail, sharded or not.
func Collection(v View, ns topology.Namespace) (api.CollectionDetail, error) {
	if err := findCollection(v.Table, ns); err != nil {
		return api.CollectionDetail{}, err
	}
	t := v.Table
	out := api.CollectionDetail{
		Collection: collectionOf(t, ns), ZoneRanges: []api.ZoneRange{},
		Orphans: orphansOf(t.OrphansOf(ns, v.Now)), ByShard: []api.ShardOrphans{},
		Moving: InFlightOf(v, t.MovingOf(ns)), Freshness: freshnessOf(v, topology.PartRouting),
	}
	var shards []string
	for _, sh := range t.Shards {
		shards = append(shards, sh.Name)
		if out.Sharded {
			out.ByShard = append(out.ByShard, api.ShardOrphans{Shard: sh.Name, Orphans: orphansOf(t.OrphansOn(ns, sh.Name, v.Now))})
		}
	}
	for _, z := range t.ZonesOf(ns) {
		out.ZoneRanges = append(out.ZoneRanges, zoneRangeOf(v, z))
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

// findCollection refuses a name that no collection has.
func findCollection(t *topology.Table, ns topology.Namespace) error {
	switch {
	case t.Collection(ns) != nil || slices.Contains(t.Unsharded, ns):
		return nil
	case ns.Database() == "" || ns.Collection() == "":
		return fault.New(fault.Invalid, "A collection is written as database.collection, not %q.", sanitize.Truncate(string(ns), 100))
	}
	return fault.New(fault.NotFound, "No collection is named %q (searched %d sharded and %d other collections).",
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
	return nil, fault.New(fault.NotFound, "%q is not sharded: it has no chunks; all of it is on shard %s, the primary shard of its database.",
		sanitize.Truncate(string(ns), 200), cmp.Or(t.Primary(ns.Database()), format.Unknown))
}
