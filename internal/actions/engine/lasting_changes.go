package engine

import "shardboard/internal/actions"

// LastingChanges counts what a run changed in the cluster and did not revert,
// according to what was read from the cluster after each step. It does not count
// changes that the balancer or somebody else made instead of the run.
type LastingChanges struct {
	Splits        int
	Merges        int
	Moves         int // chunks
	WholeMoves    int // databases and collections
	RangesSet     int // zone ranges
	RangesRemoved int
	ZonesJoined   int // shards added to a zone
	ZonesLeft     int
	DrainsBegun   int
	DrainsEnded   int
	ShardsRemoved int // from the cluster
	Settings      int // of the balancer and of collections; jumbo flags
	ByOthers      int // steps whose change somebody else had already made
	Unknown       int // commands whose outcome is not known yet
	Paused        bool
}

// LastingChanges counts the changes that the run has left in the cluster so far.
func (r Run) LastingChanges() (out LastingChanges) {
	for _, s := range r.Steps {
		switch {
		case s.State == Unknown:
			out.Unknown++
			continue
		case s.State != Succeeded || !s.Sends() || s.Restores:
			continue
		case s.Already != "":
			out.ByOthers++
			continue
		case s.Pauses:
			continue
		}
		switch s.Op {
		case actions.OpSplitAt, actions.OpSplitMedian:
			out.Splits++
		case actions.OpMerge:
			out.Merges++
		case actions.OpMove, actions.OpMoveRange:
			out.Moves++
		case actions.OpMovePrimary, actions.OpMoveCollection, actions.OpUnshard:
			out.WholeMoves++
		case actions.OpSetRange:
			out.RangesSet++
		case actions.OpRemoveRange:
			out.RangesRemoved++
		case actions.OpAddZone:
			out.ZonesJoined++
		case actions.OpRemoveZone:
			out.ZonesLeft++
		case actions.OpBeginRemoval, actions.OpStartDraining:
			out.DrainsBegun++
		case actions.OpStopDraining:
			out.DrainsEnded++
		case actions.OpRemoveShard:
			out.ShardsRemoved++
		default:
			out.Settings++
		}
	}
	out.Paused = len(r.Pauses()) > 0
	return out
}
