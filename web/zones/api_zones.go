package zones

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

func ApiZones(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	if err := answer.Known(v, topology.PartZones, "Zones"); err != nil {
		return err
	}
	out, err := site.PageOf(r, answer.ZoneNames(v.Table),
		func(zone string) string { return zone },
		func(zone string) api.Zone { return answer.ZoneOf(v, zone) })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartZones, topology.PartShards)
	return site.WriteJSON(w, http.StatusOK, out)
}
