package collections

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/message"
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
	if m.Verdict = fmt.Sprintf("%s is sharded as %s is", d.DB, d.Layout.Name); n > 0 {
		m.Level = "note"
		m.Verdict = message.Plural(int64(n), fmt.Sprintf("%s: %s collection is not sharded as %s is", d.DB, strconv.Itoa(n), d.Layout.Name), fmt.Sprintf("%s: %s collections are not sharded as %s is", d.DB, strconv.Itoa(n), d.Layout.Name))
	}
	if d.Older {
		m.Verdict = fmt.Sprintf("%s is sharded as a newer layout than %s is", d.DB, d.Layout.Name)
	}
	switch {
	case d.Layout.Name != d.Nearest:
		m.Detail = fmt.Sprintf("Compared with %s because it was chosen; the nearest is %s.", d.Layout.Name, d.Nearest)
	case len(d.Scores) > 1:
		m.Detail = "The nearest of " + strconv.Itoa(len(d.Scores)) + " known layouts, going by shard keys first and by which collections exist." + " " + "Choose another to compare with it."
	}
	if !d.Actual.Listed {
		m.Detail += " " + "Which collections exist without being sharded is not known: listing collections is not permitted or not done yet."
	}
	if len(p.Layouts) > 1 {
		for _, l := range slices.Backward(p.Layouts) { // oldest first, as time goes
			m.Columns = append(m.Columns, LayoutColumn{
				Name: strings.TrimPrefix(l.Name, p.Name+"-"), Title: l.Name, Since: l.Since, Nearest: l.Name == d.Nearest, Compared: l.Name == d.Layout.Name,
				URL: "/layout?" + url.Values{"db": {d.DB}, "layout": {l.Name}}.Encode(),
			})
		}
	} else {
		m.Columns = []LayoutColumn{{Name: "Expected", Title: d.Layout.Name, Nearest: true, Compared: true}}
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
			cell.Word = "any"
		case c.Expected == "":
			cell.Word, cell.Same = "not sharded", state == profile.Unsharded
		default:
			cell.Key, cell.Same = c.Expected, state == profile.Sharded && key == c.Expected
		}
		cell.Title = "Not as it is here"
		if cell.Same {
			cell.Title = "As it is here"
		}
		ok = ok || has && c.Scope != profile.ScopeCluster
		row.Cells = append(row.Cells, cell)
	}
	if _, known := p.Collection(name); !known {
		ok = true
	}
	return row, ok
}
