package answer

import (
	"slices"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/history"
)

// ServerTextWhole is how many bytes of a server's text a page has; the API has
// every text whole.
const ServerTextWhole = 8000

// FailureAdvice says what a kind of failure means, and what to do.
func FailureAdvice(c history.Code) string {
	if c == "" {
		return ""
	}
	return c.Meaning() + " " + c.Advice()
}

// failureReason is why a move failed.
func failureReason(r history.Reason) api.FailureReason {
	out := api.FailureReason{Reason: r.Text, ReasonFrom: r.From, ReasonCode: string(r.Code), Meaning: FailureAdvice(r.Code)}
	if r.Code != history.OtherReason && r.Code != "" {
		out.Brief = r.Code.Meaning()
	}
	return out
}

// Reasons are those of the table's failed moves, by entry.
func (v View) Reasons() map[string]history.Reason {
	if len(v.Table.Events) == 0 {
		return nil
	}
	oldest := v.Table.Events[len(v.Table.Events)-1].Time
	return history.Reasons(v.Table.Events, func() []history.OurRun { return v.OurRuns(oldest, v.Now) })
}

// StepReasons are those of a step's entries, which are oldest first. Where the log
// has none, the answer to the command does.
func StepReasons(s engine.Step) map[string]history.Reason {
	events := slices.Clone(s.Events)
	slices.Reverse(events)
	out := history.Reasons(events, nil)
	for id, r := range out {
		if r.Text == "" && s.Error != "" {
			out[id] = history.Reason{Text: s.Error, From: history.FromRun, Code: history.CodeOf(s.Error)}
		}
	}
	return out
}

// StepCode is the kind of a step's failure, if it is a move that failed with a
// known one.
func StepCode(s engine.Step) history.Code {
	if s.Error == "" || !s.Migrates() {
		return ""
	}
	if c := history.CodeOf(s.Error); c != history.OtherReason {
		return c
	}
	return ""
}
