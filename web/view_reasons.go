package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// How many bytes of a server's text a page shows at once, and how many it has at
// all; the API has every text whole.
const (
	serverTextShown = 240
	serverTextWhole = 8000
)

// serverText is a text of the server with a name before it. What is cut keeps
// numbers, ids and bounds whole, and all of it is one click away.
func serverText(label, text string) *templates.ServerText {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	whole := sanitize.Sentence(sanitize.Shorten(text, serverTextWhole))
	out := &templates.ServerText{Label: label, Text: whole}
	if short := sanitize.Shorten(whole, serverTextShown); short != whole {
		out.Short = short
	}
	return out
}

// reasonText is the server's own text of a reason.
func reasonText(r history.Reason) *templates.ServerText {
	if r.From == history.FromRun {
		return serverText(words.T("failure.run"), r.Text)
	}
	return serverText(words.T("failure.server"), r.Text)
}

// failureMeans says what a kind of failure means; "" for one that only the
// server's text explains.
func failureMeans(c history.Code) string {
	if c == history.OtherReason || c == "" {
		return ""
	}
	return words.Code("failure.means", string(c), nil)
}

// failureAdvice says what a kind of failure means, and what to do.
func failureAdvice(c history.Code) string {
	if c == "" {
		return ""
	}
	return words.T("failure.both", "means", words.Code("failure.means", string(c), nil), "do", words.Code("failure.do", string(c), nil))
}

// failureReason is the same for the API.
func failureReason(r history.Reason) api.FailureReason {
	return api.FailureReason{Reason: r.Text, ReasonFrom: r.From, ReasonCode: string(r.Code), Meaning: failureAdvice(r.Code)}
}

// reasons are those of the table's failed moves, by entry.
func (v View) reasons() map[string]history.Reason {
	if len(v.Table.Events) == 0 {
		return nil
	}
	oldest := v.Table.Events[len(v.Table.Events)-1].Time
	return history.Reasons(v.Table.Events, func() []history.OurRun { return v.runs(oldest, v.Now) })
}

// stepReasons are those of a step's entries, which are oldest first. Where the log
// has none, the answer to the command does.
func stepReasons(s engine.Step) map[string]history.Reason {
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
func stepCode(s engine.Step) history.Code {
	if s.Error == "" || !s.Migrates() {
		return ""
	}
	if c := history.CodeOf(s.Error); c != history.OtherReason {
		return c
	}
	return ""
}

// failedShown is how many failed moves a page about one thing lists.
const failedShown = 3

// failedMoves are the newest moves that failed among those that takes chooses.
// internal is with those of the server's own collections; address is a page that
// has them all.
func failedMoves(v View, internal bool, address string, takes func(history.Migration) bool) templates.FailedMoves {
	var out templates.FailedMoves
	if !slices.ContainsFunc(v.Table.Events, history.FailedMove) {
		return out
	}
	r := refsOf(v.Table)
	hidden := 0
	for _, m := range v.migrations() {
		switch {
		case m.Outcome != history.Aborted || !takes(m):
		case !internal && topology.IsInternal(m.NS):
			hidden++
		case len(out.Rows) == failedShown:
			out.More = address
		default:
			out.Rows = append(out.Rows, failedRow(v, r, m))
		}
	}
	out.Folded = foldedNote("moves", address, hidden, false)
	return out
}

// failedOf are those of one collection, of any range when takes is nil.
func failedOf(v View, ns topology.Namespace, takes func(history.Migration) bool) templates.FailedMoves {
	return failedMoves(v, true, activityQuery{NS: string(ns), Failed: true}.url(0), func(m history.Migration) bool {
		return m.NS == ns && (takes == nil || takes(m))
	})
}

// touches tells whether a move was of a part of a range. A move whose bounds are
// of another shard key touches none.
func touches(c *topology.Collection, r shardkey.Range) func(history.Migration) bool {
	return func(m history.Migration) bool {
		lo, err1 := c.Key.Bound(m.Min)
		hi, err2 := c.Key.Bound(m.Max)
		return err1 == nil && err2 == nil && r.Overlaps(shardkey.Range{Min: lo, Max: hi})
	}
}

// failedRow is a failed move as a line of a list.
func failedRow(v View, r refs, m history.Migration) templates.EventRow {
	row := eventRow(v, r, event{Event: topology.Event{ID: fmt.Sprintf("failed-%s-%d", v.nameOf(m.Min), m.Begin.UnixMilli()), Time: m.Begin, What: "moveChunk.error", NS: string(m.NS)},
		from: m.From, to: m.To, min: m.Min, max: m.Max, failed: true, why: m.Why()})
	row.Why, row.Counts = failureAdvice(m.Why().Code), reached(m)
	return row
}

// reached is how far a move got that gave no reason.
func reached(m history.Migration) string {
	if m.Outcome != history.Aborted || m.Reason != "" || m.DonorSteps == 0 {
		return ""
	}
	return words.T("failure.reached", "n", strconv.Itoa(len(m.Donor)), "of", strconv.Itoa(m.DonorSteps))
}
