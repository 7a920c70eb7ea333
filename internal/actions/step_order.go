package actions

import (
	"shardboard/internal/actions/operation"
	"slices"
)

// sortPinSteps puts the steps of a pin or an isolation into an order that works
// while the balancer is on.
//
// Splits come first, because a zone range makes the balancer split at the same keys in
// its next round, and the second split is refused ("is a boundary key of existing
// chunk"). Zone ranges come second: from then on, the balancer moves the project only
// to the shard that the plan wants. Moves come last: each is sent by the run, or the
// balancer has made it already.
//
// Moves before zones are as fast, but were rejected: between a move and its zone the
// balancer may move the same chunk away to even out the chunk counts, and the chunk
// cannot come back until its orphaned documents are deleted, fifteen minutes later.
func sortPinSteps(steps []operation.Step) {
	stage := func(s operation.Step) int {
		switch {
		case s.Effects().Splits:
			return 0
		case s.Effects().FillsZone:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(steps, func(a, b operation.Step) int { return stage(a) - stage(b) })
}
