package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// allParts is every part of a table, in the order in which they are told.
var allParts = [...]topology.Part{
	topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones, topology.PartSettings,
	topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections,
	topology.PartDisks, topology.PartMoves,
}

func (s *Site) apiCluster(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	t := v.Table
	out := api.Cluster{
		ClusterID: t.ClusterID, Target: s.deps.Target, ServerVersion: t.ServerInfo.Version,
		Version: s.deps.Version, Demo: s.deps.Demo, Seq: t.Seq,
		Shards: len(t.Shards), Databases: []api.Database{}, Routers: []api.Router{},
		Balancer:  balancerOf(t.Balancer),
		Freshness: freshnessOf(v, topology.PartRouting, topology.PartShards),
	}
	for _, d := range t.Databases {
		out.Databases = append(out.Databases, api.Database{Name: d.Name, Primary: d.Primary})
	}
	load := loadOf(t)
	var bytes, documents, chunks sum
	for i := range load.shards {
		bytes.add(load.bytes[i])
		documents.add(load.documents[i])
		chunks.add(load.chunks[i])
	}
	out.Bytes, out.Documents = figureOf(bytes.figure()), figureOf(documents.figure())
	out.Collections, out.Chunks = load.collections, int(chunks.value)
	for _, c := range t.Collections {
		if visible(c) {
			out.Jumbo += c.Chunks.Jumbo()
		}
	}
	out.Zones = len(zoneNames(t))
	for _, m := range t.Routers {
		out.Routers = append(out.Routers, api.Router{Host: m.Host, Version: m.Version, Ping: api.Time(m.Ping)})
	}
	for _, p := range allParts {
		out.Parts = append(out.Parts, partOf(v, p))
	}
	out.Problems = problemSummaryOf(v, v.problems())
	return writeJSON(w, http.StatusOK, out)
}

// partOf tells a part's health; a cause from the driver is not shown, its
// sentence is.
func partOf(v View, p topology.Part) api.Part {
	h := v.Table.Health[p]
	out := api.Part{Part: string(p), OK: h.Err == nil && !h.At.IsZero(), Stale: v.Table.Stale(p, v.Now), At: api.Time(h.At), Privilege: h.Privilege}
	if h.Err != nil {
		out.Reason = fault.Text(h.Err)
	}
	return out
}

func balancerOf(b topology.Balancer) api.Balancer {
	out := api.Balancer{
		Mode: b.Mode, WindowStart: b.WindowStart, WindowStop: b.WindowStop,
		ChunkBytes: b.ChunkBytes, ChunkDefault: b.ChunkDefault,
	}
	if b.Known {
		on := b.Enabled()
		out.Enabled = &on
	}
	if b.StatusKnown {
		out.InRound, out.Rounds = &b.InRound, &b.Rounds
	}
	return out
}
