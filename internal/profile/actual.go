package profile

import (
	"slices"
	"sort"
	"strings"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Presence is how a collection exists in a database.
type Presence string

const (
	// Sharded means that it has a shard key.
	Sharded Presence = "sharded"
	// Unsharded means that it is listed and has none.
	Unsharded Presence = "unsharded"
	// Absent means that the collections were listed and it was not among them.
	Absent Presence = "absent"
	// Unlisted: not sharded, and it is not known whether it exists, because listing collections is
	// not permitted or not done yet.
	Unlisted Presence = "unlisted"
)

// Label is how a collection exists in a word or two.
func (p Presence) Label() string {
	switch p {
	case Unsharded:
		return "not sharded"
	case Unlisted:
		return "not sharded or absent"
	}
	return string(p)
}

// Actual is what a database has, as far as known.
type Actual struct {
	DB     string
	Listed bool              // unsharded collections are known too
	Keys   map[string]string // shard keys of the sharded collections, by collection
	Names  []string          // all collections, sorted, without the server's own
}

// ActualOf reads a routing table.
func ActualOf(t *topology.Table, db string) Actual {
	a := Actual{DB: db, Listed: t.Unsharded != nil, Keys: map[string]string{}}
	// Both lists are sorted by name, so a database is one contiguous part of each.
	from, to := topology.Namespace(db+"."), topology.Namespace(db+"/") // "/" follows "."
	first := sort.Search(len(t.Collections), func(i int) bool { return t.Collections[i].NS >= from })
	for _, c := range t.Collections[first:] {
		if c.NS >= to {
			break
		}
		name := c.NS.Collection()
		if c.Temporary || isInternal(name) {
			continue
		}
		a.Names = append(a.Names, name)
		if !c.Unsplittable {
			a.Keys[name] = c.Key.String()
		}
	}
	first = sort.Search(len(t.Unsharded), func(i int) bool { return t.Unsharded[i] >= from })
	for _, ns := range t.Unsharded[first:] {
		if ns >= to {
			break
		}
		if name := ns.Collection(); !isInternal(name) {
			a.Names = append(a.Names, name)
		}
	}
	natural.Sort(a.Names)
	a.Names = slices.Compact(a.Names)
	return a
}

// isInternal reports whether a collection belongs to the server.
func isInternal(name string) bool { return strings.HasPrefix(name, "system.") }

// Of returns how a collection exists, and its shard key.
func (a Actual) Of(name string) (Presence, string) {
	if key, ok := a.Keys[name]; ok {
		return Sharded, key
	}
	if _, there := slices.BinarySearch(a.Names, name); there {
		return Unsharded, ""
	}
	if a.Listed {
		return Absent, ""
	}
	return Unlisted, ""
}
