package parts

import (
	"fmt"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// load is what every shard carries: the figures behind the overview.
type Load struct {
	Table       *topology.Table
	Shards      []templates.ShardRef
	Bytes       []topology.Figure // parallel to shards
	Documents   []topology.Figure
	Chunks      []topology.Figure
	Collections int // sharded ones
	unread      int // collections whose sizes are not known yet
	measured    int // collections whose sizes are known
}

// loadOf adds up every collection's part on every shard.
func LoadOf(t *topology.Table) Load {
	l := Load{Table: t, Shards: ShardRefs(t)}
	n := len(l.Shards)
	bytes, docs := make([]answer.Sum, n), make([]answer.Sum, n)
	chunks := make([]int64, n)
	namespaces := append([]topology.Namespace(nil), t.Unsharded...)
	for _, c := range t.Collections {
		if !answer.Visible(c) {
			continue
		}
		namespaces = append(namespaces, c.NS)
		if !answer.Sharded(c) {
			continue
		}
		l.Collections++
		counts := c.Chunks.CountByShard()
		for i, s := range l.Shards {
			chunks[i] += int64(counts[s.Name])
		}
	}
	for _, ns := range namespaces {
		if topology.IsInternal(ns) {
			continue
		}
		if s, ok := t.Sizes[ns]; !ok || s.At.IsZero() {
			l.unread++
		} else {
			l.measured++
		}
		for i, s := range l.Shards {
			size := t.SizeOn(ns, s.Name)
			bytes[i].Add(size.Bytes)
			docs[i].Add(size.Documents)
		}
	}
	if t.Loaded && len(namespaces) == 0 && len(t.Databases) == 0 { // nothing stored is a fact, not a gap
		for i := range l.Shards {
			none := topology.Figure{Known: true, Exact: true, Method: "routing", At: t.Health[topology.PartDatabases].At}
			bytes[i].Add(none)
			docs[i].Add(none)
		}
	}
	for i := range l.Shards {
		l.Bytes = append(l.Bytes, bytes[i].Figure())
		l.Documents = append(l.Documents, docs[i].Figure())
		l.Chunks = append(l.Chunks, topology.Figure{Known: true, Exact: true, Value: chunks[i], Method: "routing"})
	}
	return l
}

// measures are the three stacked bars.
func (l Load) Measures() []templates.Measure {
	return []templates.Measure{
		measure("Data", l.Shards, l.Bytes, BytesFigure),
		measure("Documents", l.Shards, l.Documents, CountFigure),
		measure("Chunks", l.Shards, l.Chunks, CountFigure),
	}
}

func measure(name string, shards []templates.ShardRef, figures []topology.Figure, write func(topology.Figure) templates.Figure) templates.Measure {
	var all answer.Sum
	for _, f := range figures {
		all.Add(f)
	}
	m := templates.Measure{Name: name, Total: write(all.Figure())}
	if all.Value == 0 {
		m.Why = "nothing stored yet"
		if all.Known == 0 {
			m.Why = write(all.Figure()).Title
		}
		return m
	}
	at := 0.0
	var titles []string
	for i, f := range figures {
		if !f.Known || f.Value == 0 {
			continue
		}
		part := answer.Share(f.Value, all.Value)
		p := templates.Part{Shard: shards[i], From: at, Share: part,
			Title: fmt.Sprintf("%s: %s, %s", shards[i].Name, write(f).Text, format.Share(part))}
		switch {
		case part >= 0.09:
			p.Label = shards[i].Label + " · " + format.Share(part)
		case part >= 0.03:
			p.Label = shards[i].Label
		}
		at += part
		m.Parts = append(m.Parts, p)
		titles = append(titles, p.Title)
	}
	m.Label = fmt.Sprintf("%s by shard: %s", name, strings.Join(titles, "; "))
	return m
}

// rows is the shards table.
func (l Load) Rows(v answer.View) []templates.ShardRow {
	bytes, docs, chunks := Cells(l.Bytes, BytesFigure), Cells(l.Documents, CountFigure), Cells(l.Chunks, CountFigure)
	out := make([]templates.ShardRow, len(l.Shards))
	for i, r := range l.Shards {
		s := l.Table.Shards[i]
		out[i] = templates.ShardRow{Shard: r, ReplSet: s.ReplSet, Hosts: s.Hosts, Zones: s.Zones, Draining: s.Draining,
			Bytes: bytes[i], Documents: docs[i], Chunks: chunks[i], Disk: diskCell(v, r.Name)}
	}
	return out
}

// verdict judges by bytes where they are known, else by chunks.
func (l Load) Verdict() (level, text string) {
	figures, of := l.Bytes, "the data"
	for _, f := range l.Bytes {
		if !f.Known {
			figures, of = l.Chunks, "the chunks"
			break
		}
	}
	var total, top int64
	which := 0
	for i, f := range figures {
		total += f.Value
		if f.Value > top {
			top, which = f.Value, i
		}
	}
	switch {
	case len(l.Shards) == 0:
		return "note", "No shards are known"
	case len(l.Shards) == 1:
		return "ok", "One shard: nothing to balance"
	case total == 0:
		return "ok", "Balanced: there is no data yet"
	}
	mean := float64(total) / float64(len(figures))
	over := float64(top)/mean - 1
	args := []string{"shard", l.Shards[which].Name, "share", format.Share(answer.Share(top, total)), "of", of,
		"even", format.Share(1 / float64(len(figures))), "over", format.Share(over)}
	switch {
	case over <= answer.EvenBelow:
		return "ok", words.T("verdict.even", args...)
	case over <= answer.SomewhatBelow:
		return "note", words.T("verdict.somewhat", args...)
	}
	return "note", words.T("verdict.uneven", args...)
}

// size is how big the cluster is, in one line.
func (l Load) Size() string {
	var chunks int64
	for _, f := range l.Chunks {
		chunks += f.Value
	}
	return fmt.Sprintf("%s shards, %s sharded collections, %s chunks.", format.Count(int64(len(l.Shards))), format.Count(int64(l.Collections)), format.Count(chunks))
}

// partial says that the first round of size reads is still under way.
func (l Load) Partial() templates.State {
	if l.unread == 0 {
		return templates.State{}
	}
	return templates.State{Code: "partial", Title: "Sizes are still being read.",
		Detail: fmt.Sprintf("%s of %s collections are measured; totals are too low until the rest is.", format.Count(int64(l.measured)), format.Count(int64(l.measured+l.unread)))}
}
