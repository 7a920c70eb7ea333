package overview

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
)

func ApiCluster(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	t := v.Table
	out := api.Cluster{
		ClusterID: t.ClusterID, Target: s.Deps.Target, ServerVersion: t.ServerInfo.Version,
		Version: s.Deps.Version, Demo: s.Deps.Demo, Seq: t.Seq,
		Shards: len(t.Shards), Databases: []api.Database{}, Routers: []api.Router{},
		Balancer:  answer.BalancerOf(t.Balancer),
		Freshness: answer.FreshnessOf(v, topology.PartRouting, topology.PartShards),
	}
	for _, d := range t.Databases {
		out.Databases = append(out.Databases, api.Database{Name: d.Name, Primary: d.Primary})
	}
	load := parts.LoadOf(t)
	var bytes, documents, chunks answer.Sum
	for i := range load.Shards {
		bytes.Add(load.Bytes[i])
		documents.Add(load.Documents[i])
		chunks.Add(load.Chunks[i])
	}
	out.Bytes, out.Documents = answer.FigureOf(bytes.Figure()), answer.FigureOf(documents.Figure())
	out.Collections, out.Chunks = load.Collections, int(chunks.Value)
	for _, c := range t.Collections {
		if answer.Visible(c) {
			out.Jumbo += c.Chunks.Jumbo()
		}
	}
	out.Zones = len(answer.ZoneNames(t))
	for _, m := range t.Routers {
		out.Routers = append(out.Routers, api.Router{Host: m.Host, Version: m.Version, Ping: api.Time(m.Ping)})
	}
	for _, p := range answer.AllParts {
		out.Parts = append(out.Parts, answer.PartOf(v, p))
	}
	out.Problems = answer.ProblemSummaryOf(v, v.Problems())
	return site.WriteJSON(w, http.StatusOK, out)
}
