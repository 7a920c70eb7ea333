package web

import (
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// collectionLinks are the collections that are counted, those of new rows apart
// from those of changed ones.
func collectionLinks(q heatQuery, all []heat.Coverage) (out []templates.HeatGroup) {
	counted := 0
	for _, method := range []heat.Method{heat.NewRows, heat.ChangedRows} {
		group := templates.HeatGroup{Name: words.T("heat.counts." + method.String()), Title: words.T("heat.counts." + method.String() + ".title")}
		for _, c := range all {
			if c.Not == "" && c.Method == method {
				counted++
				to := q
				to.ns = c.NS
				group.Links = append(group.Links, templates.HeatLink{Text: string(c.NS), URL: to.address(), Current: c.NS == q.ns})
			}
		}
		if len(group.Links) > 0 {
			out = append(out, group)
		}
	}
	if counted < 2 {
		return nil // nothing to choose
	}
	return out
}

// shownUncounted bounds the list of those that are not: a cluster may have
// thousands of collections that no profile knows.
const shownUncounted = 100

// uncounted lists the others, with the reason.
func uncounted(m *templates.Heat, t *topology.Table, q heatQuery, all []heat.Coverage) {
	n := int64(0)
	for _, c := range all {
		if c.Not == "" {
			continue
		}
		if n++; n <= shownUncounted {
			m.Uncounted = append(m.Uncounted, templates.HeatUncounted{NS: string(c.NS), Why: uncountedText(c)})
		}
	}
	var own int64
	for _, c := range t.Collections {
		if !topology.IsInternal(c.NS) {
			continue
		}
		if own++; q.internal {
			m.Uncounted = append(m.Uncounted, templates.HeatUncounted{NS: string(c.NS), Why: words.T("internal.uncounted")})
			n++
		}
	}
	m.Folded = foldedNote("collections", q.address(), int(own), q.internal)
	m.UncountedText = words.Plural("heat.not", n, "n", format.Count(n))
}

func uncountedText(c heat.Coverage) string { return words.Code("heat.not", string(c.Not), nil) }
