package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// movesShown is how many ended moves have their steps drawn, and reasonsShown
// how many reasons of failures are listed.
const (
	movesShown   = 12
	reasonsShown = 10
)

// donorSteps is how many steps of the donor have names: those of a move as
// releases up to 7.0 log it. Source: MongoDB 5.0, migration_source_manager and
// its caller.
const donorSteps = 6

// migrationsView draws what moves now, how long moves took and why some
// failed. Nothing in it changes merely because time passes.
//
// What moves now is always told, of whatever collection: it is what the two shards
// are busy with. Of what is over, the server's own collections are left out unless
// internal is set.
func migrationsView(v View, r refs, internal bool) templates.Migrations {
	all := v.migrations()
	list := withoutInternal(all, internal)
	m := templates.Migrations{RunningTitle: words.T("moves.running")}
	if flightsKnown(v) {
		m.RunningTitle = words.T("inflight.open")
	}
	var longest time.Duration
	var recent []history.Migration
	m.Folded = foldedNote("moves", activityQuery{Internal: internal}.url(0), len(all)-len(list), internal)
	for _, x := range list {
		switch x.Outcome {
		case history.Running, history.Committed, history.Unclear:
			if inFlight(v, x) {
				continue // shown with how far it is
			}
			m.Running = append(m.Running, runningRow(v, r, x))
		default:
			if len(recent) < movesShown {
				recent = append(recent, x)
				longest = max(longest, stepsSum(x.Donor), x.Took(v.Now))
			}
		}
	}
	named := false
	for _, x := range recent {
		m.Recent = append(m.Recent, timingRow(v, r, x, longest))
		named = named || x.DonorSteps == donorSteps
	}
	if named {
		for i := range donorSteps {
			m.Steps = append(m.Steps, stepName(i, donorSteps))
		}
	}
	groups := history.Failures(list)
	for _, g := range groups[:min(len(groups), reasonsShown)] {
		m.Failures = append(m.Failures, failureRow(v, g))
	}
	return m
}

// withoutInternal leaves out the ended moves of the server's own collections.
func withoutInternal(all []history.Migration, internal bool) []history.Migration {
	if internal {
		return all
	}
	out := make([]history.Migration, 0, len(all))
	for _, m := range all {
		if !topology.IsInternal(m.NS) || underWay(m) {
			out = append(out, m)
		}
	}
	return out
}

// underWay tells whether a move may still keep two shards busy.
func underWay(m history.Migration) bool {
	return m.Outcome == history.Running || m.Outcome == history.Committed
}

func stepsSum(list []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	return sum
}

func stepName(i, of int) string {
	if of == donorSteps {
		return words.T("moves.step." + strconv.Itoa(i+1))
	}
	return words.T("moves.step.other", "n", strconv.Itoa(i+1), "of", strconv.Itoa(of))
}

func moveRow(v View, r refs, x history.Migration) templates.MigrationRow {
	row := templates.MigrationRow{Key: fmt.Sprintf("m%s-%d", v.nameOf(x.Min), x.Begin.UnixMilli()), NS: string(x.NS), From: r.of(x.From), To: r.of(x.To),
		Begin: templates.Ago(x.Begin, v.Now), State: string(x.Outcome), Word: words.Code("moves.state", string(x.Outcome), nil),
		Chunk: chunkOfBound(v.Table, x.NS, x.Min)}
	if v.Table.Collection(x.NS) != nil {
		row.URL = collectionURL(x.NS)
	}
	if x.Min != nil && x.Max != nil {
		row.Min, row.Max = boundOf(v.Table, string(x.NS), x.Min), boundOf(v.Table, string(x.NS), x.Max)
	}
	if x.Outcome == history.Aborted || x.Reason != "" {
		why := x.Why()
		row.Why, row.Server, row.Reached = failureMeans(why.Code), reasonText(why), reached(x)
	}
	row.Cause = words.Code("cause", string(x.Cause.By), nil)
	if x.Cause.Inferred {
		row.Cause = words.T("cause.inferred", "who", row.Cause)
	}
	row.CauseTitle = words.Code("cause.basis", x.Cause.Basis, nil)
	if x.Cause.Run != "" {
		row.CauseURL = "/runs/" + x.Cause.Run
	}
	return row
}

