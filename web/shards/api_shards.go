package shards

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/overview"
	"shardboard/web/parts"
	"shardboard/web/site"
)

// apiShard is a shard with everything on it; as CSV for whoever asks so.
func ApiShard(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if site.WantsCSV(r) {
		return ShardCSV(s, w, r)
	}
	v, sh, contents, err := overview.ShardContents(s, r)
	if err != nil {
		return err
	}
	out := api.ShardDetail{
		Shard: overview.ShardOf(parts.LoadOf(v.Table), *sh), Orphans: answer.OrphansOf(v.Table.OrphansAt(sh.Name, v.Now)), Contents: []api.ShardCollection{}, Projects: []api.ShardProject{},
		ByDocument: []api.ShardCollection{}, Moving: answer.InFlightOf(v, v.Table.MovingOn(sh.Name)), Freshness: answer.FreshnessOf(v, topology.PartShards, topology.PartRouting),
	}
	internal, err := answer.InternalOf(r.URL.Query())
	if err != nil {
		return err
	}
	listed, hidden := answer.FoldContents(contents.Collections, internal)
	out.Hidden = hidden
	for _, c := range listed {
		out.Contents = append(out.Contents, answer.CollectionOnOf(v.Table, c))
	}
	for _, c := range contents.ByDocument {
		out.ByDocument = append(out.ByDocument, answer.CollectionOnOf(v.Table, c))
	}
	for _, p := range contents.Projects {
		row := api.ShardProject{ID: p.Project.ID.Hex(), Name: p.Project.Name, DB: p.Project.DB, Share: answer.ShareOf(p.Share), RowShare: answer.RowShareOf(p.Rows), Whole: p.Whole, Collections: []api.ShardProjectPart{}}
		for _, part := range p.Collections {
			row.Collections = append(row.Collections, api.ShardProjectPart{NS: string(part.NS), Chunks: part.Chunks, Of: part.Of})
		}
		out.Projects = append(out.Projects, row)
	}
	return site.WriteJSON(w, http.StatusOK, out)
}
