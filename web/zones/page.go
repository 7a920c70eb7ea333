// Package zones shows which ranges are bound to which shards, and where that is not so.
package zones

import (
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page shows all zones.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "zones", "Zones", "zones")
	return site.WritePage(w, r, http.StatusOK, page(sh, Region(v), s.Offers(r, v.Table).Zones()))
}

// Region is the part of the page that is updated live.
func Region(v answer.View) templ.Component { return region(answer.Zones(v), templates.RefsOf(v.Table)) }
