package heat

import (
	"fmt"
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
	how := "Every new row was counted"
	switch {
	case changed:
		how = "Rows were counted by the date of their last change"
		m.Notes = append(m.Notes, templates.State{Code: "partial", Title: "At least so many, of the hottest projects only", Detail: fmt.Sprintf("Rows of %s are changed in place and no index finds them by the date of the change. Once a minute those of the %s projects with most new rows are counted; what others change is not known, and a row that changed twice in the minute counts once. Shares are of what was counted.", m.Name, strconv.Itoa(heat.HottestProjects))})
	case w.Total.AtLeast:
		how = "At least so many: more was written than may be read for counting,"
	case !w.Total.Exact:
		how = "One second in ten was counted"
	}
	m.Measured = fmt.Sprintf("%s from %s to %s, %s of %s s.", how, format.Clock(w.From), format.Clock(w.To), format.Count(int64(w.Seconds)), format.Count(int64(w.To.Sub(w.From).Seconds())))
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
			Name: fmt.Sprintf("Chunk %s of %s", format.Count(int64(l.Chunk+1)), format.Count(int64(c.Chunks.Len()))),
			URL:  answer.ChunkURL(c.NS, answer.ChunkRef(c, chunk.Min)),
			Takes: words.T("heat.chunk.takes."+w.Method.String(), "share", format.Share(share), "shard", chunk.Shard, "rate", answer.RateText(l.Rate),
				"name", c.NS.Collection(), "all", format.Share(l.Rate.Share)),
		}
		if l.Projects > 0 {
			top := answer.ProjectName(v, c.NS, l.Top)
			line.Who = words.Plural("heat.chunk.projects."+w.Method.String(), int64(l.Projects), "n", format.Count(int64(l.Projects)), "share", format.Share(l.TopShare), "project", top)
			if l.Projects == 1 {
				line.Who += " " + "It is " + top + "."
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
		row.Reads = templates.Figure{Known: true, Text: answer.PerSecond(o.ReadsPerSecond), Title: "by the shard's own counters for this collection, since the read before, half a minute or a minute ago"}
		row.All = templates.Figure{Known: true, Text: answer.PerSecond(o.WritesPerSecond), Title: "write operations of all projects to this collection, by the shard's own counters, over the last minute"}
		if o.WritesPerSecond > 0 {
			row.Latency = templates.Figure{Known: true, Text: answer.PerSecond(answer.Millis(o.WriteLatency)) + " ms", Title: "mean time of a write to this collection on the shard, since the read before, half a minute or a minute ago"}
		}
	}
	return row
}

func skewFacts(m *Heat, s heat.Skew, g heat.Growing, c *topology.Collection) {
	fact := func(name, text, title string) {
		m.Skew = append(m.Skew, templates.Fact{Name: name, Figure: templates.Figure{Known: true, Text: text, Title: title}})
	}
	times := func(i heat.Index) string { return answer.PerSecond(i.MaxMean) + "× the mean" }
	if s.Shards.Most > 0 {
		fact("Gini over "+strconv.Itoa(s.Shards.N)+" shards", answer.Two(s.Shards.Gini), "0 when all take the same, near 1 when one takes all")
		fact("hottest shard", times(s.Shards), "")
		fact("Gini over "+format.Count(int64(s.Chunks.N))+" chunks", answer.Two(s.Chunks.Gini), "0 when all take the same, near 1 when one takes all")
		fact("hottest chunk", times(s.Chunks), "")
		switch {
		case s.Shards.MaxMean >= 1.5:
			m.SkewText = "Shards share the writes unevenly: the hottest takes " + answer.PerSecond(s.Shards.MaxMean) + " times its part."
		case s.Chunks.Gini >= 0.7:
			m.SkewText = "Few chunks take most of the writes, and they lie on several shards."
		default:
			m.SkewText = "Shards share the writes about evenly."
		}
	}
	switch {
	case g.Is:
		m.Growing = templates.State{Code: "failed", Title: "The shard key grows: inserts always go to the last chunk", Detail: fmt.Sprintf("%s of %s new rows, in %s of %s slices of time, went to the last chunk by %s, which %s owns. Splitting and moving follow the writes and never get ahead; a hashed or another leading field does.", format.Share(g.Share), format.Count(g.Rows), strconv.Itoa(g.Of), strconv.Itoa(g.Slots), g.Field, g.Shard)}
	case c.Key.Fields()[0].Hashed:
		m.GrowingText = "The first field is hashed: inserts cannot pile up at the end of the key space."
	case g.Rows > 0:
		m.GrowingText = "Inserts do not pile up at the end of the key space."
	}
}

func rateCell(m heat.Method, r heat.Rate) templates.Cell {
	return templates.Cell{Figure: templates.Figure{Known: true, Text: answer.RateText(r), Title: answer.RateTitle(m, r)}, Share: r.Share, ShareText: format.Share(r.Share), Bar: r.Share, Even: -1}
}

// spanStart is how the API takes the begin of a span.
func spanStart(d time.Duration) string { return "-" + answer.Short(d) }
