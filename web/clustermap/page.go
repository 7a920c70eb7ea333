package clustermap

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/mapped"
	"shardboard/internal/answer/param"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page is the map of all collections, or of a part of one.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := param.Read[mapped.MapQuery](r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = answer.ParseInternal(r.URL.Query()); err != nil {
		return err
	}
	picture, err := mapped.PictureMap(s.MapView(v), q, mapped.MapRows)
	if err != nil {
		return err
	}
	m := page{MapView: templates.MapOf(v, picture), region: viewRegion(s.MapView(v), picture)}
	if r.URL.RawQuery != "" {
		m.region.live = r.URL.RequestURI()
	}
	return site.WritePage(w, r, http.StatusOK, mapPage(s.Shell(r, v, "map", "Map", "map", "maptable"), m))
}

// page is the picture and what is updated live around it.
type page struct {
	templates.MapView
	region region
}

// region is the headline and the table.
type region struct {
	templates.MapView
	live    string // own address of a page that is not that of everybody
	version string // of all that the map shows
}

func viewRegion(v mapped.MapView, p mapped.MapPicture) region {
	out := region{MapView: templates.MapOf(v.View, p)}
	if v.Table.Loaded {
		out.version = mapped.MapVersion(v, p.Map)
	}
	return out
}

// draw draws a part of the page that is updated live. The picture is not in it: its script
// reads what changed when the version does.
func draw(part func(region) templ.Component) func(context.Context, *site.Site, answer.View, string) (templ.Component, error) {
	return func(_ context.Context, s *site.Site, v answer.View, _ string) (templ.Component, error) {
		p, err := mapped.PictureMap(s.MapView(v), mapped.MapQuery{By: mapped.MapByShard, To: 1}, mapped.MapRows)
		if err != nil {
			return nil, err
		}
		return part(viewRegion(s.MapView(v), p)), nil
	}
}
