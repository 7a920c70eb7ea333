package answer

import (
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// MostShardsNamed is how many shards a sentence or a list names; more would fill lines that nobody reads.
const MostShardsNamed = 12

// ManyShards counts shards that are too many to be named; "" for fewer.
func ManyShards(n int) string {
	if n <= MostShardsNamed {
		return ""
	}
	return format.Count(int64(n)) + " shards"
}

// Shards are all shards with what each carries.
func Shards(v View) []api.Shard { return ShardsWith(v, v.Load()) }

// ShardsWith is Shards for a caller that has worked out what they carry.
func ShardsWith(v View, load Load) []api.Shard {
	out := make([]api.Shard, 0, len(load.Shards))
	for i, s := range load.Shards {
		out = append(out, api.Shard{
			Name: s.Name, ReplSet: s.ReplSet, Hosts: NotNil(s.Hosts), Draining: s.Draining, Zones: NotNil(s.Zones),
			ZonesShown:  Map(s.Zones, v.ZoneName),
			Collections: load.ShardedOn[i], Chunks: int(load.Chunks[i].Value),
			Bytes: FigureOf(load.Bytes[i]), Documents: FigureOf(load.Documents[i]), Disk: diskOf(v, s.Name),
			Answering: shardAnswering(v, s),
		})
	}
	return out
}

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

// PaletteSize is how many colours there are before they repeat.
const PaletteSize = 12

// ShardLabels shortens names to what tells them apart: shard-rs-1, shard-rs-2
// become 1, 2. Where that is longer than three characters, or the same for two
// (rs-1 and rs_1), the place in the list stands for the name.
func ShardLabels(shards []topology.Shard) []string {
	out := make([]string, len(shards))
	prefix, taken := commonPrefix(shards), map[string]bool{}
	for i, s := range shards {
		rest := strings.TrimLeft(s.Name[len(prefix):], "-_.")
		if rest == "" || len(rest) > 3 || !isLabel(rest) || taken[rest] {
			return numbered(len(shards))
		}
		out[i], taken[rest] = rest, true
	}
	return out
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return out
}

// commonPrefix never ends inside a number, so that rs10 and rs11 stay 10, 11.
func commonPrefix(shards []topology.Shard) string {
	if len(shards) < 2 {
		return ""
	}
	p := shards[0].Name
	for _, s := range shards[1:] {
		for !strings.HasPrefix(s.Name, p) {
			p = p[:len(p)-1]
		}
	}
	return strings.TrimRight(p, "0123456789")
}

func isLabel(s string) bool {
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return true
}

// ShardPositions are the places of the shards in the table.
func ShardPositions(t *topology.Table) map[string]int {
	out := make(map[string]int, len(t.Shards))
	for i, s := range t.Shards {
		out[s.Name] = i
	}
	return out
}
