package actions

import "slices"

// sortPinSteps puts the steps of a pin or an isolation into an order that works
// while the balancer is on.
//
// Cuts come first: a zone range makes the balancer's next round cut at the same
// keys, and the second cut is refused ("is a boundary key of existing chunk").
// Zone ranges come second: from then on the balancer never moves the project
// elsewhere, and a chunk that it moves goes where the plan wants it. Moves come
// last: each is sent by us, or found done by the balancer.
//
// Moves before zones were tried too. They are as fast, but between a move and its
// zone the balancer may move the very chunk on to even out the chunk counts, and
// what has left the recipient cannot come back before its orphaned documents are
// deleted, fifteen minutes later.
func sortPinSteps(steps []Step) {
	stage := func(s Step) int {
		switch s.Op {
		case OpSplitAt, OpSplitMedian:
			return 0
		case OpAddZone, OpSetRange:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return stage(a) - stage(b) })
}
