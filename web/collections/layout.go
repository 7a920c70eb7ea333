package collections

import (
	"net/http"
	"net/url"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// LayoutPage compares the matched databases with the layouts of the profile;
// ?layout= chooses another one than the nearest, ?db= one database.
func LayoutPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, p := s.ViewFor(r), s.Deps.Cluster.Profile
	var q data.LayoutQuery
	err := q.Parameters(p).Read(r.URL.Query())
	if err != nil {
		return err
	}
	state := answer.PartState(v, topology.PartRouting)
	var out api.List[api.Layout]
	if v.Table.Loaded {
		if out, err = data.Layouts(v, p, q); err != nil {
			return err
		}
		if len(out.Items) == 0 {
			state = spread.NoDatabase(p)
		}
	}
	sh := s.Shell(r, v, "layout", "Layout", "collections")
	return site.WritePage(w, r, http.StatusOK, layoutPage(sh, LayoutRegion(state, r.URL.RequestURI(), out.Items),
		s.Deps.Cluster.Kept != nil && s.Deps.Cluster.Kept.Using(), auth.From(r.Context()).May(auth.Admin)))
}

// layouts is the same comparison.
func layouts(s *site.Site, r *http.Request) (a api.List[api.Layout], err error) {
	v, err := s.Loaded(r)
	if err != nil {
		return a, err
	}
	var q data.LayoutQuery
	if err := q.Parameters(s.Deps.Cluster.Profile).Read(r.URL.Query()); err != nil {
		return a, err
	}
	return data.Layouts(v, s.Deps.Cluster.Profile, q)
}

// layoutURL compares a database with a layout.
func layoutURL(l api.Layout, name string) string {
	return "/layout?" + url.Values{"db": {l.DB}, "layout": {name}}.Encode()
}

// layoutName is a layout's name beside others of the same profile.
func layoutName(l api.Layout, name string) string {
	if len(l.Layouts) == 1 {
		return "Expected"
	}
	return strings.TrimPrefix(name, l.Profile+"-")
}

// here is a collection's shard key in the database, or what it is without one.
func here(c api.LayoutCollection) (key, text string) {
	if c.Key != nil {
		return *c.Key, ""
	}
	return "", c.StateText
}

func sentences(list []message.Message) string {
	var out []string
	for _, m := range list {
		out = append(out, m.String())
	}
	return strings.Join(out, " ")
}
