package changing

import (
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// outlineOf summarises the steps of a plan: one line for each kind of step and its
// destination, in the order in which they begin. A plan of 36 steps has five lines.
func outlineOf(steps []operation.Step) []api.PlanLine {
	type group struct {
		pattern     string // of several such steps
		shard, zone string
	}
	groups := map[group]int{}
	var out []api.PlanLine
	var collections []map[topology.Namespace]bool
	var first []operation.Step
	for _, s := range steps {
		g := group{pattern: s.Several()}
		if strings.Contains(g.pattern, "{shard}") {
			g.shard = s.Shard
		}
		if strings.Contains(g.pattern, "{zone}") {
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
			out[i].Text = message.New("ops."+string(s.Op), s.Several(), message.Count("n", out[i].Steps),
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
