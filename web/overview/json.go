package overview

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// cluster is the cluster in one object.
func cluster(s *site.Site, r *http.Request) (a api.Cluster, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	out := answer.Cluster(v)
	out.Target, out.Version, out.Demo = s.Deps.Target, s.Deps.Version, s.Deps.Demo
	return out, nil
}

// shards is the list of shards.
func shards(s *site.Site, r *http.Request) (a api.List[api.Shard], err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	out, err := site.PageOf(r, answer.Shards(v),
		func(sh api.Shard) string { return sh.Name },
		func(sh api.Shard) api.Shard { return sh })
	if err != nil {
		return a, err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartShards, topology.PartRouting)
	return out, nil
}
