package heat

import (
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/words"
)

// collectionLinks are the collections that are counted, those of new rows apart
// from those of changed ones.
func collectionLinks(q answer.HeatQuery, all []heat.Coverage) (out []HeatGroup) {
	counted := 0
	for _, method := range []heat.Method{heat.NewRows, heat.ChangedRows} {
		group := HeatGroup{Name: words.T("heat.counts." + method.String()), Title: words.T("heat.counts." + method.String() + ".title")}
		for _, c := range all {
			if c.Not == "" && c.Method == method {
				counted++
				to := q
				to.Ns = c.NS
				group.Links = append(group.Links, HeatLink{Text: string(c.NS), URL: to.Address(), Current: c.NS == q.Ns})
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

// uncounted lists the others, with the reason.
func uncounted(m *Heat, t *topology.Table, q answer.HeatQuery, all []heat.Coverage) {
	n := int64(0)
	for _, c := range all {
		if c.Not == "" {
			continue
		}
		if n++; n <= answer.ShownUncounted {
			m.Uncounted = append(m.Uncounted, HeatUncounted{NS: string(c.NS), Why: answer.UncountedText(c)})
		}
	}
	var own int64
	for _, c := range t.Collections {
		if !topology.IsInternal(c.NS) {
			continue
		}
		if own++; q.Internal {
			m.Uncounted = append(m.Uncounted, HeatUncounted{NS: string(c.NS), Why: "writes of the server's own collections are not counted"})
			n++
		}
	}
	m.Folded = parts.FoldedNote("collections", q.Address(), int(own), q.Internal)
	m.UncountedText = message.Plural(n, "1 collection is not counted", format.Count(n)+" collections are not counted")
}
