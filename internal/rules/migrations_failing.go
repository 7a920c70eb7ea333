package rules

import (
	"time"

	"shardboard/internal/history"
	"shardboard/internal/topology"
)

const (
	// failingWindow is the time in which failed migrations are counted, and
	// failingMany from how many on they are more than a lost race now and then.
	failingWindow = time.Hour
	failingMany   = 3
)

// Lately is what came of the migrations that ended in the last hour, without those
// of the server's own collections.
type Lately struct {
	Moves, Failed int
	Internal      struct{ Moves, Failed int } // of the server's own collections
	Over          time.Duration               // that the changelog held reaches back, at most an hour
	Groups        []history.FailureGroup
	LastFailure   time.Time
}

// MovesLately reads the migrations of the last hour from a table's changelog. The
// changelog held is bounded, so a busy hour may be told in part.
func MovesLately(t *topology.Table, now time.Time) Lately {
	out := Lately{Over: failingWindow}
	ours := 0
	var oldest time.Time
	for _, e := range t.Events {
		if !e.Internal() {
			ours, oldest = ours+1, e.Time
		}
	}
	if ours >= mostEvents {
		out.Over = min(out.Over, max(now.Sub(oldest), time.Minute))
	}
	recent := *t
	recent.Events = nil
	for _, e := range t.Events { // newest first; one that ended lately may have begun before
		if now.Sub(e.Time) > 2*failingWindow {
			break
		}
		recent.Events = append(recent.Events, e)
	}
	var failed []history.Migration
	for _, m := range history.Migrations(&recent, now, nil, nil) {
		ended := m.End
		if ended.IsZero() {
			ended = m.Begin
		}
		if now.Sub(ended) > failingWindow {
			continue
		}
		internal := topology.IsInternal(m.NS)
		switch m.Outcome {
		case history.Done, history.Committed:
			if internal {
				out.Internal.Moves++
				continue
			}
			out.Moves++
		case history.Aborted:
			if internal {
				out.Internal.Failed++
				continue
			}
			failed = append(failed, m)
			if ended.After(out.LastFailure) {
				out.LastFailure = ended
			}
		}
	}
	out.Failed, out.Groups = len(failed), history.Failures(failed)
	return out
}

// mostEvents is how many entries of the changelog a table holds at most, but for
// those of the server's own collections.
const mostEvents = 1000

// migrationsFailing: chunks that are to move and do not. Where as many fail as
// succeed, somebody waits for moves that do not come.
func migrationsFailing(l *look) {
	if l.unread(topology.PartEvents) {
		return
	}
	lately := MovesLately(l.Table, l.Now)
	if lately.Failed < failingMany {
		return
	}
	perHour := float64(lately.Failed) / lately.Over.Hours()
	read := l.Table.Health[topology.PartEvents].At
	number := func(name string, n int) Evidence {
		return Evidence{Name: say(name), Unit: "count", Known: true, Value: float64(n), Exact: true, Method: "migrationLog", At: read, Over: lately.Over, Covered: lately.Over}
	}
	p := Problem{Subject: "migrations", Severity: Info, Why: say("failing.some"), Weight: perHour,
		Text: say("failing", "n", itoa(lately.Failed), "moves", itoa(lately.Moves), "over", lately.Over.String(), "rate", f64(perHour)),
		Evidence: []Evidence{
			{Name: say("failing.rate"), Unit: "perHour", Known: true, Value: perHour, Exact: true, Method: "migrationLog", At: read, Over: lately.Over, Covered: lately.Over},
			number("failing.failed", lately.Failed), number("failing.moved", lately.Moves),
			{Name: say("failing.last"), Unit: "time", Known: true, Time: lately.LastFailure, Exact: true, Method: "migrationLog", At: read},
		}}
	if lately.Failed >= lately.Moves {
		p.Severity, p.Why = Warn, say("failing.most")
	}
	if len(lately.Groups) > 0 {
		top := lately.Groups[0]
		p.NS = top.Newest.NS
		if top.Reason != "" {
			p.Text.Code, p.Text.Args["reason"], p.Text.Args["reasons"] = "failing.reason", top.Reason, itoa(top.Count)
			p.Evidence = append(p.Evidence, Evidence{Name: say(evidenceReason, "n", itoa(top.Count)), Unit: "text", Known: true, Text: top.Reason, Exact: true, Method: "migrationLog", At: read})
		}
		var nss []string
		for _, ns := range top.NS {
			nss = append(nss, string(ns))
		}
		p.Evidence = append(p.Evidence, Evidence{Name: say("failing.ns"), Unit: "text", Known: true, Text: join(nss[:min(len(nss), 8)]), Exact: true, Method: "migrationLog", At: read})
	}
	p.Remedy = Remedy{WhyNot: say("failing.cause"), Commands: []Command{
		check(`db.getSiblingDB("config").changelog.find({what: "moveChunk.error"}).sort({time: -1}).limit(5)`, "failing.log")}}
	l.add(p)
}
