package zones

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// list is the list of zones for scripts.
func list(s *site.Site, r *http.Request) (a api.List[api.Zone], err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	if err := answer.CheckRead(v, topology.PartZones, "Zones"); err != nil {
		return a, err
	}
	out, err := site.PageOf(r, problems.Zones(v).Items,
		func(z api.Zone) string { return z.Zone },
		func(z api.Zone) api.Zone { return z })
	if err != nil {
		return a, err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartZones, topology.PartShards)
	return out, nil
}
