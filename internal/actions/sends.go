package actions

import "slices"

// Sends lists the kinds of change whose command the steps send, each once. A kind that is made of several
// commands, such as isolate, is in no list: its commands are. What a run turns on again that it has turned
// off itself does not count.
func (d Draft) Sends() (out []Kind) {
	for _, s := range d.Steps {
		out = append(out, s.sends()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s Step) sends() []Kind {
	switch {
	case s.Restores:
		return nil
	case s.Item != nil:
		return s.Item.Sends
	}
	return sentKinds(s.Op)
}

// sentKinds are the kinds of change that a command is. Pinning is setting a zone range, whatever plan does it.
func sentKinds(op Op) []Kind {
	switch op {
	case OpSplitAt, OpSplitMedian:
		return []Kind{Split}
	case OpMerge:
		return []Kind{Merge}
	case OpMove, OpMoveRange:
		return []Kind{MoveChunk}
	case OpClearJumbo:
		return []Kind{ClearJumbo}
	case OpRefineKey:
		return []Kind{RefineKey}
	case OpAddZone:
		return []Kind{ZoneAddShard}
	case OpRemoveZone:
		return []Kind{ZoneRemoveShard}
	case OpSetRange:
		return []Kind{ZoneSetRange, Pin}
	case OpRemoveRange:
		return []Kind{ZoneRemoveRange, Unpin}
	case OpBalancerOn:
		return []Kind{BalancerOn}
	case OpBalancerOff:
		return []Kind{BalancerOff}
	case OpBalancerWindow:
		return []Kind{BalancerWindow}
	case OpBalancing:
		return []Kind{BalanceCollection}
	case OpBeginRemoval, OpStartDraining:
		return []Kind{DrainShard}
	case OpStopDraining:
		return []Kind{StopDraining}
	case OpRemoveShard:
		return []Kind{RemoveShard}
	case OpMigrations:
		return []Kind{AllowMigrations}
	case OpChunkSize:
		return []Kind{ChunkSize}
	case OpAutoMerge:
		return []Kind{AutoMerge}
	case OpDefragment:
		return []Kind{Defragment}
	case OpReshard:
		return []Kind{ReshardKind}
	case OpReshardCommit:
		return []Kind{ReshardCommit}
	case OpReshardAbort:
		return []Kind{ReshardAbort}
	case OpMovePrimary:
		return []Kind{MovePrimary}
	case OpMoveCollection:
		return []Kind{MoveCollection}
	case OpUnshard:
		return []Kind{Unshard}
	case OpAbortMove:
		return []Kind{MoveCollectionAbort}
	case OpAbortUnshard:
		return []Kind{UnshardAbort}
	}
	return nil
}

// undoneBy lists the kinds of the commands that take steps back, for an undo that cannot be planned yet.
func undoneBy(done []Step) []Kind {
	var out []Step
	for _, s := range done {
		switch s.Op {
		case OpSplitAt, OpSplitMedian:
			s.Op = OpMerge
		case OpMerge:
			s.Op = OpSplitAt
		case OpAddZone:
			s.Op = OpRemoveZone
		case OpRemoveZone:
			s.Op = OpAddZone
		case OpSetRange:
			s.Op = OpRemoveRange
		case OpRemoveRange:
			s.Op = OpSetRange
		case OpBalancerOn:
			s.Op = OpBalancerOff
		case OpBalancerOff:
			s.Op = OpBalancerOn
		case OpStartDraining:
			s.Op = OpStopDraining
		case OpStopDraining:
			s.Op = OpStartDraining
		}
		if !s.Pauses {
			out = append(out, s)
		}
	}
	return Draft{Steps: out}.Sends()
}
