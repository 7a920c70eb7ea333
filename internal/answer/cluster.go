package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// allParts is every part of a table, in the order in which they are told.
var AllParts = [...]topology.Part{
	topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones, topology.PartSettings,
	topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections,
	topology.PartDisks, topology.PartMoves,
}

// partOf tells a part's health; a cause from the driver is not shown, its
// sentence is.
func PartOf(v View, p topology.Part) api.Part {
	h := v.Table.Health[p]
	out := api.Part{Part: string(p), OK: h.Err == nil && !h.At.IsZero(), Stale: v.Table.Stale(p, v.Now), At: api.Time(h.At), Privilege: h.Privilege}
	if h.Err != nil {
		out.Reason = fault.Text(h.Err)
	}
	return out
}

func BalancerOf(b topology.Balancer) api.Balancer {
	out := api.Balancer{
		Mode: b.Mode, WindowStart: b.WindowStart, WindowStop: b.WindowStop,
		ChunkBytes: b.ChunkBytes, ChunkDefault: b.ChunkDefault,
	}
	if b.Known {
		on := b.Enabled()
		out.Enabled = &on
	}
	if b.StatusKnown {
		out.InRound, out.Rounds = &b.InRound, &b.Rounds
	}
	return out
}
