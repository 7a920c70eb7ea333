package answer

import (
	"fmt"
	"slices"
	"strconv"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// How many bytes of a server's text a page shows at once, and how many it has at
// all; the API has every text whole.
const (
	ServerTextShown = 240
	ServerTextWhole = 8000
)

// failureMeans says what a kind of failure means; "" for one that only the
// server's text explains.
func FailureMeans(c history.Code) string {
	if c == history.OtherReason || c == "" {
		return ""
	}
	return words.Code("failure.means", string(c), nil)
}

// failureAdvice says what a kind of failure means, and what to do.
func FailureAdvice(c history.Code) string {
	if c == "" {
		return ""
	}
	return fmt.Sprintf("%s %s", words.Code("failure.means", string(c), nil), words.Code("failure.do", string(c), nil))
}

// failureReason is the same for the API.
func failureReason(r history.Reason) api.FailureReason {
	return api.FailureReason{Reason: r.Text, ReasonFrom: r.From, ReasonCode: string(r.Code), Meaning: FailureAdvice(r.Code)}
}

// reasons are those of the table's failed moves, by entry.
func (v View) Reasons() map[string]history.Reason {
	if len(v.Table.Events) == 0 {
		return nil
	}
	oldest := v.Table.Events[len(v.Table.Events)-1].Time
	return history.Reasons(v.Table.Events, func() []history.OurRun { return v.OurRuns(oldest, v.Now) })
}

// stepReasons are those of a step's entries, which are oldest first. Where the log
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

// stepCode is the kind of a step's failure, where it is a move that failed with a
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

// failedShown is how many failed moves a page about one thing lists.
const FailedShown = 3

// touches tells whether a move was of a part of a range. A move whose bounds are
// of another shard key touches none.
func Touches(c *topology.Collection, r shardkey.Range) func(history.Migration) bool {
	return func(m history.Migration) bool {
		lo, err1 := c.Key.Bound(m.Min)
		hi, err2 := c.Key.Bound(m.Max)
		return err1 == nil && err2 == nil && r.Overlaps(shardkey.Range{Min: lo, Max: hi})
	}
}

// reached is how far a move got that gave no reason.
func Reached(m history.Migration) string {
	if m.Outcome != history.Aborted || m.Reason != "" || m.DonorSteps == 0 {
		return ""
	}
	return fmt.Sprintf("The donor got through %s of %s steps.", strconv.Itoa(len(m.Donor)), strconv.Itoa(m.DonorSteps))
}
