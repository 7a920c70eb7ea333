package engine

import "shardboard/internal/actions"

// LastingChanges counts what a run has changed in the cluster and not undone
// itself, by what was read from the cluster after each step. Changes that the
// balancer or somebody else made in its place are not counted.
type LastingChanges struct {
	Splits        int
	Merges        int
	Moves         int // chunks
	RangesSet     int // zone ranges
	RangesRemoved int
	ZonesJoined   int // shards that were put into a zone
	ZonesLeft     int
	Settings      int // of the balancer and of collections, jumbo flags
	ByOthers      int // steps that were already done when the run came to them
	Unknown       int // commands whose outcome is not known yet
	Paused        bool
}

// LastingChanges are the changes that the run has left in the cluster so far.
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
		case actions.OpSetRange:
			out.RangesSet++
		case actions.OpRemoveRange:
			out.RangesRemoved++
		case actions.OpAddZone:
			out.ZonesJoined++
		case actions.OpRemoveZone:
			out.ZonesLeft++
		default:
			out.Settings++
		}
	}
	out.Paused = len(r.Pauses()) > 0
	return out
}
