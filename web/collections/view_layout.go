package collections

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/words"
)

// layoutView answers "is it sharded as the schema means it to be?".
func LayoutView(v answer.View, p *profile.Profile, q answer.LayoutQuery) (LayoutModel, error) {
	m := LayoutModel{State: parts.PartState(v, "routing")}
	if !v.Table.Loaded {
		return m, nil
	}
	dbs, err := q.Databases(v, p)
	if err != nil {
		return m, err
	}
	if len(dbs) == 0 {
		m.State = site.NoDatabase(p)
		return m, nil
	}
	for _, db := range dbs {
		m.Databases = append(m.Databases, layoutDB(p, p.DriftOf(v.Table, db, q.Layout)))
	}
	return m, nil
}

func layoutDB(p *profile.Profile, d profile.Drift) LayoutDB {
	m := LayoutDB{DB: d.DB, Level: "ok", Compared: d.Layout.Name}
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
			m.Columns = append(m.Columns, LayoutColumn{
				Name: strings.TrimPrefix(l.Name, p.Name+"-"), Title: l.Name, Since: l.Since, Nearest: l.Name == d.Nearest, Compared: l.Name == d.Layout.Name,
				URL: "/layout?" + url.Values{"db": {d.DB}, "layout": {l.Name}}.Encode(),
			})
		}
	} else {
		m.Columns = []LayoutColumn{{Name: words.T("layout.expected"), Title: d.Layout.Name, Nearest: true, Compared: true}}
	}
	for _, name := range answer.LayoutNames(d) {
		if row, ok := layoutRow(p, d, name); ok {
			m.Rows = append(m.Rows, row)
		}
	}
	m.Findings = together(d.Findings)
	slices.SortStableFunc(m.Findings, func(a, b LayoutFinding) int {
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

// layoutRow is one collection here and in every layout. What no layout shards
// and nobody sharded has no place to compare.
func layoutRow(p *profile.Profile, d profile.Drift, name string) (row LayoutRow, ok bool) {
	state, key := d.Actual.Of(name)
	row = LayoutRow{Name: name, Here: key, HereWord: words.T("layout.state." + string(state))}
	if state == profile.Sharded {
		row.URL, row.HereWord = answer.CollectionURL(topology.Namespace(d.DB+"."+name)), ""
		ok = true
	}
	for _, l := range slices.Backward(p.Layouts) {
		cell := LayoutCell{Compared: l.Name == d.Layout.Name, Label: l.Name}
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
