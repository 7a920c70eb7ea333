package activity

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// migrationsView draws what moves now, how long moves took and why some
// failed. Nothing in it changes merely because time passes.
//
// What moves now is always told, of whatever collection: it is what the two shards
// are busy with. Of what is over, the server's own collections are left out unless
// internal is set.
func migrationsView(v answer.View, r parts.Refs, internal bool) templates.Migrations {
	all := v.Migrations()
	list := answer.WithoutInternal(all, internal)
	m := templates.Migrations{RunningTitle: "Moving now"}
	if answer.FlightsKnown(v) {
		m.RunningTitle = "No end in the log"
	}
	var longest time.Duration
	var recent []history.Migration
	m.Folded = parts.FoldedNote("moves", answer.ActivityQuery{Internal: internal}.Url(0), len(all)-len(list), internal)
	for _, x := range list {
		switch x.Outcome {
		case history.Running, history.Committed, history.Unclear:
			if answer.InFlight(v, x) {
				continue // shown with how far it is
			}
			m.Running = append(m.Running, runningRow(v, r, x))
		default:
			if len(recent) < answer.MovesShown {
				recent = append(recent, x)
				longest = max(longest, answer.StepsSum(x.Donor), x.Took(v.Now))
			}
		}
	}
	named := false
	for _, x := range recent {
		m.Recent = append(m.Recent, timingRow(v, r, x, longest))
		named = named || x.DonorSteps == answer.DonorSteps
	}
	if named {
		for i := range answer.DonorSteps {
			m.Steps = append(m.Steps, answer.StepName(i, answer.DonorSteps))
		}
	}
	groups := history.Failures(list)
	for _, g := range groups[:min(len(groups), answer.ReasonsShown)] {
		m.Failures = append(m.Failures, failureRow(v, g))
	}
	return m
}

func moveRow(v answer.View, r parts.Refs, x history.Migration) templates.MigrationRow {
	row := templates.MigrationRow{Key: fmt.Sprintf("m%s-%d", v.NameOf(x.Min), x.Begin.UnixMilli()), NS: string(x.NS), From: r.Of(x.From), To: r.Of(x.To),
		Begin: templates.Ago(x.Begin, v.Now), State: string(x.Outcome), Word: words.Code("moves.state", string(x.Outcome), nil),
		Chunk: answer.ChunkOfBound(v.Table, x.NS, x.Min)}
	if v.Table.Collection(x.NS) != nil {
		row.URL = answer.CollectionURL(x.NS)
	}
	if x.Min != nil && x.Max != nil {
		row.Min, row.Max = parts.BoundOf(v.Table, string(x.NS), x.Min), parts.BoundOf(v.Table, string(x.NS), x.Max)
	}
	if x.Outcome == history.Aborted || x.Reason != "" {
		why := x.Why()
		row.Why, row.Server, row.Reached = answer.FailureMeans(why.Code), parts.ReasonText(why), answer.Reached(x)
	}
	row.Cause = words.Code("cause", string(x.Cause.By), nil)
	if x.Cause.Inferred {
		row.Cause = row.Cause + " (inferred)"
	}
	row.CauseTitle = words.Code("cause.basis", x.Cause.Basis, nil)
	if x.Cause.Run != "" {
		row.CauseURL = "/runs/" + x.Cause.Run
	}
	return row
}

// runningRow tells the phase as far as the changelog does: a donor logs the
// begin and the commit, and each step only when all are over.
func runningRow(v answer.View, r parts.Refs, x history.Migration) templates.MigrationRow {
	row := moveRow(v, r, x)
	row.Phase = words.Code("moves.phase", string(x.Outcome), nil)
	switch e := x.ETA; {
	case x.Outcome != history.Running:
	case e == nil:
		row.ETA = "too few moves before it for an estimate"
	default:
		of := "in all collections"
		if e.SameColl {
			of = "in this collection"
		}
		row.ETATitle = fmt.Sprintf("The middle of how long the %s moves before it took %s.", format.Count(int64(e.Basis)), of)
		row.ETA = "likely done about " + format.Clock(e.At) + " (estimate)"
		if row.Overdue = v.Now.After(e.At); row.Overdue {
			row.ETA = "was likely to be done about " + format.Clock(e.At) + " (estimate)"
		}
	}
	return row
}

// timingRow stacks the donor's steps on one scale for all rows.
func timingRow(v answer.View, r parts.Refs, x history.Migration, longest time.Duration) templates.MigrationRow {
	row := moveRow(v, r, x)
	row.Took = answer.Duration(x.Took(v.Now))
	if x.Documents >= 0 {
		row.Copied = fmt.Sprintf("%s documents, %s copied", format.Count(x.Documents), format.Bytes(max(x.Bytes, 0)))
	}
	if longest <= 0 {
		return row
	}
	var at time.Duration
	var told []string
	for i, d := range x.Donor {
		if d <= 0 {
			continue
		}
		title := fmt.Sprintf("%s: %s", answer.StepName(i, x.DonorSteps), answer.Duration(d))
		told = append(told, title)
		row.Parts = append(row.Parts, templates.MigrationPart{Class: "step" + strconv.Itoa(i%8+1), Title: title,
			X: templates.Percent(float64(at) / float64(longest)), W: templates.Percent(float64(d) / float64(longest))})
		at += d
	}
	row.PartsLabel = strings.Join(told, "; ")
	return row
}

func failureRow(v answer.View, g history.FailureGroup) templates.FailureRow {
	row := templates.FailureRow{Reason: g.Reason, Count: format.Count(int64(g.Count)), Last: templates.Ago(g.Newest.Begin, v.Now)}
	if row.Advice = answer.FailureAdvice(g.Code); row.Reason == "" {
		row.Reason, row.Advice = answer.FailureMeans(g.Code), words.Code("failure.do", string(g.Code), nil)
	}
	if row.Server = parts.ReasonText(g.Newest.Why()); row.Server != nil {
		row.Server.Label = "The newest, whole"
	}
	var names, by []string
	for _, ns := range g.NS[:min(len(g.NS), 3)] {
		names = append(names, string(ns))
	}
	if more := len(g.NS) - len(names); more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	row.NS = strings.Join(names, ", ")
	for _, who := range []history.By{history.ByUs, history.ByBalancer, history.ByOther, history.ByUnknown} {
		if n := g.By[who]; n > 0 {
			by = append(by, fmt.Sprintf("%s %s", words.Code("cause", string(who), nil), format.Count(int64(n))))
		}
	}
	row.By = strings.Join(by, ", ")
	return row
}
