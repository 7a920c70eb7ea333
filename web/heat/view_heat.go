package heat

import (
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// heatPage words one window of one collection.
func heatPage(v answer.View, prof *profile.Profile, w heat.Window, q answer.HeatQuery, load map[string]heat.Load, writes func() map[string]float64) Heat {
	c := v.Table.Collection(w.NS)
	m := Heat{NS: string(w.NS), Name: w.NS.Collection(), Windows: windowLinks(q)}
	changed := w.Method == heat.ChangedRows
	m.Counts = w.Method.String()
	m.Lead = words.T("heat.lead."+w.Method.String(), "rate", answer.RateText(w.Total), "name", m.NS, "window", format.Span(max(q.Window, answer.Shortest(w.Method))))
	how := words.T("heat.whole")
	switch {
	case changed:
		how = words.T("heat.dated")
		m.Notes = append(m.Notes, templates.State{Code: "partial", Title: words.T("heat.changed"), Detail: words.T("heat.changed.detail", "n", strconv.Itoa(heat.HottestProjects), "name", m.Name)})
	case w.Total.AtLeast:
		how = words.T("heat.atleast")
	case !w.Total.Exact:
		how = words.T("heat.sampled")
	}
	m.Measured = words.T("heat.measured", "how", how, "from", format.Clock(w.From), "to", format.Clock(w.To),
		"covered", format.Count(int64(w.Seconds)), "seconds", format.Count(int64(w.To.Sub(w.From).Seconds())))
	r := parts.RefsOf(v.Table)
	shards := w.Shards(v.Table, prof)
	m.Chunks = hotChunks(v, prof, w, c, r, answer.ByShard(shards), writes)
	m.Projects = hotProjects(v, w)
	m.Documents = hotDocuments(v, prof, w, r)
	m.NoDocuments = changed || len(m.Documents) == 0 && len(m.Projects) > 0
	for _, l := range shards {
		m.Shards = append(m.Shards, hotShard(w.Method, l, r, load))
	}
	if !changed {
		skewFacts(&m, w.Skew(v.Table, prof), w.Growing(v.Table), c)
	}
	if w.Total.Rows == 0 {
		m.Notes = append(m.Notes, templates.State{Code: "empty", Title: words.T("heat.none." + w.Method.String()), Detail: words.T("heat.none.detail."+w.Method.String(), "name", m.NS)})
	}
	return m
}

func hotChunks(v answer.View, prof *profile.Profile, w heat.Window, c *topology.Collection, r parts.Refs, shards map[string]float64, writes func() map[string]float64) (out []templates.HeatChunk) {
	lines := answer.First(w.Chunks(v.Table, prof), answer.ShownHot)
	splits := w.Splittings(v.Table, prof, lines)
	for i, l := range lines {
		chunk := c.Chunks.At(l.Chunk)
		share := 0.0
		if all := shards[chunk.Shard]; all > 0 {
			share = l.Rate.PerSecond / all
		}
		line := templates.HeatChunk{
			Key: answer.ChunkKey(c.Key, chunk.Min), Shard: r.Of(chunk.Shard), Share: share,
			Name: words.T("heat.chunk", "n", format.Count(int64(l.Chunk+1)), "of", format.Count(int64(c.Chunks.Len()))),
			URL:  answer.ChunkURL(c.NS, answer.ChunkRef(c, chunk.Min)),
			Takes: words.T("heat.chunk.takes."+w.Method.String(), "share", format.Share(share), "shard", chunk.Shard, "rate", answer.RateText(l.Rate),
				"name", c.NS.Collection(), "all", format.Share(l.Rate.Share)),
		}
		if l.Projects > 0 {
			top := answer.ProjectName(v, c.NS, l.Top)
			line.Who = words.Plural("heat.chunk.projects."+w.Method.String(), int64(l.Projects), "n", format.Count(int64(l.Projects)), "share", format.Share(l.TopShare), "project", top)
			if l.Projects == 1 {
				line.Who += " " + words.T("heat.chunk.only", "project", top)
			}
		}
		line.Split = answer.SplitText(c, splits[i])
		helping(&line, v.Table, c, l.Chunk, splits[i], writes)
		out = append(out, line)
	}
	return out
}

func hotProjects(v answer.View, w heat.Window) (out []HeatRow) {
	for _, l := range answer.First(w.Projects(), answer.ShownHot) {
		row := HeatRow{Key: l.Project.Hex(), Name: answer.ProjectName(v, w.NS, l.Project), URL: "/projects/" + l.Project.Hex(), Rate: rateCell(w.Method, l.Rate), How: answer.HowText(l.Rate)}
		row.Mono = row.Name == row.Key
		if _, ok := v.Dir.In(w.NS.Database(), l.Project); !ok {
			row.URL = "/locate?q=" + row.Key
		}
		out = append(out, row)
	}
	return out
}

func hotDocuments(v answer.View, prof *profile.Profile, w heat.Window, r parts.Refs) (out []HeatRow) {
	for _, l := range answer.First(w.Documents(), answer.ShownHot) {
		row := HeatRow{Key: l.Document.Hex(), Name: l.Document.Hex(), Mono: true, URL: "/locate?q=" + l.Document.Hex(),
			Rate: rateCell(w.Method, l.Rate), How: answer.HowText(l.Rate)}
		if _, ok := v.Dir.In(w.NS.Database(), l.Project); ok {
			row.Of, row.OfURL = answer.ProjectName(v, w.NS, l.Project), "/projects/"+l.Project.Hex()
		}
		if shard := heat.OwnerOf(v.Table, prof, w.NS, l); shard != "" {
			ref := r.Of(shard)
			row.Shard = &ref
		}
		out = append(out, row)
	}
	return out
}

func hotShard(m heat.Method, l heat.Line, r parts.Refs, load map[string]heat.Load) HeatShard {
	row := HeatShard{Shard: r.Of(l.Shard), Rate: rateCell(m, l.Rate), How: answer.HowText(l.Rate)}
	row.All = templates.Figure{Text: format.Unknown}
	row.Reads, row.Latency = templates.Figure{Text: format.Unknown}, templates.Figure{Text: format.Unknown}
	if o, ok := load[l.Shard]; ok && o.Known {
		row.Reads = templates.Figure{Known: true, Text: answer.PerSecond(o.ReadsPerSecond), Title: words.T("heat.col.reads.title")}
		row.All = templates.Figure{Known: true, Text: answer.PerSecond(o.WritesPerSecond), Title: words.T("heat.col.all.title")}
		if o.WritesPerSecond > 0 {
			row.Latency = templates.Figure{Known: true, Text: words.T("heat.ms", "n", answer.PerSecond(answer.Millis(o.WriteLatency))), Title: words.T("heat.col.latency.title")}
		}
	}
	return row
}

func skewFacts(m *Heat, s heat.Skew, g heat.Growing, c *topology.Collection) {
	fact := func(name, text, title string) {
		m.Skew = append(m.Skew, templates.Fact{Name: name, Figure: templates.Figure{Known: true, Text: text, Title: title}})
	}
	times := func(i heat.Index) string { return words.T("heat.skew.times", "n", answer.PerSecond(i.MaxMean)) }
	if s.Shards.Most > 0 {
		fact(words.T("heat.skew.shards", "n", strconv.Itoa(s.Shards.N)), answer.Two(s.Shards.Gini), words.T("heat.skew.title"))
		fact(words.T("heat.skew.max.shards"), times(s.Shards), "")
		fact(words.T("heat.skew.chunks", "n", format.Count(int64(s.Chunks.N))), answer.Two(s.Chunks.Gini), words.T("heat.skew.title"))
		fact(words.T("heat.skew.max.chunks"), times(s.Chunks), "")
		switch {
		case s.Shards.MaxMean >= 1.5:
			m.SkewText = words.T("heat.skew.uneven", "n", answer.PerSecond(s.Shards.MaxMean))
		case s.Chunks.Gini >= 0.7:
			m.SkewText = words.T("heat.skew.chunky")
		default:
			m.SkewText = words.T("heat.skew.even")
		}
	}
	switch {
	case g.Is:
		m.Growing = templates.State{Code: "failed", Title: words.T("heat.growing"), Detail: words.T("heat.growing.detail", "share", format.Share(g.Share),
			"rows", format.Count(g.Rows), "of", strconv.Itoa(g.Of), "slots", strconv.Itoa(g.Slots), "field", g.Field, "shard", g.Shard)}
	case c.Key.Fields()[0].Hashed:
		m.GrowingText = words.T("heat.growing.hashed")
	case g.Rows > 0:
		m.GrowingText = words.T("heat.growing.not")
	}
}

func rateCell(m heat.Method, r heat.Rate) templates.Cell {
	return templates.Cell{Figure: templates.Figure{Known: true, Text: answer.RateText(r), Title: answer.RateTitle(m, r)}, Share: r.Share, ShareText: format.Share(r.Share), Bar: r.Share, Even: -1}
}

// spanStart is how the API takes the begin of a span.
func spanStart(d time.Duration) string { return "-" + answer.Short(d) }
