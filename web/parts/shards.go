package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// ShardRefs are the cluster's shards as every page shows them. The colour is
// the place in the sorted list, so it is the same on every page and in every
// browser, and only adding or removing a shard can change it.
func ShardRefs(t *topology.Table) []templates.ShardRef {
	refs := make([]templates.ShardRef, len(t.Shards))
	labels := answer.ShardLabels(t.Shards)
	for i, s := range t.Shards {
		refs[i] = templates.ShardRef{Name: s.Name, Label: labels[i], Color: i%answer.PaletteSize + 1, URL: answer.ShardURL(s.Name)}
	}
	return refs
}

// Refs finds shards by name; a chunk may name one that the table lacks (read
// before the shard list was), which then has no colour.
type Refs map[string]templates.ShardRef

func RefsOf(t *topology.Table) Refs {
	out := Refs{}
	for _, r := range ShardRefs(t) {
		out[r.Name] = r
	}
	return out
}

func (m Refs) Of(name string) templates.ShardRef {
	if r, ok := m[name]; ok {
		return r
	}
	return templates.ShardRef{Name: name, Label: "?", URL: answer.ShardURL(name)}
}
