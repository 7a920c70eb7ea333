package actions

// Planners are how each kind is planned. The map is the caller's.
func Planners() map[Kind]Planner {
	return map[Kind]Planner{
		Split:             planSplit,
		SplitProject:      planSplitProject,
		SplitHot:          planSplitHot,
		Merge:             planMerge,
		MoveChunk:         planMove,
		Pin:               planPin,
		Isolate:           planIsolate,
		Unpin:             planUnpin,
		Spread:            planSpread,
		ZoneAddShard:      planZoneAddShard,
		ZoneRemoveShard:   planZoneRemoveShard,
		ZoneSetRange:      planZoneSetRange,
		ZoneRemoveRange:   planZoneRemoveRange,
		BalancerOn:        planBalancerOn,
		BalancerOff:       planBalancerOff,
		BalancerWindow:    planBalancerWindow,
		BalanceCollection: planBalanceCollection,
		ClearJumbo:        planClearJumbo,
	}
}
