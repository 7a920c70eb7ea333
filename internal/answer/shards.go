package answer

import (
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/api"
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
			Name: s.Name, ReplSet: s.ReplSet, Hosts: NotNil(s.Hosts), Draining: s.Draining, Zones: NotNil(s.Zones),
			Collections: collections[s.Name], Chunks: int(load.Chunks[i].Value),
			Bytes: FigureOf(load.Bytes[i]), Documents: FigureOf(load.Documents[i]), Disk: diskOf(v, s.Name),
		})
	}
	return out
}

// NotNil keeps empty lists lists on the wire.
func NotNil(in []string) []string {
	if in == nil {
		return []string{}
	}
	return in
}

// PaletteSize is how many colours there are before they repeat.
const PaletteSize = 12

// ShardLabels shortens names to what tells them apart: shard-rs-1, shard-rs-2
// become 1, 2. Where that is longer than three characters the place in the
// list stands for the name.
func ShardLabels(shards []topology.Shard) []string {
	out := make([]string, len(shards))
	prefix := commonPrefix(shards)
	for i, s := range shards {
		rest := strings.TrimLeft(s.Name[len(prefix):], "-_.")
		if rest == "" || len(rest) > 3 || !isLabel(rest) {
			return numbered(len(shards))
		}
		out[i] = rest
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

func ShardURL(name string) string { return "/shards/" + url.PathEscape(name) }

func CollectionURL(ns topology.Namespace) string {
	return "/collections/" + url.PathEscape(string(ns))
}

// Visible tells whether a tracked collection belongs on pages: not the
// server's own, not a copy that resharding is filling.
func Visible(c *topology.Collection) bool {
	return !c.Temporary && !topology.IsInternal(c.NS)
}

// Sharded tells whether a visible collection is really cut into chunks.
func Sharded(c *topology.Collection) bool { return Visible(c) && !c.Unsplittable }
