package web

import (
	"net/http"

	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageZones shows which ranges are bound to which zone, and where that is not so.
func (s *Site) pageZones(w http.ResponseWriter, r *http.Request) error {
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	sh := s.shell(r, v, "zones", words.T("nav.zones"), "zones")
	return writePage(w, r, http.StatusOK, templates.ZonesPage(sh, zonesView(v), s.offers(r, v.Table).zones()))
}
