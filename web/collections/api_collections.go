package collections

import (
	"cmp"
	"net/http"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

func ApiCollections(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	db := r.URL.Query().Get("db")
	var rows []topology.Namespace
	for ns := range answer.Namespaces(v.Table) {
		if db == "" || ns.Database() == db {
			rows = append(rows, ns)
		}
	}
	slices.SortFunc(rows, func(a, b topology.Namespace) int { return cmp.Compare(a, b) })
	out, err := site.PageOf(r, rows,
		func(ns topology.Namespace) string { return string(ns) },
		func(ns topology.Namespace) api.Collection { return answer.CollectionOf(v.Table, ns) })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiCollection(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	ns, err := s.Namespace(r, v.Table)
	if err != nil {
		return err
	}
	out := api.CollectionDetail{
		Collection: answer.CollectionOf(v.Table, ns), ZoneRanges: []api.ZoneRange{},
		Orphans: answer.OrphansOf(v.Table.OrphansOf(ns, v.Now)), ByShard: []api.ShardOrphans{},
		Moving: answer.InFlightOf(v, v.Table.MovingOf(ns)), Freshness: answer.FreshnessOf(v, topology.PartRouting),
	}
	if c := v.Table.Collection(ns); c != nil && !c.Unsplittable {
		for _, sh := range v.Table.Shards {
			out.ByShard = append(out.ByShard, api.ShardOrphans{Shard: sh.Name, Orphans: answer.OrphansOf(v.Table.OrphansOn(ns, sh.Name, v.Now))})
		}
	}
	for _, z := range v.Table.ZonesOf(ns) {
		out.ZoneRanges = append(out.ZoneRanges, answer.ZoneRangeOf(v, z))
	}
	return site.WriteJSON(w, http.StatusOK, out)
}
