package answer

import (
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
)

func LayoutOf(p *profile.Profile, d profile.Drift) api.Layout {
	out := api.Layout{
		DB: d.DB, Profile: p.Name, Nearest: d.Nearest, Compared: d.Layout.Name, Looks: d.Looks(), Listed: d.Actual.Listed,
		Layouts: []api.LayoutScore{}, Collections: []api.LayoutCollection{}, Findings: []api.LayoutFinding{},
	}
	for i, s := range d.Scores {
		out.Layouts = append(out.Layouts, api.LayoutScore{
			Layout: s.Layout, Since: p.Layouts[i].Since, Agree: s.Agree, Differ: s.Differ, Extra: s.Extra, Points: s.Points,
		})
	}
	for _, name := range LayoutNames(d) {
		want, known := d.Layout.Collection(name)
		state, key := d.Actual.Of(name)
		out.Collections = append(out.Collections, api.LayoutCollection{
			NS: d.DB + "." + name, State: string(state), Key: textOrNull(key), Expected: textOrNull(want.Expected), Known: known,
		})
	}
	for _, f := range d.Findings {
		out.Findings = append(out.Findings, api.LayoutFinding{
			Code: f.Code, NS: string(f.NS), Key: textOrNull(f.Have), Expected: textOrNull(f.Want), Look: f.Look,
			Layout: f.Layout, Variant: f.Variant, Means: FindingMeans(f), Todo: FindingTodo(f), Fix: f.Fix.Code, Commands: NotNil(f.Fix.Commands),
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

// layoutQuery chooses what is compared with what; the zero value is every
// matched database with its nearest layout.
type LayoutQuery struct{ DB, Layout string }

func LayoutQueryOf(p *profile.Profile, in url.Values) (q LayoutQuery, err error) {
	if q.DB, err = text(in, "db"); err != nil {
		return q, err
	}
	if q.Layout, err = text(in, "layout"); err != nil || q.Layout == "" {
		return q, err
	}
	if _, ok := p.Layout(q.Layout); !ok {
		var names []string
		for _, l := range p.Layouts {
			names = append(names, l.Name)
		}
		return q, fault.New(fault.Invalid, "There is no layout %q; known are %s.", sanitize.Truncate(q.Layout, 60), strings.Join(names, ", "))
	}
	return q, nil
}

// databases are those that the profile matches, or the one asked for.
func (q LayoutQuery) Databases(v View, p *profile.Profile) ([]string, error) {
	all := p.Match(v.Table)
	if q.DB == "" {
		return all, nil
	}
	if !slices.Contains(all, q.DB) {
		return nil, fault.New(fault.NotFound, "The database %q does not hold %s and %s; %d databases do.",
			sanitize.Truncate(q.DB, 60), p.Names.Collection, p.Keys.Collection, len(all))
	}
	return []string{q.DB}, nil
}

// layoutNames are the collections of the compared layout in its order, then
// what the database has beside them.
func LayoutNames(d profile.Drift) []string {
	var out []string
	for _, c := range d.Layout.Collections {
		out = append(out, c.Name)
	}
	for _, name := range d.Actual.Names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
