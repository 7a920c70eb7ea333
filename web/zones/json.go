package zones

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// JSON is the list of zones for scripts.
func JSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	if err := answer.Known(v, topology.PartZones, "Zones"); err != nil {
		return err
	}
	out, err := site.PageOf(r, answer.Zones(v).Items,
		func(z api.Zone) string { return z.Zone },
		func(z api.Zone) api.Zone { return z })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartZones, topology.PartShards)
	return site.WriteJSON(w, http.StatusOK, out)
}
