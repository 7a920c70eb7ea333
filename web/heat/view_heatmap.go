package heat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// heatPicture is the key visualizer's part of the page.
func heatPicture(s *site.Site, v answer.View, q answer.HeatQuery, how heat.Method) HeatMap {
	m := HeatMap{Counts: how.String(), NS: string(q.Ns), By: string(q.By), From: spanStart(q.Span), Window: answer.Short(q.Window), Lead: words.T("heat.map.lead." + string(q.By)), Shards: parts.ShardRefs(v.Table)}
	if how == heat.ChangedRows {
		m.CountedText = "Rows changed in place, once a minute and of the " + strconv.Itoa(heat.HottestProjects) + " hottest projects only: a cell says at least so many, and where none of their rows were counted nothing is known."
	}
	for _, by := range []keyvis.By{keyvis.ByKey, keyvis.ByProject} {
		to := q
		to.By = by
		m.ByLinks = append(m.ByLinks, HeatLink{Text: words.T("heat.map.by." + string(by)), URL: to.Address() + "#heat-map", Current: by == q.By})
	}
	for _, d := range answer.HeatSpans() {
		to := q
		to.Span = d
		m.Spans = append(m.Spans, HeatLink{Text: format.Span(d), URL: to.Address() + "#heat-map", Current: d == q.Span})
	}
	if s.Deps.Pictures == nil {
		m.State = templates.State{Code: "empty", Title: "Writes are not counted here", Detail: "This shardboard runs without a heat collector."}
		return m
	}
	p, ok := s.Deps.Pictures.View(q.Ns, q.By, v.Now.Add(-q.Span), v.Now)
	if !ok || len(p.Columns) == 0 {
		m.State = templates.State{Code: "loading", Title: "No picture yet", Detail: "It gets a column each minute while shardboard runs; the first one is made within two minutes. Nothing is known of the time before."}
		return m
	}
	m.Astray = answer.AstrayText(p)
	tableOf(&m, v, q, p)
	return m
}

func tableOf(m *HeatMap, v answer.View, q answer.HeatQuery, p keyvis.View) {
	from := max(0, len(p.Columns)-answer.TableColumns)
	for i := len(p.Columns) - 1; i >= from; i-- {
		c := p.Columns[i]
		m.Heads = append(m.Heads, HeatHead{Text: c.From.Format("15:04"), Title: format.Stamp(c.From) + " + " + format.Span(c.Step)})
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
	c, r := v.Table.Collection(q.Ns), parts.RefsOf(v.Table)
	for _, row := range answer.First(rows, answer.TableRows) {
		line := tableRow(v, c, r, p, row)
		for i := len(p.Columns) - 1; i >= from; i-- {
			line.Cells = append(line.Cells, cellFigure(p, row, i))
		}
		m.Rows = append(m.Rows, line)
	}
}

func tableRow(v answer.View, c *topology.Collection, r parts.Refs, p keyvis.View, row int) HeatCells {
	if p.By == keyvis.ByProject {
		id := p.IDs[row]
		out := HeatCells{Key: id.Hex(), Name: templates.Cut(answer.ProjectName(v, p.NS, id), 28), URL: "/projects/" + id.Hex()}
		if _, ok := v.Dir.In(p.NS.Database(), id); !ok {
			out.URL = "/locate?q=" + id.Hex()
		}
		return out
	}
	at, chunk := c.Chunks.Find(p.Bounds[row])
	ref := r.Of(c.Chunks.Owner(at))
	return HeatCells{Key: answer.ChunkKey(c.Key, p.Bounds[row]), Name: parts.Bound(c.Key, p.Bounds[row]), URL: answer.ChunkURL(c.NS, answer.ChunkRef(c, chunk.Min)), Shard: &ref}
}

func cellFigure(p keyvis.View, row, i int) templates.Figure {
	rate, ok := p.PerSecond(row, i)
	if !ok {
		return templates.Figure{Text: format.Unknown, Title: "not known"}
	}
	col := p.Columns[i]
	f := templates.Figure{Known: true, Text: answer.PerSecond(rate), Approx: col.Sampled || col.Shared}
	switch {
	case col.Hottest:
		f.Text, f.Title = "≥\u202f"+f.Text, "of the hottest projects only"
	case col.Capped:
		f.Text, f.Title = "≥\u202f"+f.Text, "at least"
	case col.Sampled:
		f.Title = "from 1 s in 10"
	case col.Shared:
		f.Title = "rows were wider then"
	}
	if part := col.Covered.Seconds() / col.Step.Seconds(); part < 0.95 && f.Title == "" {
		f.Title = fmt.Sprintf("%s %% of the time counted", strconv.Itoa(int(math.Round(part*100))))
	}
	return f
}
