package answer

import (
	"iter"
	"maps"

	"shardboard/internal/format"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Holders are the shards that have a part of a collection, sorted: owners of
// chunks, shards with measured data (orphaned documents too), and the primary
// shard of what is not sharded.
func Holders(t *topology.Table, ns topology.Namespace) []string {
	found := map[string]bool{}
	if c := t.Collection(ns); c != nil {
		for shard := range c.Chunks.CountByShard() {
			found[shard] = true
		}
	} else if p := t.Primary(ns.Database()); p != "" && t.DamageOf(ns) == nil {
		found[p] = true
	}
	for shard, size := range t.Sizes[ns].Shards {
		if size.Bytes.Known && size.Bytes.Value > 0 {
			found[shard] = true
		}
	}
	return natural.Sorted(maps.Keys(found))
}

// NamespaceText is a collection's name, database included.
func NamespaceText(ns topology.Namespace) string { return string(ns) }

// Namespaces yields every collection of the table, sharded or not. Damaged ones of which nothing else is known are in
// no picture and no sum.
func Namespaces(t *topology.Table) iter.Seq[topology.Namespace] {
	return func(yield func(topology.Namespace) bool) {
		for _, c := range t.Collections {
			if !yield(c.NS) {
				return
			}
		}
		for _, ns := range t.Unsharded {
			if t.Collection(ns) == nil && t.DamageOf(ns) == nil && !yield(ns) {
				return
			}
		}
	}
}

// System tells what no person made: pages leave it out, the API marks it.
func System(t *topology.Table, ns topology.Namespace) bool {
	c := t.Collection(ns)
	return topology.IsInternal(ns) || c != nil && !Visible(c)
}

// Visible tells whether a tracked collection belongs on pages: not the
// server's own, not a copy that resharding is filling.
func Visible(c *topology.Collection) bool {
	return !c.Temporary && !topology.IsInternal(c.NS)
}

// Sharded tells whether a visible collection is really cut into chunks.
func Sharded(c *topology.Collection) bool { return Visible(c) && !c.Unsplittable }

// byNameKey is the key of what is kept of a table's collections.
type byNameKey struct{}

// CollectionsByName are the collections of Namespaces, by name. Read only.
func (v View) CollectionsByName() []topology.Namespace {
	return OncePerTable(v, byNameKey{}, func() []topology.Namespace { return natural.Sorted(Namespaces(v.Table)) })
}

// Few lists names, at most five of them.
func Few(names []string) string {
	const most = 5
	if len(names) <= most {
		return format.JoinWords(names)
	}
	return format.JoinWords(names[:most]) + " and others"
}
