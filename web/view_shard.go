package web

import (
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// projectsListed is how many projects a shard's page lists; its CSV has all.
const projectsListed = 50

// shardView answers "what is on it, who is hit when it is sick?".
func shardView(v View, p *profile.Profile, name string) (templates.Shard, error) {
	t := v.Table
	s := t.Shard(name)
	if s == nil {
		names := make([]string, len(t.Shards))
		for i := range t.Shards {
			names[i] = t.Shards[i].Name
		}
		return templates.Shard{}, fault.New(fault.NotFound, "There is no shard %q. The cluster has %s.", sanitize.Truncate(name, 100), joinWords(names))
	}
	ref := refsOf(t).of(name)
	m := templates.Shard{Shard: ref, ReplSet: s.ReplSet, Hosts: s.Hosts, Zones: s.Zones, Draining: s.Draining, CSV: shardURL(name) + ".csv",
		DocumentsHead: documentsHead(p)}
	m.State = partState(v, topology.PartShards)
	if m.State.Code == "stale" {
		m.State = templates.State{}
	}
	contents := placement.ShardContents(t, v.Dir, p, name)
	m.Answer = sickAnswer(v, contents)
	m.Measures = focusMeasures(loadOf(t), name)
	m.Facts = []templates.Fact{
		{Name: words.T("shard.replset"), Figure: templates.Figure{Known: true, Text: s.ReplSet}},
		diskFact(v, name),
		{Name: words.T("col.hosts"), Figure: templates.Figure{Known: true, Text: strings.Join(s.Hosts, ", ")}, Mono: true},
		{Name: words.T("col.zones"), Figure: templates.Figure{Known: len(s.Zones) > 0, Text: orUnknown(strings.Join(s.Zones, ", "))}},
		orphansFact(t.OrphansAt(name, v.Now)),
		{Name: words.T("shard.primaryof"), Figure: templates.Figure{Known: true, Text: orUnknown(primaryOf(t, name))}},
	}
	m.Moving = inFlightView(v, t.MovingOn(name), flightsListed)
	listed, hidden := foldContents(contents.Collections, v.Internal)
	for _, c := range listed {
		m.Collections = append(m.Collections, shardCollectionRow(t, c))
	}
	m.Folded = foldedNote("collections", switched(shardURL(name), v.Internal), hidden, v.Internal)
	if v.Internal {
		m.LiveURL = switched(shardURL(name), true)
	}
	m.Failed = failedMoves(v, v.Internal, activityQuery{Shard: name, Failed: true}.url(0), func(x history.Migration) bool { return x.From == name || x.To == name })
	m.ProjectsWhy = projectsState(v)
	for i, on := range contents.Projects {
		if i == projectsListed {
			m.More = len(contents.Projects) - projectsListed
			break
		}
		m.Projects = append(m.Projects, shardProjectRow(on))
	}
	if len(m.Projects) == 0 && m.ProjectsWhy.Code == "" {
		m.ProjectsWhy = templates.State{Code: "empty", Title: words.T("shard.projects.none")}
	}
	return m, nil
}

// foldContents leaves the server's own collections out of what is on a shard, as
// its sums do.
func foldContents(all []placement.CollectionOn, internal bool) (listed []placement.CollectionOn, hidden int) {
	for _, c := range all {
		if !internal && topology.IsInternal(c.NS) {
			hidden++
			continue
		}
		listed = append(listed, c)
	}
	return listed, hidden
}

func orUnknown(s string) string {
	if s == "" {
		return format.Unknown
	}
	return s
}

func primaryOf(t *topology.Table, shard string) string {
	var dbs []string
	for _, db := range t.Databases {
		if db.Primary == shard {
			dbs = append(dbs, db.Name)
		}
	}
	return strings.Join(dbs, ", ")
}

// sickAnswer tells who is hit: tenants whose own rows are here, and those
// collections that every tenant shares.
func sickAnswer(v View, c placement.Contents) string {
	if !v.Dir.Loaded() {
		return words.T("shard.answer.loading")
	}
	all := int64(len(v.Dir.All()))
	whole := int64(0)
	for _, p := range c.Projects {
		if p.Whole {
			whole++
		}
	}
	some := words.T("shard.answer.nobody")
	if whole > 0 {
		some = format.Count(whole)
	}
	out := words.T("shard.answer", "shard", c.Shard, "n", format.Count(int64(len(c.Projects))), "all", format.Count(all), "whole", some)
	if len(c.ByDocument) == 0 {
		return out
	}
	names := make([]string, len(c.ByDocument))
	var most float64
	for i, b := range c.ByDocument {
		names[i] = b.NS.Collection()
		most = max(most, b.Share)
	}
	return out + " " + words.T("shard.answer.bydoc", "names", joinWords(names), "share", format.Share(most))
}

// focusMeasures are the overview's bars with the words of one shard only.
func focusMeasures(l load, name string) []templates.Measure {
	all := l.measures()
	for i := range all {
		for j := range all[i].Parts {
			if p := &all[i].Parts[j]; p.Shard.Name != name {
				p.Shard.Color, p.Label = 0, ""
			} else if p.Label != "" {
				p.Label = format.Share(p.Share)
			}
		}
	}
	return all
}

// shardCollectionRow shows a collection's part on the shard: the share is of
// the collection, so 100 % means that nothing of it is elsewhere.
func shardCollectionRow(t *topology.Table, c placement.CollectionOn) templates.ShardCollectionRow {
	row := templates.ShardCollectionRow{NS: string(c.NS), Key: c.Key}
	if c.Sharded {
		row.URL = collectionURL(c.NS)
	} else {
		row.Key = words.T("spread.unsharded")
	}
	bytes, docs, _ := sizeOf(t, c.NS)
	of := func(f, total topology.Figure, write func(topology.Figure) templates.Figure) templates.Cell {
		out := templates.Cell{Figure: write(f), Share: -1, Even: -1}
		if f.Known && total.Known && total.Value > 0 {
			out.Share = share(f.Value, total.Value)
			out.Bar, out.ShareText = out.Share, format.Share(out.Share)
		}
		return out
	}
	row.Bytes, row.Documents = of(c.Size.Bytes, bytes, bytesFigure), of(c.Size.Documents, docs, countFigure)
	if c.Sharded {
		row.Chunks = templates.Cell{Figure: exact(c.Chunks), Share: c.Share, Bar: c.Share, ShareText: format.Share(c.Share), Even: -1}
	} else {
		row.Chunks = templates.Cell{Figure: templates.Figure{Text: format.Unknown}, Share: -1}
	}
	return row
}

func shardProjectRow(on placement.ProjectOn) templates.ShardProjectRow {
	row := templates.ShardProjectRow{
		Name: nameOf(on.Project), URL: "/projects/" + on.Project.ID.Hex(),
		Documents: countFigure(on.Project.Documents), Rows: rowShareFigure(on.Rows),
	}
	for _, c := range on.Collections {
		if c.Chunks == c.Of {
			row.Whole = append(row.Whole, c.NS.Collection())
		} else {
			row.Part = append(row.Part, words.T("shard.partof", "name", c.NS.Collection(), "n", format.Count(int64(c.Chunks)), "of", format.Count(int64(c.Of))))
		}
	}
	return row
}

// rowShareFigure is the part of a project's own rows that is on the shard.
func rowShareFigure(s placement.RowShare) templates.Figure {
	if !s.Known {
		return templates.Figure{Text: topology.ReasonText(s.Reason), Title: words.Code("reason.title", s.Reason, nil)}
	}
	low, high := format.Share(s.Low), format.Share(s.High)
	how := words.Code("method", s.Method, nil)
	out := templates.Figure{Known: true, Text: low, Title: how, Approx: !s.Exact}
	if low != high {
		out.Text, out.Approx = words.T("shard.own.range", "low", low, "high", high), false
	}
	if !s.At.IsZero() && !s.Exact {
		out.Title = words.T("figure.at", "how", how, "at", format.Clock(s.At))
	}
	return out
}
