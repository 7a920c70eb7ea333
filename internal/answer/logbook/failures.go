package logbook

import (
	"fmt"
	"slices"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// failedMovesShown is how many failed moves a page about one thing lists.
const failedMovesShown = 3

// FailedMoves are the newest of the failed moves that takes chooses. internal includes
// those of the server's own collections; all is the page with all that failed.
func FailedMoves(v answer.View, internal bool, all ActivityQuery, takes func(history.Migration) bool) api.FailedMoves {
	all.Outcome = outcomeFailed
	out := api.FailedMoves{URL: all.URL(0)}
	if !slices.ContainsFunc(v.Table.Events, topology.Event.FailedMove) {
		return out
	}
	for _, m := range AllMigrations(v) {
		switch {
		case m.Outcome != history.Aborted || !takes(m):
		case !internal && topology.IsInternal(m.NS):
			out.Hidden++
		case len(out.Items) == failedMovesShown:
			out.More = true
		default:
			out.Items = append(out.Items, failedMove(v, m))
		}
	}
	return out
}

// FailedMovesOf are those of one collection, of any range when takes is nil.
func FailedMovesOf(v answer.View, ns topology.Namespace, takes func(history.Migration) bool) api.FailedMoves {
	return FailedMoves(v, true, ActivityQuery{NS: string(ns)}, func(m history.Migration) bool {
		return m.NS == ns && (takes == nil || takes(m))
	})
}

// failedMove is a failed move as an entry of a list. It has no advice elsewhere,
// so its brief text has that too.
func failedMove(v answer.View, m history.Migration) api.Event {
	id := fmt.Sprintf("failed-%s-%d", v.NameOf(m.Min), m.Begin.UnixMilli())
	out := EventOf(v, Event{Event: topology.Event{ID: id, Time: m.Begin, What: "moveChunk.error", NS: string(m.NS)},
		From: m.From, To: m.To, Min: m.Min, Max: m.Max, Failed: true, Why: m.Why()})
	out.Brief, out.Note = out.Meaning, reachedStep(m)
	return out
}

// Touches tells whether a move was of a part of a range. A move whose bounds are
// of another shard key touches none.
func Touches(c *topology.Collection, r shardkey.Range) func(history.Migration) bool {
	return func(m history.Migration) bool {
		moved, err := c.Key.Range(m.Min, m.Max)
		return err == nil && r.Overlaps(moved)
	}
}

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

// FailureReason is why a move failed.
func FailureReason(r history.Reason) api.FailureReason {
	out := api.FailureReason{Reason: r.Text, ReasonFrom: r.From, ReasonCode: string(r.Code), Meaning: FailureAdvice(r.Code)}
	if r.Code != history.OtherReason && r.Code != "" {
		out.Brief = r.Code.Meaning()
	}
	return out
}

// Reasons are those of the table's failed moves, by entry.
func Reasons(v answer.View) map[string]history.Reason {
	if len(v.Table.Events) == 0 {
		return nil
	}
	oldest := v.Table.Events[len(v.Table.Events)-1].Time
	return history.Reasons(v.Table.Events, func() []history.OurRun { return OurRuns(v, oldest, v.Now) })
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
