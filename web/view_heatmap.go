package web

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// The table that stands for the picture: its hottest rows, its newest columns.
const (
	tableRows    = 20
	tableColumns = 8
)

// heatPicture is the key visualizer's part of the page.
func (s *Site) heatPicture(v View, q heatQuery, how heat.Method) templates.HeatMap {
	m := templates.HeatMap{Counts: how.String(), NS: string(q.ns), By: string(q.by), From: spanStart(q.span), Window: short(q.window), Lead: words.T("heat.map.lead." + string(q.by)), Shards: shardRefs(v.Table)}
	if how == heat.ChangedRows {
		m.CountedText = words.T("heat.map.changed", "n", strconv.Itoa(heat.HottestProjects))
	}
	for _, by := range []keyvis.By{keyvis.ByKey, keyvis.ByProject} {
		to := q
		to.by = by
		m.ByLinks = append(m.ByLinks, templates.HeatLink{Text: words.T("heat.map.by." + string(by)), URL: to.address() + "#heat-map", Current: by == q.by})
	}
	for _, d := range heatSpans() {
		to := q
		to.span = d
		m.Spans = append(m.Spans, templates.HeatLink{Text: format.Span(d), URL: to.address() + "#heat-map", Current: d == q.span})
	}
	if s.deps.Pictures == nil {
		m.State = templates.State{Code: "empty", Title: words.T("heat.off"), Detail: words.T("heat.off.detail")}
		return m
	}
	p, ok := s.deps.Pictures.View(q.ns, q.by, v.Now.Add(-q.span), v.Now)
	if !ok || len(p.Columns) == 0 {
		m.State = templates.State{Code: "loading", Title: words.T("heat.map.empty"), Detail: words.T("heat.map.empty.text")}
		return m
	}
	m.Astray = astrayText(p)
	tableOf(&m, v, q, p)
	return m
}

// astrayText says what the picture's rows do not have.
func astrayText(p keyvis.View) string {
	var n int64
	for _, c := range p.Columns {
		n += c.Astray
	}
	if n == 0 {
		return ""
	}
	return words.T("heat.map.astray."+string(p.By), "n", format.Count(n))
}

func tableOf(m *templates.HeatMap, v View, q heatQuery, p keyvis.View) {
	from := max(0, len(p.Columns)-tableColumns)
	for i := len(p.Columns) - 1; i >= from; i-- {
		c := p.Columns[i]
		m.Heads = append(m.Heads, templates.HeatHead{Text: c.From.Format("15:04"), Title: format.Stamp(c.From) + " + " + format.Span(c.Step)})
	}
	sums := make([]float64, p.Rows())
	rows := make([]int, p.Rows())
	for row := range rows {
		rows[row] = row
		for i := from; i < len(p.Columns); i++ {
			if rate, ok := p.PerSecond(row, i); ok {
				sums[row] += rate
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	c, r := v.Table.Collection(q.ns), refsOf(v.Table)
	for _, row := range first(rows, tableRows) {
		line := tableRow(v, c, r, p, row)
		for i := len(p.Columns) - 1; i >= from; i-- {
			line.Cells = append(line.Cells, cellFigure(p, row, i))
		}
		m.Rows = append(m.Rows, line)
	}
}

func tableRow(v View, c *topology.Collection, r refs, p keyvis.View, row int) templates.HeatCells {
	if p.By == keyvis.ByProject {
		id := p.IDs[row]
		out := templates.HeatCells{Key: id.Hex(), Name: templates.Cut(projectName(v, p.NS, id), 28), URL: "/projects/" + id.Hex()}
		if _, ok := v.Dir.In(p.NS.Database(), id); !ok {
			out.URL = "/locate?q=" + id.Hex()
		}
		return out
	}
	at, chunk := c.Chunks.Find(p.Bounds[row])
	ref := r.of(c.Chunks.Owner(at))
	return templates.HeatCells{Key: chunkKey(c.Key, p.Bounds[row]), Name: bound(c.Key, p.Bounds[row]), URL: chunkURL(c.NS, chunkRef(c, chunk.Min)), Shard: &ref}
}

func cellFigure(p keyvis.View, row, i int) templates.Figure {
	rate, ok := p.PerSecond(row, i)
	if !ok {
		return templates.Figure{Text: format.Unknown, Title: words.T("heat.map.unknown")}
	}
	col := p.Columns[i]
	f := templates.Figure{Known: true, Text: perSecond(rate), Approx: col.Sampled || col.Shared}
	switch {
	case col.Hottest:
		f.Text, f.Title = "≥\u202f"+f.Text, words.T("heat.map.is.hottest")
	case col.Capped:
		f.Text, f.Title = "≥\u202f"+f.Text, words.T("heat.map.is.atleast")
	case col.Sampled:
		f.Title = words.T("heat.map.is.sampled")
	case col.Shared:
		f.Title = words.T("heat.map.is.shared")
	}
	if part := col.Covered.Seconds() / col.Step.Seconds(); part < 0.95 && f.Title == "" {
		f.Title = words.T("heat.map.is.part", "n", strconv.Itoa(int(math.Round(part*100))))
	}
	return f
}
