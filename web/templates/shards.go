package templates

import (
	"fmt"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

// ShardRef is a shard as it is shown everywhere: a colour by its place in the
// sorted shard list, a short label inside the colour, and the full name.
type ShardRef struct {
	Name  string
	Label string // at most 3 characters, unique among the cluster's shards
	Color int    // 1..12; 0 for a shard that the table does not list
	URL   string
}

// ShardRefs are the cluster's shards as every page shows them. The colour is
// the place in the sorted list, so it is the same on every page and in every
// browser, and only adding or removing a shard can change it.
func ShardRefs(t *topology.Table) []ShardRef {
	refs := make([]ShardRef, len(t.Shards))
	labels := answer.ShardLabels(t.Shards)
	for i, s := range t.Shards {
		refs[i] = ShardRef{Name: s.Name, Label: labels[i], Color: i%answer.PaletteSize + 1, URL: answer.ShardURL(s.Name)}
	}
	return refs
}

// Refs finds shards by name.
type Refs map[string]ShardRef

// RefsOf finds the shards of a table.
func RefsOf(t *topology.Table) Refs {
	out := Refs{}
	for _, r := range ShardRefs(t) {
		out[r.Name] = r
	}
	return out
}

// Of is a shard of that name. A chunk may name one that the table lacks (read
// before the shard list was); it then has no colour.
func (m Refs) Of(name string) ShardRef {
	if r, ok := m[name]; ok {
		return r
	}
	return ShardRef{Name: name, Label: "?", URL: answer.ShardURL(name)}
}

// ShardClass is the colour class of a shard.
func ShardClass(color int) string {
	if color < 1 || color > answer.PaletteSize {
		return "s0"
	}
	return fmt.Sprintf("s%d", color)
}

// ShardOptions is a select of shards with "any" first.
func ShardOptions(t *topology.Table, selected string) []Option {
	out := []Option{{Text: "any", Selected: selected == ""}}
	for _, s := range t.Shards {
		out = append(out, Option{Value: s.Name, Text: s.Name, Selected: s.Name == selected})
	}
	return out
}
