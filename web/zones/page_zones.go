package zones

import (
	"net/http"

	"shardboard/web/site"
)

// pageZones shows which ranges are bound to which zone, and where that is not so.
func PageZones(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "zones", "Zones", "zones")
	return site.WritePage(w, r, http.StatusOK, ZonesPage(sh, ZonesView(v), s.Offers(r, v.Table).Zones()))
}
