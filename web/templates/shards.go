package templates

import (
	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

// ShardRef is a shard as it is shown everywhere: a swatch by its place in the
// shard list, which is in natural order, a short label inside, and the full name.
type ShardRef struct {
	Name  string
	Label string // at most 3 characters, unique among the cluster's shards
	URL   string
	Swatch
}

// ShardRefs are the cluster's shards as every page shows them. The swatch is
// the place in the list, so it is the same on every page and in every
// browser, and only adding or removing a shard can change it.
func ShardRefs(t *topology.Table) []ShardRef {
	refs := make([]ShardRef, len(t.Shards))
	labels := answer.ShardLabels(t.Shards)
	for i, s := range t.Shards {
		refs[i] = ShardRef{Name: s.Name, Label: labels[i], URL: answer.ShardURL(s.Name), Swatch: swatchAt(i)}
	}
	return refs
}

// longName is how many bytes a name may have before tables cut it; it then has a title with all of it.
const longName = 16

// Refs finds shards by name.
type Refs map[string]ShardRef

// allShards says in words that a long list has every shard; "" for others.
func allShards(n int, refs Refs) string {
	if many := answer.ManyShards(n); many != "" && n >= len(refs) {
		return "all " + many
	}
	return ""
}

// RefsOf finds the shards of a table.
func RefsOf(t *topology.Table) Refs { return RefsByName(ShardRefs(t)) }

// RefsByName finds these shards by name.
func RefsByName(shards []ShardRef) Refs {
	out := Refs{}
	for _, r := range shards {
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

// ShardOptions is a select of shards with "any" first.
func ShardOptions(t *topology.Table, selected string) []Option {
	out := []Option{{Text: "any", Selected: selected == ""}}
	for _, s := range t.Shards {
		out = append(out, Option{Value: s.Name, Text: s.Name, Selected: s.Name == selected})
	}
	return out
}
