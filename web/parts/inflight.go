package parts

import (
	"cmp"
	"fmt"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// inFlightView draws migrations under way. Ages aside, nothing in it changes
// merely because time passes.
func InFlightView(v answer.View, list []topology.InFlight, most int) templates.InFlight {
	var m templates.InFlight
	if v.Past != nil {
		return m // what moved then is in the changelog
	}
	h := v.Table.Health[topology.PartMoves]
	if !h.At.IsZero() || h.Err != nil {
		m.State = PartState(v, topology.PartMoves)
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
	r, runs := RefsOf(v.Table), answer.FlightRuns(v, list)
	for i, x := range list {
		if i == most {
			m.More = words.T("inflight.more", "n", strconv.Itoa(len(list)-most))
			break
		}
		m.Rows = append(m.Rows, inFlightRow(v, r, runs, x))
	}
	return m
}

func inFlightRow(v answer.View, r Refs, runs []history.OurRun, x topology.InFlight) templates.InFlightRow {
	row := templates.InFlightRow{Key: fmt.Sprintf("f%s-%d", v.NameOf(x.Min), x.Since.UnixMilli()), NS: string(x.NS), From: r.Of(x.From), To: r.Of(x.To),
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
			row.URL, row.Chunk = cmp.Or(answer.ChunkURL(x.NS, answer.ChunkRef(c, min)), answer.CollectionURL(x.NS)), answer.ChunkName(c, min)
		}
	}
	if len(x.Min) > 0 {
		row.Min = BoundOf(v.Table, string(x.NS), x.Min)
	}
	if len(x.Max) > 0 {
		row.Max = BoundOf(v.Table, string(x.NS), x.Max)
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
		row.StepTitle, row.StepShare = words.T("inflight.step.other"), answer.Share(int64(x.Step), int64(x.Steps))
		if x.Steps == answer.DonorSteps {
			row.StepTitle = words.T("inflight.step.title", "step", answer.StepName(x.Step-1, x.Steps))
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
	who, app, run := answer.FlightAsker(x, runs)
	switch who {
	case "run":
		row.By, row.ByTitle, row.ByURL = words.T("inflight.by.run"), words.T("cause.basis.run"), "/runs/"+run
	case "balancer":
		row.By, row.ByTitle = words.T("inflight.by.balancer"), words.T("inflight.by.balancer.title")
	case "client":
		row.By, row.ByTitle = sanitize.Truncate(sanitize.Sentence(app), answer.AppShown), words.T("inflight.by.client.title")
	default:
		row.By, row.ByTitle = words.T("inflight.by.unknown"), words.T("inflight.by.unknown.title")
		if m.StepsReason == "notPermitted" {
			row.ByTitle = words.T("inflight.by.denied.title", "privilege", m.StepsPrivilege)
		}
	}
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
		row.Copied, row.CopiedShare = words.T("inflight.copied", "n", n, "of", of), answer.Share(c.Value, e.Value)
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
