package changing

import (
	"strings"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
)

// standingOf is what a run has left in the cluster.
func standingOf(r engine.Run, t *topology.Table) api.Standing {
	s := r.LastingChanges()
	return api.Standing{Splits: s.Splits, Merges: s.Merges, Moves: s.Moves, WholeMoves: s.WholeMoves,
		ZoneRangesSet: s.RangesSet, ZoneRangesRemoved: s.RangesRemoved,
		ShardsAdded: s.ZonesJoined, ShardsRemoved: s.ZonesLeft, DrainsBegun: s.DrainsBegun, DrainsEnded: s.DrainsEnded,
		ShardsGone: s.ShardsRemoved, Settings: s.Settings, ByOthers: s.ByOthers, Unknown: s.Unknown, Paused: s.Paused,
		Text: strings.Join(append(standingTexts(r, t.Balancer), answer.DrainingTexts(r, t)...), " ")}
}

// standingTexts say in sentences what a run has left in the cluster.
func standingTexts(r engine.Run, b topology.Balancer) (out []string) {
	if r.IsBatch() {
		return []string{batchStanding(*r.Batch)}
	}
	s := r.LastingChanges()
	var changes []string
	for _, x := range []struct {
		n         int
		one, many string
	}{
		{s.RangesSet, "zone range set", "zone ranges set"},
		{s.RangesRemoved, "zone range removed", "zone ranges removed"},
		{s.ZonesJoined, "shard added to a zone", "shards added to zones"},
		{s.ZonesLeft, "shard removed from a zone", "shards removed from zones"},
		{s.Splits, "split", "splits"},
		{s.Merges, "merge", "merges"},
		{s.Moves, "move", "moves"},
		{s.WholeMoves, "move of a database or collection", "moves of databases or collections"},
		{s.DrainsBegun, "draining begun", "drainings begun"},
		{s.DrainsEnded, "draining ended", "drainings ended"},
		{s.ShardsRemoved, "shard removed from the cluster", "shards removed from the cluster"},
		{s.Settings, "setting changed", "settings changed"},
	} {
		if x.n > 0 {
			changes = append(changes, answer.Counted(x.n, x.one, x.many))
		}
	}
	switch {
	case len(changes) > 0:
		out = append(out, format.JoinWords(changes)+" by this run.")
	case s.Unknown == 0:
		out = append(out, "Nothing in the cluster has been changed by this run.")
	}
	if s.ByOthers > 0 {
		out = append(out, answer.Counted(s.ByOthers, "step was", "steps were")+" already done by the balancer or by somebody else.")
	}
	if s.Unknown > 0 {
		out = append(out, "The outcome of "+answer.Counted(s.Unknown, "command", "commands")+" is not known yet.")
	}
	if s.Paused {
		out = append(out, "This run still pauses balancing and will turn it on again.")
	} else if s.RangesSet > 0 && r.CanFinish() && b.Known {
		if b.Enabled() {
			out = append(out, "The balancer is on and keeps moving chunks, because zone ranges set by this run are still in place.")
		} else {
			out = append(out, "The balancer is off. Once it is turned on, it will move chunks to match the zone ranges set by this run.")
		}
	}
	return out
}

// batchStanding says where the changes of a batch are listed: it changes nothing itself.
func batchStanding(b engine.Batch) string {
	if b.Done == 0 && len(b.Problems) == 0 && len(b.Open) == 0 {
		return "Nothing in the cluster has been changed by this batch."
	}
	return format.Count(int64(b.Done)) + " of " + answer.Counted(b.Items, "item", "items") +
		" done. The run of each item lists what it has changed, also if the item has failed."
}
