package overview

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// ClusterJSON is the cluster in one object.
func ClusterJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	out := answer.Cluster(v)
	out.Target, out.Version, out.Demo = s.Deps.Target, s.Deps.Version, s.Deps.Demo
	return site.WriteJSON(w, http.StatusOK, out)
}

// ShardsJSON is the list of shards.
func ShardsJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	out, err := site.PageOf(r, answer.Shards(v),
		func(sh api.Shard) string { return sh.Name },
		func(sh api.Shard) api.Shard { return sh })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartShards, topology.PartRouting)
	return site.WriteJSON(w, http.StatusOK, out)
}
