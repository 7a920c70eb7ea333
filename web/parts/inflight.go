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
		m.None = "Whether anything moves now is not known yet."
	case len(list) == 0:
		m.None = "Nothing moves now."
	}
	if p := v.Table.Moves.ListPrivilege; p != "" && len(list) > 0 {
		m.Note = "Found in the changelog, which never tells the end of a move whose donor failed over. The list of migrations is not permitted: it needs " + p + "."
	}
	r, runs := RefsOf(v.Table), answer.FlightRuns(v, list)
	for i, x := range list {
		if i == most {
			m.More = "and " + strconv.Itoa(len(list)-most) + " more"
			break
		}
		m.Rows = append(m.Rows, inFlightRow(v, r, runs, x))
	}
	return m
}

func inFlightRow(v answer.View, r Refs, runs []history.OurRun, x topology.InFlight) templates.InFlightRow {
	row := templates.InFlightRow{Key: fmt.Sprintf("f%s-%d", v.NameOf(x.Min), x.Since.UnixMilli()), NS: string(x.NS), From: r.Of(x.From), To: r.Of(x.To),
		Arrived: x.Arrived(v.Table), Begun: templates.Ago(x.Since, v.Now), BegunLow: "began", State: "Copying",
		StepShare: -1, CopiedShare: -1}
	if row.Arrived {
		row.State = "Moved; the donor is cleaning up"
	}
	if x.AtLeast {
		row.BegunLow = "began before it was first seen,"
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
		row.Step = fmt.Sprintf("step %s of %s", strconv.Itoa(x.Step), strconv.Itoa(x.Steps))
		row.StepTitle, row.StepShare = "The last step that the donor reported.", answer.Share(int64(x.Step), int64(x.Steps))
		if x.Steps == answer.DonorSteps {
			row.StepTitle = "The last step that the donor reported: " + answer.StepName(x.Step-1, x.Steps) + "."
		}
		if x.StepInferred {
			row.StepTitle = "The recipient copies, so the donor has done its third step and waits. A donor reports its own steps for moments only."
		}
	case m.StepsReason == "notPermitted":
		row.Step = "step not permitted: needs " + m.StepsPrivilege
	case m.StepsReason != "":
		row.Step, row.StepTitle = "step not known", "The shards could not be asked what they do."
	default:
		row.Step, row.StepTitle = "step not known", "The donor reports its steps for moments only."
	}
	if x.RecipientSteps > 0 {
		row.Recipient = fmt.Sprintf("recipient: step %s of %s", strconv.Itoa(x.RecipientStep), strconv.Itoa(x.RecipientSteps))
		row.RecipientTitle = "The last step that the recipient reported."
	}
}

// flightBy words who asked for a migration.
func flightBy(row *templates.InFlightRow, m topology.Moves, x topology.InFlight, runs []history.OurRun) {
	who, app, run := answer.FlightAsker(x, runs)
	switch who {
	case "run":
		row.By, row.ByTitle, row.ByURL = "one of our runs", "Namespace, bounds, shards and time are those of the run.", "/runs/"+run
	case "balancer":
		row.By, row.ByTitle = "the balancer", "The donor’s command names no program that asked for it: that is the balancer, or a program that gives itself no name."
	case "client":
		row.By, row.ByTitle = sanitize.Truncate(sanitize.Sentence(app), answer.AppShown), "The program that asked for it gave itself this name. It is not the balancer."
	default:
		row.By, row.ByTitle = "not known", "The donor’s command was not seen."
		if m.StepsReason == "notPermitted" {
			row.ByTitle = "Seeing who asked needs " + m.StepsPrivilege + "."
		}
	}
}

// flightCopied words how far copying is.
func flightCopied(row *templates.InFlightRow, x topology.InFlight) {
	c, e := x.Copied, x.Estimate
	n, of := format.Count(c.Value), format.Count(e.Value)
	switch {
	case !c.Known && e.Known:
		row.Copied = fmt.Sprintf("copied: %s (about %s documents)", topology.ReasonText(c.Reason), of)
	case !c.Known:
		row.Copied = "copied: " + topology.ReasonText(c.Reason)
	case !e.Known:
		row.Copied = n + " documents copied, of how many is not known"
	case c.Value > e.Value:
		row.Copied, row.CopiedShare = fmt.Sprintf("%s documents copied, more than the %s that were estimated", n, of), 1
	default:
		row.Copied, row.CopiedShare = fmt.Sprintf("%s of about %s documents copied", n, of), answer.Share(c.Value, e.Value)
	}
	switch {
	case c.Known:
		row.CopiedTitle = "By how much the recipient’s count of documents grew between its first count and " + format.Clock(c.At) + ". What was copied before is missing, and what applications write to that shard is in it."
	default:
		row.CopiedTitle = words.Code("inflight.left.why", c.Reason, nil)
	}
	if e.Known {
		row.CopiedTitle += " " + "The estimate is the donor’s average number of documents in a chunk."
	} else {
		row.CopiedTitle += " " + "How many documents the range has is not known: " + topology.ReasonText(e.Reason) + "."
	}
	if x.Left.Known {
		row.Left, row.LeftTitle = "about "+format.Span(x.Left.For)+" left", "From the documents copied so far, at the same rate. What comes after copying takes a moment more."
		return
	}
	row.Left, row.LeftTitle = "time left: not known", words.Code("inflight.left.why", x.Left.Reason, nil)
}
