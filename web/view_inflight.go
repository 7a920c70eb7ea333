package web

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// Bounds of what moves on a page: the overview shows the oldest, the activity
// page all that a large cluster can have.
const (
	flightsBrief  = 6
	flightsListed = 100
	appShown      = 60 // characters of the name that a program gave itself
)

// inFlightView draws migrations under way. Ages aside, nothing in it changes
// merely because time passes.
func inFlightView(v View, list []topology.InFlight, most int) templates.InFlight {
	var m templates.InFlight
	if v.Past != nil {
		return m // what moved then is in the changelog
	}
	h := v.Table.Health[topology.PartMoves]
	if !h.At.IsZero() || h.Err != nil {
		m.State = partState(v, topology.PartMoves)
	}
	switch {
	case len(list) == 0 && h.At.IsZero():
		m.None = words.T("inflight.unread")
	case len(list) == 0:
		m.None = words.T("inflight.none")
	}
	if p := v.Table.Moves.ListPrivilege; p != "" && len(list) > 0 {
		m.Note = words.T("inflight.fromlog", "privilege", p)
	}
	r, runs := refsOf(v.Table), flightRuns(v, list)
	for i, x := range list {
		if i == most {
			m.More = words.T("inflight.more", "n", strconv.Itoa(len(list)-most))
			break
		}
		m.Rows = append(m.Rows, inFlightRow(v, r, runs, x))
	}
	return m
}

func inFlightRow(v View, r refs, runs []history.OurRun, x topology.InFlight) templates.InFlightRow {
	row := templates.InFlightRow{Key: fmt.Sprintf("f%s-%d", v.nameOf(x.Min), x.Since.UnixMilli()), NS: string(x.NS), From: r.of(x.From), To: r.of(x.To),
		Arrived: x.Arrived(v.Table), Begun: templates.Ago(x.Since, v.Now), BegunLow: words.T("inflight.begin"), State: words.T("inflight.state.copying"),
		StepShare: -1, CopiedShare: -1}
	if row.Arrived {
		row.State = words.T("inflight.state.arrived")
	}
	if x.AtLeast {
		row.BegunLow = words.T("inflight.atleast")
	}
	if c := v.Table.Collection(x.NS); c != nil {
		if from, to := x.Positions(c); from < to {
			min := c.Chunks.At(from).Min
			row.URL, row.Chunk = cmp.Or(chunkURL(x.NS, chunkRef(c, min)), collectionURL(x.NS)), chunkName(c, min)
		}
	}
	if len(x.Min) > 0 {
		row.Min = boundOf(v.Table, string(x.NS), x.Min)
	}
	if len(x.Max) > 0 {
		row.Max = boundOf(v.Table, string(x.NS), x.Max)
	}
	flightSteps(&row, v.Table.Moves, x)
	flightBy(&row, v.Table.Moves, x, runs)
	flightCopied(&row, x)
	return row
}

// flightSteps words the steps that donor and recipient reported.
func flightSteps(row *templates.InFlightRow, m topology.Moves, x topology.InFlight) {
	switch {
	case x.Steps > 0:
		row.Step = words.T("inflight.step", "n", strconv.Itoa(x.Step), "of", strconv.Itoa(x.Steps))
		row.StepTitle, row.StepShare = words.T("inflight.step.other"), share(int64(x.Step), int64(x.Steps))
		if x.Steps == donorSteps {
			row.StepTitle = words.T("inflight.step.title", "step", stepName(x.Step-1, x.Steps))
		}
		if x.StepInferred {
			row.StepTitle = words.T("inflight.step.inferred")
		}
	case m.StepsReason == "notPermitted":
		row.Step = words.T("inflight.step.denied", "privilege", m.StepsPrivilege)
	case m.StepsReason != "":
		row.Step, row.StepTitle = words.T("inflight.step.unknown"), words.T("inflight.step.unread")
	default:
		row.Step, row.StepTitle = words.T("inflight.step.unknown"), words.T("inflight.step.unseen")
	}
	if x.RecipientSteps > 0 {
		row.Recipient = words.T("inflight.recipient", "n", strconv.Itoa(x.RecipientStep), "of", strconv.Itoa(x.RecipientSteps))
		row.RecipientTitle = words.T("inflight.recipient.title")
	}
}

