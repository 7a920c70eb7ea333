package answer

import (
	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// outlineOf summarises the steps of a plan: one line for each kind of step and its
// destination, in the order in which they begin. A plan of 36 steps has five lines.
func outlineOf(steps []actions.Step) []api.PlanLine {
	type group struct {
		pattern     string // of several such steps
		shard, zone string
	}
	groups := map[group]int{}
	var out []api.PlanLine
	var collections []map[topology.Namespace]bool
	var first []actions.Step
	for _, s := range steps {
		g := group{pattern: manySteps(s)}
		switch s.Op {
		case actions.OpMove, actions.OpMoveRange:
			g.shard = s.Shard
		case actions.OpAddZone, actions.OpRemoveZone, actions.OpSetRange:
			g.zone = s.Zone
		}
		i, ok := groups[g]
		if !ok {
			i = len(out)
			groups[g] = i
			out, first = append(out, api.PlanLine{}), append(first, s)
			collections = append(collections, map[topology.Namespace]bool{})
		}
		out[i].Steps++
		collections[i][s.NS] = true
	}
	for i := range out {
		if s := first[i]; out[i].Steps == 1 {
			out[i].Text = shortKeys(s.Text())
		} else {
			out[i].Text = message.New("ops."+string(s.Op), manySteps(s), message.Count("n", out[i].Steps),
				message.Words("in", inCollections(collections[i])), message.Shard("shard", s.Shard), message.Zone("zone", s.Zone))
		}
	}
	return out
}

func inCollections(names map[topology.Namespace]bool) string {
	if len(names) == 1 {
		for ns := range names {
			return string(ns)
		}
	}
	return format.Count(int64(len(names))) + " collections"
}

// manySteps is the sentence for several steps like this one.
func manySteps(s actions.Step) string {
	switch s.Op {
	case actions.OpSplitAt, actions.OpSplitMedian:
		return "Split chunks at {n} points in {in}"
	case actions.OpMerge:
		return "Merge neighbouring chunks into {n} in {in}"
	case actions.OpMove, actions.OpMoveRange:
		return "Move {n} ranges of {in} to {shard}"
	case actions.OpClearJumbo:
		return "Clear the jumbo flag of {n} chunks of {in}"
	case actions.OpAddZone:
		return "Add {n} shards to the zone {zone}"
	case actions.OpRemoveZone:
		return "Remove {n} shards from the zone {zone}"
	case actions.OpSetRange:
		return "Assign {n} ranges of {in} to the zone {zone}"
	case actions.OpRemoveRange:
		return "Remove {n} ranges of {in} from their zones"
	case actions.OpItem:
		return "Run {n} changes of the kind " + string(s.Item.Kind)
	case actions.OpAwait:
		return "Wait for the balancer to move the chunks of {in}; sends no command"
	case actions.OpBalancing:
		switch {
		case s.Pauses:
			return "Pause balancing of {in}"
		case s.Restores:
			return "Resume balancing of {in}"
		case s.On:
			return "Turn on balancing of {in}"
		}
		return "Turn off balancing of {in}"
	}
	return s.Text().Pattern + ", {n} times"
}
