package heat

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/web/templates"
)

func rateCell(ctx context.Context, l api.Heat) templates.Cell {
	return templates.Cell{Figure: templates.Figure{Known: true, Text: writes.HeatRateText(l), Title: templates.Words(ctx, rateTitle(l))},
		Share: l.Share, ShareText: format.Share(l.Share), Bar: l.Share, Even: -1}
}

// shareOf is a share, or that it is not known.
func shareOf(share *float64) templates.Figure {
	if share == nil {
		return templates.Figure{Text: format.Unknown}
	}
	return templates.Figure{Known: true, Text: format.Share(*share)}
}

// rateTitle says how a rate was counted.
func rateTitle(l api.Heat) string {
	switch {
	case l.Counts == heat.ChangedRows.String():
		return "at least: rows of the hottest projects by their date; a row that changed twice counts once"
	case l.AtLeast:
		return "at least: the reading budget ended before the rows did"
	case l.Exact:
		return "counted: all"
	}
	return "from 1 s in 10; ± is half of the 95 % interval"
}

// counted is rateTitle in a word.
func counted(l api.Heat) string {
	switch {
	case l.AtLeast:
		return "at least"
	case l.Exact:
		return "all"
	}
	return "1 s in 10"
}

const (
	readsTitle       = "from the shard's own counters for this collection, since the previous read, half a minute to a minute ago"
	writesTitle      = "write operations of all projects on this collection, from the shard's own counters, over the last minute"
	readLatencyTitle = "mean time of a read of this collection on the shard, since the previous read, half a minute to a minute ago"
	latencyTitle     = "mean time of a write to this collection on the shard, since the previous read, half a minute to a minute ago"
)

func perSecond(rate *float64, title string) templates.Figure {
	if rate == nil {
		return templates.Figure{Text: format.Unknown}
	}
	return templates.Figure{Known: true, Text: format.PerSecond(*rate), Title: title}
}

// latency is known of a shard that was written to.
func latency(l api.Heat) templates.Figure {
	if l.WriteMillis == nil || l.WriteOperationsPerSecond == nil || *l.WriteOperationsPerSecond <= 0 {
		return templates.Figure{Text: format.Unknown}
	}
	return templates.Figure{Known: true, Text: format.PerSecond(*l.WriteMillis) + " ms", Title: latencyTitle}
}

// meanTime is a mean time, which is not known without operations.
func meanTime(ms *float64) templates.Figure {
	if ms == nil {
		return templates.Figure{Text: format.Unknown}
	}
	return templates.Figure{Known: true, Text: format.PerSecond(*ms) + " ms"}
}

// readLatency is known of a shard that was read from.
func readLatency(l api.Heat) templates.Figure {
	if l.ReadMillis == nil || l.ReadsPerSecond == nil || *l.ReadsPerSecond <= 0 {
		return templates.Figure{Text: format.Unknown}
	}
	return templates.Figure{Known: true, Text: format.PerSecond(*l.ReadMillis) + " ms", Title: readLatencyTitle}
}

// projectURL is a project's page, or where its id is explained if the list of projects
// does not have it.
func (m page) projectURL(id string) string {
	if url := m.say.URL(message.Project("", id, "")); url != "" {
		return url
	}
	return "/locate?q=" + id
}

// skew are the measures of how evenly the writes are spread.
func skew(s heat.Skew) (out []templates.Fact) {
	if s.Shards.Most <= 0 {
		return nil
	}
	add := func(name, text, title string) {
		out = append(out, templates.Fact{Name: name, Figure: templates.Figure{Known: true, Text: text, Title: title}})
	}
	for _, x := range []struct {
		name  string
		index heat.Index
	}{{"shard", s.Shards}, {"chunk", s.Chunks}} {
		over := fmt.Sprintf("Gini over %s %s%s", format.Count(int64(x.index.N)), x.name, message.Plural(x.index.N, "", "s"))
		add(over, strconv.FormatFloat(x.index.Gini, 'f', 2, 64), "0 when all take the same, near 1 when one takes all")
		add("hottest "+x.name, format.PerSecond(x.index.MaxMean)+"× the mean", "")
	}
	return out
}

// columnHead is a column's begin, with the full time behind it.
func columnHead(c api.HeatSpan) (text, title string) {
	return c.From.Format("15:04"), format.Stamp(c.From) + " + " + format.Span(time.Duration(c.Seconds)*time.Second)
}

// cell is a rate of the picture, with what is unsure about its column.
func cell(c api.HeatSpan, rate *float64) templates.Figure {
	if rate == nil {
		return templates.Figure{Text: format.Unknown, Title: "not known"}
	}
	f := templates.Figure{Known: true, Text: format.PerSecond(*rate), Title: c.How, Approx: c.Sampled || c.Shared}
	if c.AtLeast || c.Hottest {
		f.Text = "≥\u202f" + f.Text
	}
	return f
}

// rowHead names a row of the picture by its project, its chunk or its key, and leads to the project or the chunk.
func (m page) rowHead(r api.HeatRow, bound shardkey.Key) (name templates.Key, url string) {
	if m.Query.By == keyvis.ByProject {
		return templates.Cut(r.Label, 28), m.projectURL(r.Project)
	}
	if r.Ref != "" { // not hidden
		url = answer.ChunkURL(m.Query.NS, "."+r.Ref)
	}
	text := answer.BoundText(m.Picture.Pattern, bound)
	if r.Project != "" || r.Hashed {
		return templates.Key{Short: capital(writes.ChunkNumbers(r.Number, r.Chunks)), Full: text}, url
	}
	return templates.BoundKey(text), url
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
