package web

import (
	"cmp"
	"net/http"
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

func (s *Site) apiCollections(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	db := r.URL.Query().Get("db")
	var rows []topology.Namespace
	for ns := range namespaces(v.Table) {
		if db == "" || ns.Database() == db {
			rows = append(rows, ns)
		}
	}
	slices.SortFunc(rows, func(a, b topology.Namespace) int { return cmp.Compare(a, b) })
	out, err := pageOf(r, rows,
		func(ns topology.Namespace) string { return string(ns) },
		func(ns topology.Namespace) api.Collection { return collectionOf(v.Table, ns) })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = asOf(v, topology.PartRouting)
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiCollection(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	ns, err := s.namespace(r, v.Table)
	if err != nil {
		return err
	}
	out := api.CollectionDetail{
		Collection: collectionOf(v.Table, ns), ZoneRanges: []api.ZoneRange{},
		Orphans: orphansOf(v.Table.OrphansOf(ns, v.Now)), ByShard: []api.ShardOrphans{},
		Moving: inFlightOf(v, v.Table.MovingOf(ns)), Freshness: freshnessOf(v, topology.PartRouting),
	}
	if c := v.Table.Collection(ns); c != nil && !c.Unsplittable {
		for _, sh := range v.Table.Shards {
			out.ByShard = append(out.ByShard, api.ShardOrphans{Shard: sh.Name, Orphans: orphansOf(v.Table.OrphansOn(ns, sh.Name, v.Now))})
		}
	}
	for _, z := range v.Table.ZonesOf(ns) {
		out.ZoneRanges = append(out.ZoneRanges, zoneRangeOf(v, z))
	}
	return writeJSON(w, http.StatusOK, out)
}

// namespace is the existing collection that the address names.
func (s *Site) namespace(r *http.Request, t *topology.Table) (topology.Namespace, error) {
	text, err := pathText(r, "ns")
	if err != nil {
		return "", err
	}
	ns := topology.Namespace(text)
	if t.Collection(ns) != nil || slices.Contains(t.Unsharded, ns) {
		return ns, nil
	}
	if ns.Database() == "" || ns.Collection() == "" {
		return "", fault.New(fault.Invalid, "A collection is written database.collection; %q is not.", sanitize.Truncate(text, 100))
	}
	return "", fault.New(fault.NotFound, "No collection is named %q (searched %d sharded and %d other collections).",
		sanitize.Truncate(text, 200), len(t.Collections), len(t.Unsharded))
}

// sharded is the sharded collection that the address names.
func (s *Site) sharded(r *http.Request, t *topology.Table) (*topology.Collection, error) {
	ns, err := s.namespace(r, t)
	if err != nil {
		return nil, err
	}
	c := t.Collection(ns)
	if c == nil {
		return nil, fault.New(fault.NotFound, "%q is not sharded: it has no chunks and is whole on the primary shard of its database.", sanitize.Truncate(string(ns), 200))
	}
	return c, nil
}

func collectionOf(t *topology.Table, ns topology.Namespace) api.Collection {
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
		out.Shards = append(out.Shards, api.ShardPart{Shard: shard, Chunks: counts[shard], Bytes: figureOf(size.Bytes), Documents: figureOf(size.Documents)})
	}
	b, d, _ := sizeOf(t, ns)
	out.Bytes, out.Documents = figureOf(b), figureOf(d)
	for _, z := range t.ZonesOf(ns) {
		if !slices.Contains(out.Zones, z.Zone) {
			out.Zones = append(out.Zones, z.Zone)
		}
	}
	return out
}
