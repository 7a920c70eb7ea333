package answer

import (
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

func CollectionOf(t *topology.Table, ns topology.Namespace) api.Collection {
	out := api.Collection{
		NS: string(ns), Primary: t.Primary(ns.Database()),
		System: system(t, ns), Shards: []api.ShardPart{}, Zones: []string{},
	}
	counts := map[string]int{}
	if c := t.Collection(ns); c != nil {
		counts = c.Chunks.CountByShard()
		out.Sharded, out.Key = !c.Unsplittable, api.Document(c.Key.Raw())
		out.UUID, out.Version, out.Unique = uuidOf(c.Incarnation.UUID), versionOf(c.Highest), c.Unique
		out.Chunks, out.Jumbo = c.Chunks.Len(), c.Chunks.Jumbo()
		out.NoBalance, out.MigrationsBlocked = c.NoBalance, c.MigrationsBlocked
		out.Resharding, out.Unsplittable = c.Resharding, c.Unsplittable
	}
	for _, shard := range holders(t, ns) {
		size := t.SizeOn(ns, shard)
		out.Shards = append(out.Shards, api.ShardPart{Shard: shard, Chunks: counts[shard], Bytes: FigureOf(size.Bytes), Documents: FigureOf(size.Documents)})
	}
	b, d, _ := SizeOf(t, ns)
	out.Bytes, out.Documents = FigureOf(b), FigureOf(d)
	for _, z := range t.ZonesOf(ns) {
		if !slices.Contains(out.Zones, z.Zone) {
			out.Zones = append(out.Zones, z.Zone)
		}
	}
	return out
}
