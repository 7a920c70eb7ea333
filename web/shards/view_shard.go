package shards

import (
	"fmt"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// shardView answers "what is on it, who is hit when it is sick?".
func ShardView(v answer.View, p *profile.Profile, name string) (Shard, error) {
	t := v.Table
	s := t.Shard(name)
	if s == nil {
		names := make([]string, len(t.Shards))
		for i := range t.Shards {
			names[i] = t.Shards[i].Name
		}
		return Shard{}, fault.New(fault.NotFound, "There is no shard %q. The cluster has %s.", sanitize.Truncate(name, 100), answer.JoinWords(names))
	}
	ref := parts.RefsOf(t).Of(name)
	m := Shard{Shard: ref, ReplSet: s.ReplSet, Hosts: s.Hosts, Zones: s.Zones, Draining: s.Draining, CSV: answer.ShardURL(name) + ".csv",
		DocumentsHead: answer.DocumentsHead(p)}
	m.State = parts.PartState(v, topology.PartShards)
	if m.State.Code == "stale" {
		m.State = templates.State{}
	}
	contents := placement.ShardContents(t, v.Dir, p, name)
	m.Answer = answer.SickAnswer(v, contents)
	m.Measures = focusMeasures(parts.LoadOf(t), name)
	m.Facts = []templates.Fact{
		{Name: "Replica set", Figure: templates.Figure{Known: true, Text: s.ReplSet}},
		parts.DiskFact(v, name),
		{Name: "Hosts", Figure: templates.Figure{Known: true, Text: strings.Join(s.Hosts, ", ")}, Mono: true},
		{Name: "Zones", Figure: templates.Figure{Known: len(s.Zones) > 0, Text: answer.OrUnknown(strings.Join(s.Zones, ", "))}},
		parts.OrphansFact(answer.OrphansOf(t.OrphansAt(name, v.Now))),
		{Name: "Primary of", Figure: templates.Figure{Known: true, Text: answer.OrUnknown(answer.PrimaryOf(t, name))}},
	}
	m.Moving = parts.InFlightView(v, t.MovingOn(name), answer.FlightsListed)
	listed, hidden := answer.FoldContents(contents.Collections, v.Internal)
	for _, c := range listed {
		m.Collections = append(m.Collections, shardCollectionRow(t, c))
	}
	m.Folded = parts.FoldedNote("collections", answer.Switched(answer.ShardURL(name), v.Internal), hidden, v.Internal)
	if v.Internal {
		m.LiveURL = answer.Switched(answer.ShardURL(name), true)
	}
	m.Failed = parts.FailedMoves(v, v.Internal, answer.ActivityQuery{Shard: name, Failed: true}.Url(0), func(x history.Migration) bool { return x.From == name || x.To == name })
	m.ProjectsWhy = parts.ProjectsState(v)
	for i, on := range contents.Projects {
		if i == answer.ProjectsListed {
			m.More = len(contents.Projects) - answer.ProjectsListed
			break
		}
		m.Projects = append(m.Projects, shardProjectRow(on))
	}
	if len(m.Projects) == 0 && m.ProjectsWhy.Code == "" {
		m.ProjectsWhy = templates.State{Code: "empty", Title: "No project has rows of its own here."}
	}
	return m, nil
}

// focusMeasures are the overview's bars with the words of one shard only.
func focusMeasures(l parts.Load, name string) []templates.Measure {
	all := l.Measures()
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
func shardCollectionRow(t *topology.Table, c placement.CollectionOn) ShardCollectionRow {
	row := ShardCollectionRow{NS: string(c.NS), Key: c.Key}
	if c.Sharded {
		row.URL = answer.CollectionURL(c.NS)
	} else {
		row.Key = "not sharded"
	}
	bytes, docs, _ := answer.SizeOf(t, c.NS)
	of := func(f, total topology.Figure, write func(topology.Figure) templates.Figure) templates.Cell {
		out := templates.Cell{Figure: write(f), Share: -1, Even: -1}
		if f.Known && total.Known && total.Value > 0 {
			out.Share = answer.Share(f.Value, total.Value)
			out.Bar, out.ShareText = out.Share, format.Share(out.Share)
		}
		return out
	}
	row.Bytes, row.Documents = of(c.Size.Bytes, bytes, parts.BytesFigure), of(c.Size.Documents, docs, parts.CountFigure)
	if c.Sharded {
		row.Chunks = templates.Cell{Figure: parts.Exact(c.Chunks), Share: c.Share, Bar: c.Share, ShareText: format.Share(c.Share), Even: -1}
	} else {
		row.Chunks = templates.Cell{Figure: templates.Figure{Text: format.Unknown}, Share: -1}
	}
	return row
}

func shardProjectRow(on placement.ProjectOn) ShardProjectRow {
	row := ShardProjectRow{
		Name: answer.NameOf(on.Project), URL: "/projects/" + on.Project.ID.Hex(),
		Documents: parts.CountFigure(on.Project.Documents), Rows: rowShareFigure(on.Rows),
	}
	for _, c := range on.Collections {
		if c.Chunks == c.Of {
			row.Whole = append(row.Whole, c.NS.Collection())
		} else {
			row.Part = append(row.Part, fmt.Sprintf("%s (%s of %s chunks)", c.NS.Collection(), format.Count(int64(c.Chunks)), format.Count(int64(c.Of))))
		}
	}
	return row
}

// rowShareFigure is the part of a project's own rows that is on the shard.
func rowShareFigure(s placement.RowShare) templates.Figure {
	if !s.Known {
		return templates.Figure{Text: topology.ReasonText(s.Reason), Title: topology.ReasonDetail(s.Reason)}
	}
	low, high := format.Share(s.Low), format.Share(s.High)
	how := topology.MethodText(s.Method)
	out := templates.Figure{Known: true, Text: low, Title: how, Approx: !s.Exact}
	if low != high {
		out.Text, out.Approx = fmt.Sprintf("%s to %s", low, high), false
	}
	if !s.At.IsZero() && !s.Exact {
		out.Title = fmt.Sprintf("%s at %s", how, format.Clock(s.At))
	}
	return out
}
