package web

import (
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// load is what every shard carries: the figures behind the overview.
type load struct {
	table       *topology.Table
	shards      []templates.ShardRef
	bytes       []topology.Figure // parallel to shards
	documents   []topology.Figure
	chunks      []topology.Figure
	collections int // sharded ones
	unread      int // collections whose sizes are not known yet
	measured    int // collections whose sizes are known
}

// loadOf adds up every collection's part on every shard.
func loadOf(t *topology.Table) load {
	l := load{table: t, shards: shardRefs(t)}
	n := len(l.shards)
	bytes, docs := make([]sum, n), make([]sum, n)
	chunks := make([]int64, n)
	namespaces := append([]topology.Namespace(nil), t.Unsharded...)
	for _, c := range t.Collections {
		if !visible(c) {
			continue
		}
		namespaces = append(namespaces, c.NS)
		if !sharded(c) {
			continue
		}
		l.collections++
		counts := c.Chunks.CountByShard()
		for i, s := range l.shards {
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
		for i, s := range l.shards {
			size := t.SizeOn(ns, s.Name)
			bytes[i].add(size.Bytes)
			docs[i].add(size.Documents)
		}
	}
	if t.Loaded && len(namespaces) == 0 && len(t.Databases) == 0 { // nothing stored is a fact, not a gap
		for i := range l.shards {
			none := topology.Figure{Known: true, Exact: true, Method: "routing", At: t.Health[topology.PartDatabases].At}
			bytes[i].add(none)
			docs[i].add(none)
		}
	}
	for i := range l.shards {
		l.bytes = append(l.bytes, bytes[i].figure())
		l.documents = append(l.documents, docs[i].figure())
		l.chunks = append(l.chunks, topology.Figure{Known: true, Exact: true, Value: chunks[i], Method: "routing"})
	}
	return l
}

// measures are the three stacked bars.
func (l load) measures() []templates.Measure {
	return []templates.Measure{
		measure(words.T("col.data"), l.shards, l.bytes, bytesFigure),
		measure(words.T("col.documents"), l.shards, l.documents, countFigure),
		measure(words.T("col.chunks"), l.shards, l.chunks, countFigure),
	}
}

func measure(name string, shards []templates.ShardRef, figures []topology.Figure, write func(topology.Figure) templates.Figure) templates.Measure {
	var all sum
	for _, f := range figures {
		all.add(f)
	}
	m := templates.Measure{Name: name, Total: write(all.figure())}
	if all.value == 0 {
		m.Why = words.T("measure.nothing")
		if all.known == 0 {
			m.Why = write(all.figure()).Title
		}
		return m
	}
	at := 0.0
	var titles []string
	for i, f := range figures {
		if !f.Known || f.Value == 0 {
			continue
		}
		part := share(f.Value, all.value)
		p := templates.Part{Shard: shards[i], From: at, Share: part,
			Title: words.T("measure.part", "shard", shards[i].Name, "value", write(f).Text, "share", format.Share(part))}
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
	m.Label = words.T("measure.label", "name", name, "parts", strings.Join(titles, "; "))
	return m
}

// rows is the shards table.
func (l load) rows(v View) []templates.ShardRow {
	bytes, docs, chunks := cells(l.bytes, bytesFigure), cells(l.documents, countFigure), cells(l.chunks, countFigure)
	out := make([]templates.ShardRow, len(l.shards))
	for i, r := range l.shards {
		s := l.table.Shards[i]
		out[i] = templates.ShardRow{Shard: r, ReplSet: s.ReplSet, Hosts: s.Hosts, Zones: s.Zones, Draining: s.Draining,
			Bytes: bytes[i], Documents: docs[i], Chunks: chunks[i], Disk: diskCell(v, r.Name)}
	}
	return out
}

// What counts as even: the fullest shard's distance above the mean. A chunk is
// the smallest thing that moves, so small differences cannot be helped.
const (
	evenBelow     = 0.15
	somewhatBelow = rules.UnevenShare
)

// verdict judges by bytes where they are known, else by chunks.
func (l load) verdict() (level, text string) {
	figures, of := l.bytes, words.T("verdict.of.data")
	for _, f := range l.bytes {
		if !f.Known {
			figures, of = l.chunks, words.T("verdict.of.chunks")
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
	case len(l.shards) == 0:
		return "note", words.T("verdict.noshards")
	case len(l.shards) == 1:
		return "ok", words.T("verdict.oneshard")
	case total == 0:
		return "ok", words.T("verdict.nodata")
	}
	mean := float64(total) / float64(len(figures))
	over := float64(top)/mean - 1
	args := []string{"shard", l.shards[which].Name, "share", format.Share(share(top, total)), "of", of,
		"even", format.Share(1 / float64(len(figures))), "over", format.Share(over)}
	switch {
	case over <= evenBelow:
		return "ok", words.T("verdict.even", args...)
	case over <= somewhatBelow:
		return "note", words.T("verdict.somewhat", args...)
	}
	return "note", words.T("verdict.uneven", args...)
}

// size is how big the cluster is, in one line.
func (l load) size() string {
	var chunks int64
	for _, f := range l.chunks {
		chunks += f.Value
	}
	return words.T("overview.size", "shards", format.Count(int64(len(l.shards))),
		"collections", format.Count(int64(l.collections)), "chunks", format.Count(chunks))
}

// partial says that the first round of size reads is still under way.
func (l load) partial() templates.State {
	if l.unread == 0 {
		return templates.State{}
	}
	return templates.State{Code: "partial", Title: words.T("sizes.partial"),
		Detail: words.T("sizes.partial.detail", "read", format.Count(int64(l.measured)), "all", format.Count(int64(l.measured+l.unread)))}
}
