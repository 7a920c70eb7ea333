package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// ServerText is a server's text with a name before it; nil if there is none.
func ServerText(label, text string) *templates.ServerText {
	return templates.NewServerText(label, text)
}

// FailedMoves are the newest moves that failed among those that takes chooses.
// internal includes those of the server's own collections; address is a page that
// has them all.
func FailedMoves(v answer.View, internal bool, address string, takes func(history.Migration) bool) templates.FailedMoves {
	list, more, hidden := answer.FailedMoves(v, internal, takes)
	out := templates.FailedMoves{Rows: EventRows(v, RefsOf(v.Table), list), Folded: FoldedNote("moves", address, hidden, false)}
	if more {
		out.More = address
	}
	return out
}

// FailedOf are those of one collection, of any range when takes is nil.
func FailedOf(v answer.View, ns topology.Namespace, takes func(history.Migration) bool) templates.FailedMoves {
	return FailedMoves(v, true, answer.ActivityQuery{NS: string(ns), Failed: true}.Url(0), func(m history.Migration) bool {
		return m.NS == ns && (takes == nil || takes(m))
	})
}
