package changing

import (
	"cmp"
	"fmt"
	"slices"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
)

// The sentences about a run are made of its answer, so that pages and the command line,
// which has only the JSON, write the same.

// RunBy is the name of whoever started a run.
func RunBy(r api.Run) string { return answer.PersonText(cmp.Or(r.ByName, r.By)) }

// RunStateText says where a run is, and why.
func RunStateText(r api.Run) string {
	text := engine.State(r.State).Label() + "."
	if r.Why != "" {
		text += " " + r.Why
	}
	return text
}

// RunMeaningText says what the state of a run means and what to do about it.
func RunMeaningText(r api.Run) string {
	text := engine.State(r.State).Meaning()
	if r.State == string(engine.Running) {
		if r.StopBy != "" {
			text = "It ends after the command in flight."
		}
	}
	if r.Resolved {
		text += " Its outcome was unknown for a while and was then read from the cluster."
	}
	return text
}

// RunStepsText counts the steps of a run once, for pages and the command line: which one is in flight, which its proof
// ends, or how many are proven.
func RunStepsText(r api.Run) string {
	if n, all := stepInFlight(r.Steps); n > 0 && r.Open {
		return fmt.Sprintf("Step %d of %d", n, all)
	}
	done, all := StepsDone(r.Steps)
	return fmt.Sprintf("%d of %d", done, all) + message.Plural(all, " step proven", " steps proven")
}

// RunTook is how long a run took; "" until it has ended.
func RunTook(r api.Run) string {
	if r.StartedAt == nil || r.EndedAt == nil {
		return ""
	}
	return MillisText(r.EndedAt.Sub(*r.StartedAt).Milliseconds())
}

// RunStopText says who asked a run to stop, and what is still sent; "" if nobody did.
func RunStopText(r api.Run) string {
	if r.StopBy == "" || r.StopAt == nil {
		return ""
	}
	text := fmt.Sprintf("Stop requested by %s at %s.", answer.PersonText(r.StopBy), format.Clock(*r.StopAt))
	if !r.Open {
		return text
	}
	inFlight := func(s api.RunStep) bool {
		return s.State == string(engine.Running) || s.State == string(engine.Unknown)
	}
	if slices.ContainsFunc(r.Steps, inFlight) {
		text += " The command in flight continues, because a cluster cannot cancel it."
	}
	if r.Standing.Paused {
		return text + " Balancing is turned on again; no other command is sent."
	}
	return text + " No further command is sent."
}

// StandingKnown tells whether it is time to say what a run has left in the cluster.
func StandingKnown(r api.Run) bool {
	return !r.Open || r.State == string(engine.Unknown) || r.StopBy != ""
}

// ListAdaptations are the times that the rest of a run was planned again, newest first,
// with the differences that led to it. Adaptations that only read again what the same
// commands need are left out, and so is a goal that is no longer met: the text names it.
func ListAdaptations(r api.Run) []api.Adaptation {
	out := slices.DeleteFunc(slices.Clone(r.Adaptations), func(a api.Adaptation) bool { return a.Same })
	slices.Reverse(out)
	for i := range out {
		out[i].Because = slices.DeleteFunc(slices.Clone(out[i].Because), func(d api.Difference) bool { return d.Field == "goal" })
	}
	return out
}
