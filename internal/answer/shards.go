package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Shards are all shards with what each carries.
func Shards(v View) []api.Shard { return shards(v, LoadOf(v.Table)) }

func shards(v View, load Load) []api.Shard {
	collections := map[string]int{}
	for _, c := range v.Table.Collections {
		if Sharded(c) {
			for shard := range c.Chunks.CountByShard() {
				collections[shard]++
			}
		}
	}
	out := make([]api.Shard, 0, len(load.Shards))
	for i, s := range load.Shards {
		out = append(out, api.Shard{
			Name: s.Name, ReplSet: s.ReplSet, Hosts: notNil(s.Hosts), Draining: s.Draining, Zones: notNil(s.Zones),
			Collections: collections[s.Name], Chunks: int(load.Chunks[i].Value),
			Bytes: figureOf(load.Bytes[i]), Documents: figureOf(load.Documents[i]), Disk: diskOf(v, s.Name),
		})
	}
	return out
}

// diskOf is how full a shard's disk is. It is full when it needs a person now:
// the shard stops at 100 %, and nothing in the cluster makes room by itself.
func diskOf(v View, shard string) api.Disk {
	d := v.Table.DiskOf(shard)
	out := api.Disk{Used: figureOf(d.Used), Total: figureOf(d.Total), Share: -1}
	switch h := v.Table.Health[topology.PartDisks]; {
	case d.Known():
		out.Share, out.Old = d.Share(), v.Table.DiskOld(shard, v.Now)
		out.Full = out.Share >= rules.DiskFull
	case h.Denied:
		out.Why = PartState(v, topology.PartDisks).Detail
	}
	return out
}
