package web

import (
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// paletteSize is how many colours there are before they repeat.
const paletteSize = 12

// shardRefs are the cluster's shards as every page shows them. The colour is
// the place in the sorted list, so it is the same on every page and in every
// browser, and only adding or removing a shard can change it.
func shardRefs(t *topology.Table) []templates.ShardRef {
	refs := make([]templates.ShardRef, len(t.Shards))
	labels := shardLabels(t.Shards)
	for i, s := range t.Shards {
		refs[i] = templates.ShardRef{Name: s.Name, Label: labels[i], Color: i%paletteSize + 1, URL: shardURL(s.Name)}
	}
	return refs
}

// refs finds shards by name; a chunk may name one that the table lacks (read
// before the shard list was), which then has no colour.
type refs map[string]templates.ShardRef

func refsOf(t *topology.Table) refs {
	out := refs{}
	for _, r := range shardRefs(t) {
		out[r.Name] = r
	}
	return out
}

func (m refs) of(name string) templates.ShardRef {
	if r, ok := m[name]; ok {
		return r
	}
	return templates.ShardRef{Name: name, Label: "?", URL: shardURL(name)}
}

// shardLabels shortens names to what tells them apart: shard-rs-1, shard-rs-2
// become 1, 2. Where that is longer than three characters the place in the
// list stands for the name.
func shardLabels(shards []topology.Shard) []string {
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

func shardURL(name string) string { return "/shards/" + url.PathEscape(name) }
func collectionURL(ns topology.Namespace) string {
	return "/collections/" + url.PathEscape(string(ns))
}

// visible tells whether a tracked collection belongs on pages: not the
// server's own, not a copy that resharding is filling.
func visible(c *topology.Collection) bool {
	return !c.Temporary && !topology.IsInternal(c.NS)
}

// sharded tells whether a visible collection is really cut into chunks.
func sharded(c *topology.Collection) bool { return visible(c) && !c.Unsplittable }
