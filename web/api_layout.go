package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// apiLayout compares every matched database, or ?db=, with its nearest layout,
// or with ?layout=.
func (s *Site) apiLayout(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loaded(r)
	if err != nil {
		return err
	}
	q, err := layoutQueryOf(s.deps.Profile, r.URL.Query())
	if err != nil {
		return err
	}
	dbs, err := q.databases(v, s.deps.Profile)
	if err != nil {
		return err
	}
	out := api.List[api.Layout]{Items: []api.Layout{}}
	for _, db := range dbs {
		out.Items = append(out.Items, layoutOf(s.deps.Profile, s.deps.Profile.DriftOf(v.Table, db, q.Layout)))
	}
	out.AsOf, out.Stale = asOf(v, topology.PartRouting)
	return writeJSON(w, http.StatusOK, out)
}

func layoutOf(p *profile.Profile, d profile.Drift) api.Layout {
	out := api.Layout{
		DB: d.DB, Profile: p.Name, Nearest: d.Nearest, Compared: d.Layout.Name, Looks: d.Looks(), Listed: d.Actual.Listed,
		Layouts: []api.LayoutScore{}, Collections: []api.LayoutCollection{}, Findings: []api.LayoutFinding{},
	}
	for i, s := range d.Scores {
		out.Layouts = append(out.Layouts, api.LayoutScore{
			Layout: s.Layout, Since: p.Layouts[i].Since, Agree: s.Agree, Differ: s.Differ, Extra: s.Extra, Points: s.Points,
		})
	}
	for _, name := range layoutNames(d) {
		want, known := d.Layout.Collection(name)
		state, key := d.Actual.Of(name)
		out.Collections = append(out.Collections, api.LayoutCollection{
			NS: d.DB + "." + name, State: string(state), Key: textOrNull(key), Expected: textOrNull(want.Expected), Known: known,
		})
	}
	for _, f := range d.Findings {
		out.Findings = append(out.Findings, api.LayoutFinding{
			Code: f.Code, NS: string(f.NS), Key: textOrNull(f.Have), Expected: textOrNull(f.Want), Look: f.Look,
			Layout: f.Layout, Variant: f.Variant, Means: findingMeans(f), Todo: findingTodo(f), Fix: f.Fix.Code, Commands: notNil(f.Fix.Commands),
		})
	}
	return out
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
