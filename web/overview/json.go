package overview

import (
	"net/http"

	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// cluster is the cluster in one object.
func cluster(s *site.Site, r *http.Request) (a api.Cluster, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	out := problems.Cluster(v)
	out.Target, out.Version, out.Demo = s.Deps.Cluster.Target, s.Deps.Version, s.Deps.Demo
	return out, nil
}