// flightBy words who asked for a migration.
func flightBy(row *templates.InFlightRow, m topology.Moves, x topology.InFlight, runs []history.OurRun) {
	who, app, run := flightAsker(x, runs)
	switch who {
	case "run":
		row.By, row.ByTitle, row.ByURL = words.T("inflight.by.run"), words.T("cause.basis.run"), "/runs/"+run
	case "balancer":
		row.By, row.ByTitle = words.T("inflight.by.balancer"), words.T("inflight.by.balancer.title")
	case "client":
		row.By, row.ByTitle = sanitize.Truncate(sanitize.Sentence(app), appShown), words.T("inflight.by.client.title")
	default:
		row.By, row.ByTitle = words.T("inflight.by.unknown"), words.T("inflight.by.unknown.title")
		if m.StepsReason == "notPermitted" {
			row.ByTitle = words.T("inflight.by.denied.title", "privilege", m.StepsPrivilege)
		}
	}
}

// flightAsker is who asked for a migration: "run", "balancer", "client" or
// "unknown". A run of ours that fits counts more than what the donor shows: a
// program may give itself no name, as the balancer has none.
func flightAsker(x topology.InFlight, runs []history.OurRun) (who, app, run string) {
	for _, r := range runs {
		if movesIt(r, x) {
			return "run", x.App, r.ID
		}
	}
	if x.By == "" {
		return "unknown", "", ""
	}
	return string(x.By), x.App, ""
}

// runSlack is how far the clocks of servers and ours may be apart.
const runSlack = 30 * time.Second

// movesIt tells whether a command of ours is what moves a range: its namespace,
// lower bound, recipient and time are the same.
func movesIt(r history.OurRun, x topology.InFlight) bool {
	return r.To != "" && r.NS == x.NS && r.To == x.To && bytes.Equal(r.Min, x.Min) &&
		!x.Since.Before(r.Start.Add(-runSlack)) && (r.End.IsZero() || !x.Since.After(r.End.Add(runSlack)))
}

// flightRuns are the commands of ours that migrations under way may be; none are
// looked up while nothing moves.
func flightRuns(v View, list []topology.InFlight) []history.OurRun {
	if len(list) == 0 {
		return nil
	}
	if v.FlightRuns != nil {
		return v.FlightRuns()
	}
	return runsSince(v.runs, list, v.Now)
}

func runsSince(runs func(from, to time.Time) []history.OurRun, list []topology.InFlight, now time.Time) []history.OurRun {
	oldest := now
	for _, x := range list {
		if x.Since.Before(oldest) {
			oldest = x.Since
		}
	}
	return runs(oldest.Add(-runSlack), now.Add(runSlack))
}

// flightMemo keeps the commands that were looked up for one table: each region
// that shows a migration is drawn from it, and the journal is read once.
type flightMemo struct {
	mu    sync.Mutex
	table *topology.Table
	runs  []history.OurRun
}

func (m *flightMemo) of(v View) []history.OurRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table != v.Table {
		m.table, m.runs = v.Table, runsSince(v.runs, v.Table.Moves.List, v.Now)
	}
	return m.runs
}

// flightCopied words how far copying is.
func flightCopied(row *templates.InFlightRow, x topology.InFlight) {
	c, e := x.Copied, x.Estimate
	n, of := format.Count(c.Value), format.Count(e.Value)
	switch {
	case !c.Known && e.Known:
		row.Copied = words.T("inflight.copied.unknown", "why", topology.ReasonText(c.Reason), "of", of)
	case !c.Known:
		row.Copied = words.T("inflight.copied.none", "why", topology.ReasonText(c.Reason))
	case !e.Known:
		row.Copied = words.T("inflight.copied.alone", "n", n)
	case c.Value > e.Value:
		row.Copied, row.CopiedShare = words.T("inflight.copied.over", "n", n, "of", of), 1
	default:
		row.Copied, row.CopiedShare = words.T("inflight.copied", "n", n, "of", of), share(c.Value, e.Value)
	}
	switch {
	case c.Known:
		row.CopiedTitle = words.T("inflight.copied.title", "at", format.Clock(c.At))
	default:
		row.CopiedTitle = words.Code("inflight.left.why", c.Reason, nil)
	}
	if e.Known {
		row.CopiedTitle += " " + words.T("inflight.estimate.title")
	} else {
		row.CopiedTitle += " " + words.T("inflight.estimate.unread", "why", topology.ReasonText(e.Reason))
	}
	if x.Left.Known {
		row.Left, row.LeftTitle = words.T("inflight.left", "span", format.Span(x.Left.For)), words.T("inflight.left.title")
		return
	}
	row.Left, row.LeftTitle = words.T("inflight.left.unknown"), words.Code("inflight.left.why", x.Left.Reason, nil)
}

