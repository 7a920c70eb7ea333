package locate

import (
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// duplicatesView puts the check's report into words. there tells whether this
// server has a check to start.
func duplicatesView(v answer.View, r placement.CheckReport, there bool) templates.Duplicates {
	m := templates.Duplicates{
		Code: string(r.State), State: words.Code("dup.state", string(r.State), nil), Problem: r.Problem,
		Running:   r.State == placement.CheckRunning,
		CanResume: there && (r.State == placement.CheckStopped || r.State == placement.CheckFailed),
		CanStart:  there && r.State != placement.CheckRunning,
	}
	if !r.Started.IsZero() {
		m.Started = templates.Ago(r.Started, v.Now)
	}
	if !r.Ended.IsZero() {
		m.Ended = templates.Ago(r.Ended, v.Now)
	}
	switch {
	case m.Running && r.Left >= 0:
		m.Left = "about " + format.Span(r.Left) + " left"
	case m.Running:
		m.Left = "how long it takes is not known yet"
	}
	for _, c := range r.Collections {
		m.Collections = append(m.Collections, duplicateProgress(c))
	}
	m.Found = message.Plural(int64(r.FoundCount), format.Count(int64(r.FoundCount))+" id is on more than one shard", format.Count(int64(r.FoundCount))+" ids are on more than one shard")
	if r.FoundCount == 0 {
		m.Found = "No id is on more than one shard"
		if r.State != placement.CheckDone {
			m.Found = "No id on more than one shard found yet"
		}
	}
	if more := r.FoundCount - len(r.Found); more > 0 {
		m.More = format.Count(int64(more)) + " more were found and are not listed."
	}
	refs := parts.RefsOf(v.Table)
	for _, id := range r.Found {
		m.Rows = append(m.Rows, duplicateRow(v, refs, id))
	}
	return m
}

func duplicateProgress(c placement.CheckProgress) templates.DuplicateProgress {
	out := templates.DuplicateProgress{
		NS: string(c.NS), URL: answer.CollectionURL(c.NS), Read: format.Count(c.Read), Total: parts.CountFigure(c.Total), Share: -1,
		State: "waiting",
	}
	if !c.Next.IsZero() && !c.Done {
		out.Next = templates.Key{Short: c.Next.Hex(), Full: c.Next.Hex()}
	}
	switch {
	case c.Done:
		out.State, out.Share = "done", 1
	case c.Read > 0:
		out.State = "reading"
		if c.Total.Known && c.Total.Value > 0 {
			// More rows than the statistics know of is no reason to overshoot.
			out.Share = min(0.99, float64(c.Read)/float64(c.Total.Value))
		}
	}
	return out
}

func duplicateRow(v answer.View, r parts.Refs, id placement.SharedID) templates.DuplicateRow {
	out := templates.DuplicateRow{NS: string(id.NS), ID: id.ID.Hex(), URL: "/locate?q=" + id.ID.Hex()}
	for _, s := range id.Shards() {
		out.Shards = append(out.Shards, r.Of(s))
	}
	for _, row := range id.Rows {
		link := templates.Link{Text: row.Project.Hex(), URL: "/projects/" + row.Project.Hex()}
		if p, ok := v.Dir.In(id.NS.Database(), row.Project); ok {
			link.Text = answer.NameOf(p)
		}
		out.Projects = append(out.Projects, link)
	}
	return out
}
