package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/history"
)

// How many ended moves and how many reasons of failures the activity page shows.
const (
	movesShown   = 12
	reasonsShown = 10
)

// Moves are those that the changelog tells of: which have no end, how long the
// newest ended ones took, and why some failed.
//
// What may be under way is always shown, of whatever collection: it is what the
// two shards are busy with. Of what has ended, the server's own collections are
// left out unless internal is set.
func Moves(v View, internal bool) api.Moves {
	out := api.Moves{Settled: flightsKnown(v)}
	list, hidden := withoutFolded(v.Migrations(), internal)
	out.Hidden = hidden
	for _, m := range list {
		switch m.Outcome {
		case history.Running, history.Committed, history.Unclear:
			if !inFlight(v, m) { // those are listed with how far they are
				out.Running = append(out.Running, migrationOf(v, m))
			}
		default:
			if len(out.Ended) == movesShown {
				continue
			}
			out.Ended = append(out.Ended, migrationOf(v, m))
			if m.DonorSteps == len(donorStepNames) {
				out.Steps = donorStepNames
			}
		}
	}
	groups := history.Failures(list)
	for _, g := range groups[:min(len(groups), reasonsShown)] {
		out.Failures = append(out.Failures, failuresOf(g))
	}
	return out
}
