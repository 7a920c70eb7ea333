package data

import (
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Layouts compares every database that the profile matches with its nearest layout,
// or those that the query chooses.
func Layouts(v answer.View, p *profile.Profile, q LayoutQuery) (api.List[api.Layout], error) {
	out := api.List[api.Layout]{Items: []api.Layout{}}
	dbs, err := q.databases(v, p)
	if err != nil {
		return out, err
	}
	for _, db := range dbs {
		out.Items = append(out.Items, layoutOf(p, p.DriftOf(v.Table, db, q.Layout)))
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	return out, nil
}

func layoutOf(p *profile.Profile, d profile.Drift) api.Layout {
	out := api.Layout{
		DB: d.DB, Profile: p.Name, Nearest: d.Nearest, Compared: d.Layout.Name, Looks: d.Looks(), Listed: d.Actual.Listed,
		Layouts: []api.LayoutScore{}, Findings: answer.Map(d.Findings, layoutFinding),
		Verdict: layoutVerdict(d), Detail: layoutDetail(d),
	}
	for i, s := range d.Scores {
		out.Layouts = append(out.Layouts, api.LayoutScore{
			Layout: s.Layout, Since: p.Layouts[i].Since, Agree: s.Agree, Differ: s.Differ, Extra: s.Extra, Points: s.Points,
		})
	}
	out.Collections = answer.Map(layoutNames(d), func(name string) api.LayoutCollection { return layoutCollection(p, d, name) })
	out.Grouped = groupedFindings(d.Findings)
	return out
}

// layoutCollection is one collection here and in every layout.
func layoutCollection(p *profile.Profile, d profile.Drift, name string) api.LayoutCollection {
	want, known := d.Layout.Collection(name)
	state, key := d.Actual.Of(name)
	_, ours := p.Collection(name)
	out := api.LayoutCollection{NS: d.DB + "." + name, State: string(state), StateText: state.Label(),
		Key: answer.TextOrNull(key), Expected: answer.TextOrNull(want.Expected), Known: known, Judged: state == profile.Sharded || !ours}
	for _, l := range p.Layouts {
		cell := api.LayoutCell{Layout: l.Name}
		c, has := l.Collection(name)
		switch {
		case !has:
			cell.Text = format.Unknown
		case c.Unjudged:
			cell.Text = "any"
		case c.Expected == "":
			cell.Text, cell.Same = profile.Unsharded.Label(), state == profile.Unsharded
		default:
			cell.Key, cell.Same = c.Expected, state == profile.Sharded && key == c.Expected
		}
		out.Judged = out.Judged || has && c.Scope != profile.ScopeCluster
		out.Layouts = append(out.Layouts, cell)
	}
	return out
}

// LayoutQuery chooses what is compared with what; the zero value is every
// matched database with its nearest layout.
type LayoutQuery struct{ DB, Layout string }

// Parameters are those of an address, with the layouts of a profile; nil for their description.
func (q *LayoutQuery) Parameters(p *profile.Profile) param.List {
	return param.List{
		param.Text(&q.DB, "db", "one database only"),
		param.Of("layout", "compare with this layout, not the nearest", func(name string) error {
			q.Layout = name
			if _, ok := p.Layout(name); !ok {
				names := answer.Map(p.Layouts, func(l profile.Layout) string { return l.Name })
				return fault.New(fault.Invalid, "There is no layout %q; known are %s.", sanitize.Truncate(name, 60), strings.Join(names, ", "))
			}
			return nil
		}),
	}
}

// databases are those that the profile matches, or the one asked for.
func (q LayoutQuery) databases(v answer.View, p *profile.Profile) ([]string, error) {
	all := p.Match(v.Table)
	if q.DB == "" {
		return all, nil
	}
	if !slices.Contains(all, q.DB) {
		return nil, fault.New(fault.NotFound, "The database %q does not hold %s and %s. Databases that do: %d.",
			sanitize.Truncate(q.DB, 60), p.Names.Collection, p.Keys.Collection, len(all))
	}
	return []string{q.DB}, nil
}

// layoutNames are the collections of the compared layout in its order, then
// what the database has beside them.
func layoutNames(d profile.Drift) []string {
	out := answer.Map(d.Layout.Collections, func(c profile.Collection) string { return c.Name })
	for _, name := range d.Actual.Names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
