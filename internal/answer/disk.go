package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// diskOf is how full a shard's disk is. It is full when it needs a person now:
// the shard stops at 100 %, and nothing in the cluster makes room by itself.
func diskOf(v View, shard string) api.Disk {
	d := v.Table.DiskOf(shard)
	out := api.Disk{Used: FigureOf(d.Used), Total: FigureOf(d.Total), Share: -1}
	switch h := v.Table.Health[topology.PartDisks]; {
	case d.Known():
		out.Share, out.Old = d.Share(), v.Table.DiskOld(shard, v.Now)
		out.Full = out.Share >= rules.DiskFull
	case h.Denied:
		out.Why = PartState(v, topology.PartDisks).Detail
	}
	return out
}
