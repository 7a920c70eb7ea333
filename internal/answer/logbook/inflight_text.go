package logbook

import (
	"fmt"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// describeFlight puts a migration under way into words. Nothing in them changes
// merely because time passes.
func describeFlight(out *api.InFlight, x topology.InFlight) {
	out.State.Text = "Copying"
	if out.Arrived {
		out.State.Text = "Moved; the donor is cleaning up"
	}
	describeSteps(out)
	out.ByText = requesterText(out, x.Relayed)
	describeCopied(out, x)
}

func describeSteps(out *api.InFlight) {
	switch {
	case out.Steps > 0:
		out.StepText = api.Explained{Text: fmt.Sprintf("step %d of %d", out.Step, out.Steps), Why: "The last step that the donor reported."}
		if out.Steps == len(donorStepNames) {
			out.StepText.Why = "The last step that the donor reported: " + stepName(out.Step-1, out.Steps) + "."
		}
		if out.StepInferred {
			out.StepText.Why = "The recipient is copying, so the donor has completed its third step and is waiting. " +
				"A donor reports its own steps only briefly."
		}
	case out.StepsReason == "notPermitted":
		out.StepText.Text = "step not permitted: needs " + out.Privilege
	case out.StepsReason != "":
		out.StepText = api.Explained{Text: "step not known", Why: "The shards could not be asked about their operations."}
	default:
		out.StepText = api.Explained{Text: "step not known", Why: "The donor reports its steps only briefly."}
	}
	if out.RecipientSteps > 0 {
		out.RecipientText = api.Explained{Text: fmt.Sprintf("recipient: step %d of %d", out.RecipientStep, out.RecipientSteps),
			Why: "The last step that the recipient reported."}
	}
}

// programNameShown is how many characters a page shows of the name that a
// program gave itself.
const programNameShown = 60

func requesterText(m *api.InFlight, relayed bool) api.Explained {
	switch m.By {
	case "run":
		return api.Explained{Text: "a run of shardboard", Why: "The namespace, bounds, shards and time match the run."}
	case "balancer":
		return api.Explained{Text: "the balancer",
			Why: "The donor’s command names no program: it came from the balancer, or from a program that gives itself no name."}
	case "client":
		if m.App == "" {
			return api.Explained{Text: "a program",
				Why: "The balancer is off, so somebody else asked for it. The config server does not tell who."}
		}
		return api.Explained{Text: sanitize.Truncate(sanitize.Sentence(m.App), programNameShown),
			Why: "The program that asked for it gave itself this name. It is not the balancer."}
	}
	if m.StepsReason == "notPermitted" {
		return api.Explained{Text: "not known", Why: "Seeing who asked needs " + m.Privilege + "."}
	}
	if relayed {
		return api.Explained{Text: "not known",
			Why: "The config server asks the donor, for the balancer as for any program, and does not tell who asked it."}
	}
	return api.Explained{Text: "not known", Why: "The donor’s command was not seen."}
}

// describeCopied says how far copying is.
func describeCopied(out *api.InFlight, x topology.InFlight) {
	c, e := x.Copied, x.Estimate
	n, of := format.Count(c.Value), format.Count(e.Value)
	out.CopiedShare = -1
	switch {
	case !c.Known && e.Known:
		out.CopiedText.Text = fmt.Sprintf("copied: %s (estimated documents: %s)", topology.ReasonText(c.Reason), of)
	case !c.Known:
		out.CopiedText.Text = "copied: " + topology.ReasonText(c.Reason)
	case !e.Known:
		out.CopiedText.Text = n + message.Plural(c.Value, " document", " documents") + " copied, total not known"
	case c.Value > e.Value:
		out.CopiedText.Text, out.CopiedShare = fmt.Sprintf("%s documents copied, more than the estimate of %s", n, of), 1
	default:
		out.CopiedText.Text, out.CopiedShare = fmt.Sprintf("documents copied: %s of about %s", n, of), answer.Share(c.Value, e.Value)
	}
	out.CopiedText.Why = copyUnknown(c.Reason)
	if c.Known {
		out.CopiedText.Why = "The growth of the recipient’s document count between its first count and " + format.Clock(c.At) +
			". Documents copied before that are missing, and what applications write to that shard is included."
	}
	if e.Known {
		out.CopiedText.Why += " The estimate is the donor’s average number of documents in a chunk."
	} else {
		out.CopiedText.Why += " How many documents the range has is not known: " + topology.ReasonText(e.Reason) + "."
	}
	out.LeftText = api.Explained{Text: "time left: not known", Why: copyUnknown(x.Left.Reason)}
	if x.Left.Known {
		out.LeftText = api.Explained{Text: "about " + format.Span(x.Left.For) + " left",
			Why: "If the rest is copied at the rate so far. The steps after copying take a moment more."}
	}
}

// copyUnknown says why the number of copied documents or the time left is not known.
func copyUnknown(reason string) string {
	if text, ok := copyUnknowns[reason]; ok {
		return text
	}
	return "It cannot be computed: " + topology.ReasonText(reason) + "."
}

// copyUnknowns has the sentences by topology.Figure.Reason and topology.TimeLeft.Reason.
var copyUnknowns = map[string]string{
	"beginUnseen":       "The start was not seen, so it is not known how much was copied by then.",
	"beyondEstimate":    "More documents were copied than estimated.",
	"copied":            "Copying is done; the commit takes a moment.",
	"countFell":         "The recipient’s count fell, so copied documents cannot be told apart from other writes.",
	"countedOnce":       "The recipient was counted once; a second count gives the rate.",
	"noRate":            "The rate is not known yet.",
	"notLoaded":         "The recipient has not been counted yet.",
	"notPermitted":      "The cluster user is not permitted to count; that needs collStats, which clusterMonitor has.",
	"recipientNotAsked": "The recipient has no chunk of this collection yet, so mongos does not ask it.",
	"unreachable":       "A shard did not answer.",
}
