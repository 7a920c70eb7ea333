package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// layoutQuery chooses what is compared with what; the zero value is every
// matched database with its nearest layout.
type layoutQuery struct{ DB, Layout string }

func layoutQueryOf(p *profile.Profile, in url.Values) (q layoutQuery, err error) {
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
func (q layoutQuery) databases(v View, p *profile.Profile) ([]string, error) {
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

// layoutView answers "is it sharded as the schema means it to be?".
func layoutView(v View, p *profile.Profile, q layoutQuery) (templates.LayoutModel, error) {
	m := templates.LayoutModel{State: partState(v, "routing")}
	if !v.Table.Loaded {
		return m, nil
	}
	dbs, err := q.databases(v, p)
	if err != nil {
		return m, err
	}
	if len(dbs) == 0 {
		m.State = noDatabase(p)
		return m, nil
	}
	for _, db := range dbs {
		m.Databases = append(m.Databases, layoutDB(p, p.DriftOf(v.Table, db, q.Layout)))
	}
	return m, nil
}

// noDatabase says what was looked for in vain.
func noDatabase(p *profile.Profile) templates.State {
	return templates.State{Code: "empty", Title: words.T("projects.nodatabase"),
		Detail: words.T("projects.nodatabase.detail", "projects", p.Names.Collection, "documents", p.Keys.Collection, "field", p.Keys.Project)}
}

func layoutDB(p *profile.Profile, d profile.Drift) templates.LayoutDB {
	m := templates.LayoutDB{DB: d.DB, Level: "ok", Compared: d.Layout.Name}
	n := d.Looks()
	if m.Verdict = words.T("layout.fine", "db", d.DB, "layout", d.Layout.Name); n > 0 {
		m.Level = "note"
		m.Verdict = words.Plural("layout.drift", int64(n), "db", d.DB, "layout", d.Layout.Name, "n", strconv.Itoa(n))
	}
	if d.Older {
		m.Verdict = words.T("layout.older", "db", d.DB, "layout", d.Layout.Name)
	}
	switch {
	case d.Layout.Name != d.Nearest:
		m.Detail = words.T("layout.chosen", "layout", d.Layout.Name, "nearest", d.Nearest)
	case len(d.Scores) > 1:
		m.Detail = words.T("layout.nearest", "n", strconv.Itoa(len(d.Scores))) + " " + words.T("layout.choose")
	}
	if !d.Actual.Listed {
		m.Detail += " " + words.T("layout.unlisted")
	}
	if len(p.Layouts) > 1 {
		for _, l := range slices.Backward(p.Layouts) { // oldest first, as time goes
			m.Columns = append(m.Columns, templates.LayoutColumn{
				Name: strings.TrimPrefix(l.Name, p.Name+"-"), Title: l.Name, Since: l.Since, Nearest: l.Name == d.Nearest, Compared: l.Name == d.Layout.Name,
				URL: "/layout?" + url.Values{"db": {d.DB}, "layout": {l.Name}}.Encode(),
			})
		}
	} else {
		m.Columns = []templates.LayoutColumn{{Name: words.T("layout.expected"), Title: d.Layout.Name, Nearest: true, Compared: true}}
	}
	for _, name := range layoutNames(d) {
		if row, ok := layoutRow(p, d, name); ok {
			m.Rows = append(m.Rows, row)
		}
	}
	m.Findings = together(d.Findings)
	slices.SortStableFunc(m.Findings, func(a, b templates.LayoutFinding) int {
		switch {
		case a.Look == b.Look:
			return 0
		case a.Look:
			return -1
		}
		return 1
	})
	return m
}

// layoutNames are the collections of the compared layout in its order, then
// what the database has beside them.
func layoutNames(d profile.Drift) []string {
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

// layoutRow is one collection here and in every layout. What no layout shards
// and nobody sharded has no place to compare.
func layoutRow(p *profile.Profile, d profile.Drift, name string) (row templates.LayoutRow, ok bool) {
	state, key := d.Actual.Of(name)
	row = templates.LayoutRow{Name: name, Here: key, HereWord: words.T("layout.state." + string(state))}
	if state == profile.Sharded {
		row.URL, row.HereWord = collectionURL(topology.Namespace(d.DB+"."+name)), ""
		ok = true
	}
	for _, l := range slices.Backward(p.Layouts) {
		cell := templates.LayoutCell{Compared: l.Name == d.Layout.Name, Label: l.Name}
		c, has := l.Collection(name)
		switch {
		case !has:
			cell.Word = format.Unknown
		case c.Unjudged:
			cell.Word = words.T("layout.any")
		case c.Expected == "":
			cell.Word, cell.Same = words.T("spread.unsharded"), state == profile.Unsharded
		default:
			cell.Key, cell.Same = c.Expected, state == profile.Sharded && key == c.Expected
		}
		cell.Title = words.T("layout.cell.other")
		if cell.Same {
			cell.Title = words.T("layout.cell.same")
		}
		ok = ok || has && c.Scope != profile.ScopeCluster
		row.Cells = append(row.Cells, cell)
	}
	if _, known := p.Collection(name); !known {
		ok = true
	}
	return row, ok
}
