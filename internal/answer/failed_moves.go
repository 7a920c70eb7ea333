package answer

import (
	"fmt"
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// failedMovesShown is how many failed moves a page about one thing lists.
const failedMovesShown = 3

// FailedMoves are the newest of the failed moves that takes chooses. more tells
// that there are others; hidden is how many of the server's own collections were
// left out, which internal includes.
func FailedMoves(v View, internal bool, takes func(history.Migration) bool) (list []api.Event, more bool, hidden int) {
	if !slices.ContainsFunc(v.Table.Events, history.FailedMove) {
		return nil, false, 0
	}
	for _, m := range v.Migrations() {
		switch {
		case m.Outcome != history.Aborted || !takes(m):
		case !internal && topology.IsInternal(m.NS):
			hidden++
		case len(list) == failedMovesShown:
			more = true
		default:
			list = append(list, failedMove(v, m))
		}
	}
	return list, more, hidden
}

// failedMove is a failed move as an entry of a list. It has no advice elsewhere,
// so its brief text has that too.
func failedMove(v View, m history.Migration) api.Event {
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
		lo, err1 := c.Key.Bound(m.Min)
		hi, err2 := c.Key.Bound(m.Max)
		return err1 == nil && err2 == nil && r.Overlaps(shardkey.Range{Min: lo, Max: hi})
	}
}
