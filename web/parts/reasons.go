package parts

import (
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/history"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// serverText is a text of the server with a name before it. What is cut keeps
// numbers, ids and bounds whole, and all of it is one click away.
func ServerText(label, text string) *templates.ServerText {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	whole := sanitize.Sentence(sanitize.Shorten(text, answer.ServerTextWhole))
	out := &templates.ServerText{Label: label, Text: whole}
	if short := sanitize.Shorten(whole, answer.ServerTextShown); short != whole {
		out.Short = short
	}
	return out
}

// reasonText is the server's own text of a reason.
func ReasonText(r history.Reason) *templates.ServerText {
	if r.From == history.FromRun {
		return ServerText("The answer to the run's command:", r.Text)
	}
	return ServerText("The server:", r.Text)
}

// failedMoves are the newest moves that failed among those that takes chooses.
// internal is with those of the server's own collections; address is a page that
// has them all.
func FailedMoves(v answer.View, internal bool, address string, takes func(history.Migration) bool) templates.FailedMoves {
	var out templates.FailedMoves
	if !slices.ContainsFunc(v.Table.Events, history.FailedMove) {
		return out
	}
	r := RefsOf(v.Table)
	hidden := 0
	for _, m := range v.Migrations() {
		switch {
		case m.Outcome != history.Aborted || !takes(m):
		case !internal && topology.IsInternal(m.NS):
			hidden++
		case len(out.Rows) == answer.FailedShown:
			out.More = address
		default:
			out.Rows = append(out.Rows, failedRow(v, r, m))
		}
	}
	out.Folded = FoldedNote("moves", address, hidden, false)
	return out
}

// failedOf are those of one collection, of any range when takes is nil.
func FailedOf(v answer.View, ns topology.Namespace, takes func(history.Migration) bool) templates.FailedMoves {
	return FailedMoves(v, true, answer.ActivityQuery{NS: string(ns), Failed: true}.Url(0), func(m history.Migration) bool {
		return m.NS == ns && (takes == nil || takes(m))
	})
}

// failedRow is a failed move as a line of a list.
func failedRow(v answer.View, r Refs, m history.Migration) templates.EventRow {
	row := EventRow(v, r, answer.Event{Event: topology.Event{ID: fmt.Sprintf("failed-%s-%d", v.NameOf(m.Min), m.Begin.UnixMilli()), Time: m.Begin, What: "moveChunk.error", NS: string(m.NS)},
		From: m.From, To: m.To, Min: m.Min, Max: m.Max, Failed: true, Why: m.Why()})
	row.Why, row.Counts = answer.FailureAdvice(m.Why().Code), answer.Reached(m)
	return row
}