// runningRow tells the phase as far as the changelog does: a donor logs the
// begin and the commit, and each step only when all are over.
func runningRow(v View, r refs, x history.Migration) templates.MigrationRow {
	row := moveRow(v, r, x)
	row.Phase = words.Code("moves.phase", string(x.Outcome), nil)
	switch e := x.ETA; {
	case x.Outcome != history.Running:
	case e == nil:
		row.ETA = words.T("moves.noeta")
	default:
		of := words.T("moves.eta.all")
		if e.SameColl {
			of = words.T("moves.eta.same")
		}
		row.ETATitle = words.T("moves.eta.basis", "n", format.Count(int64(e.Basis)), "of", of)
		row.ETA = words.T("moves.eta", "at", format.Clock(e.At))
		if row.Overdue = v.Now.After(e.At); row.Overdue {
			row.ETA = words.T("moves.eta.late", "at", format.Clock(e.At))
		}
	}
	return row
}

// timingRow stacks the donor's steps on one scale for all rows.
func timingRow(v View, r refs, x history.Migration, longest time.Duration) templates.MigrationRow {
	row := moveRow(v, r, x)
	row.Took = duration(x.Took(v.Now))
	if x.Documents >= 0 {
		row.Copied = words.T("moves.copied", "documents", format.Count(x.Documents), "bytes", format.Bytes(max(x.Bytes, 0)))
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
		title := words.T("moves.step.took", "step", stepName(i, x.DonorSteps), "took", duration(d))
		told = append(told, title)
		row.Parts = append(row.Parts, templates.MigrationPart{Class: "step" + strconv.Itoa(i%8+1), Title: title,
			X: templates.Percent(float64(at) / float64(longest)), W: templates.Percent(float64(d) / float64(longest))})
		at += d
	}
	row.PartsLabel = strings.Join(told, "; ")
	return row
}

// duration is precise where Span is not: steps take milliseconds.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return words.T("duration.ms", "n", strconv.FormatInt(d.Milliseconds(), 10))
	case d < 10*time.Second:
		return words.T("span.s", "n", strconv.FormatFloat(d.Seconds(), 'f', 1, 64))
	}
	return format.Span(d)
}

func failureRow(v View, g history.FailureGroup) templates.FailureRow {
	row := templates.FailureRow{Reason: g.Reason, Count: format.Count(int64(g.Count)), Last: templates.Ago(g.Newest.Begin, v.Now)}
	if row.Advice = failureAdvice(g.Code); row.Reason == "" {
		row.Reason, row.Advice = failureMeans(g.Code), words.Code("failure.do", string(g.Code), nil)
	}
	if row.Server = reasonText(g.Newest.Why()); row.Server != nil {
		row.Server.Label = words.T("failure.newest")
	}
	var names, by []string
	for _, ns := range g.NS[:min(len(g.NS), 3)] {
		names = append(names, string(ns))
	}
	if more := len(g.NS) - len(names); more > 0 {
		names = append(names, words.T("moves.more", "n", strconv.Itoa(more)))
	}
	row.NS = strings.Join(names, ", ")
	for _, who := range []history.By{history.ByUs, history.ByBalancer, history.ByOther, history.ByUnknown} {
		if n := g.By[who]; n > 0 {
			by = append(by, words.T("moves.by", "who", words.Code("cause", string(who), nil), "n", format.Count(int64(n))))
		}
	}
	row.By = strings.Join(by, ", ")
	return row
}

// chunkOfBound is the short name of the chunk that holds a lower bound now.
func chunkOfBound(t *topology.Table, ns topology.Namespace, min bson.Raw) string {
	c := t.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 || len(min) == 0 {
		return ""
	}
	k, err := c.Key.Bound(min)
	if err != nil {
		return ""
	}
	_, ch := c.Chunks.Find(k)
	return chunkName(c, ch.Min)
}