// movingChunks are the chunks of a collection that a migration moves, by
// position, with where to. Those that have arrived are not on their way.
func movingChunks(v View, c *topology.Collection) map[int]string {
	if v.Past != nil || c == nil {
		return nil
	}
	var out map[int]string
	for _, x := range v.Table.MovingOf(c.NS) {
		from, to := x.Positions(c)
		// A range is of one chunk; of more it can only be while the table is behind.
		for i := from; i < min(to, from+4); i++ {
			if c.Chunks.Owner(i) == x.To {
				continue
			}
			if out == nil {
				out = map[int]string{}
			}
			out[i] = x.To
		}
	}
	return out
}

// movingChunk are the migrations that concern the chunk at a position.
func movingChunk(v View, c *topology.Collection, i int) (out []topology.InFlight) {
	if v.Past != nil {
		return nil
	}
	for _, x := range v.Table.MovingOf(c.NS) {
		if from, to := x.Positions(c); from <= i && i < to {
			out = append(out, x)
		}
	}
	return out
}

// movingIn is the migration that a range of a collection or a part of it is in,
// as long as it has not arrived; nil for none. A range of one key is empty and
// is in it where the key is.
func movingIn(v View, ns topology.Namespace, r shardkey.Range) *topology.InFlight {
	c := v.Table.Collection(ns)
	if v.Past != nil || c == nil || r.Min.IsZero() {
		return nil
	}
	for _, x := range v.Table.MovingOf(ns) {
		lo, err := c.Key.Bound(x.Min)
		if err != nil || x.Arrived(v.Table) {
			continue
		}
		moves := shardkey.Range{Min: lo}
		if moves.Max, err = c.Key.Bound(x.Max); err != nil {
			_, ch := c.Chunks.Find(lo)
			moves.Max = ch.Max
		}
		if r.Max.IsZero() && moves.Contains(r.Min) || !r.Max.IsZero() && moves.Overlaps(r) {
			return &x
		}
	}
	return nil
}

// inFlight tells whether a migration of the changelog is among those under way.
func inFlight(v View, x history.Migration) bool {
	if v.Past != nil {
		return false
	}
	for _, m := range v.Table.MovingOf(x.NS) {
		if m.To == x.To && bytes.Equal(m.Min, x.Min) {
			return true
		}
	}
	return false
}

// movingStep is the migration that a step of a run has begun.
func movingStep(v View, s engine.Step) (out []topology.InFlight) {
	if !s.State.Open() || s.Sent.IsZero() || !s.Migrates() {
		return nil
	}
	for _, x := range v.Table.MovingOf(s.NS) {
		if x.To == s.Shard && bytes.Equal(x.Min, s.Min) {
			out = append(out, x)
		}
	}
	return out
}

// describeMoving writes what a collection's page shows of migrations, for
// comparing: times of reads are left out, as nobody needs a page for them.
func describeMoving(w io.Writer, v View, ns topology.Namespace) {
	for _, x := range v.Table.MovingOf(ns) {
		fmt.Fprintf(w, " %x %q %q %d %v %d %d %q %q %v", x.Min, x.From, x.To, x.Since.UnixMilli(), x.Arrived(v.Table), x.Step, x.RecipientStep, x.By, x.App, x.Left)
		for _, f := range []topology.Figure{x.Copied, x.Estimate} {
			fmt.Fprintf(w, " %v %d %q", f.Known, f.Value, f.Reason)
		}
	}
	if len(v.Table.MovingOf(ns)) > 0 {
		fmt.Fprintf(w, " %q %v", v.Table.Moves.StepsReason, v.Table.Stale(topology.PartMoves, v.Now))
	}
}

// flightsKnown tells whether the list of migrations under way was read well.
func flightsKnown(v View) bool {
	return v.Past == nil && !v.Table.Stale(topology.PartMoves, v.Now)
}

// endLogged is how long after a migration has gone from the list its end may
// still be missing in the entries that were read.
const endLogged = 15 * time.Second

// settleFlights takes from migrations of the changelog that they run, where the
// list of those under way has them no more: their donor never logged the end.
// The routing table proves one that went through.
func settleFlights(v View, list []history.Migration) []history.Migration {
	if !flightsKnown(v) {
		return list
	}
	for i := range list {
		m := &list[i]
		if m.Outcome != history.Running || v.Now.Sub(m.Begin) < endLogged || inFlight(v, *m) {
			continue
		}
		m.Outcome, m.ETA = history.Unclear, nil
		if (topology.InFlight{NS: m.NS, Min: m.Min, Max: m.Max, To: m.To}).Arrived(v.Table) {
			m.Outcome = history.Done
		}
	}
	return list
}
