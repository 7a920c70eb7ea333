package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// sortedKeys returns the sorted keys of a map, so that results do not depend on map
// order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

// splitNS splits "db.coll" at its first dot; ok is false if either part is empty.
func splitNS(ns string) (db, coll string, ok bool) {
	db, coll, ok = strings.Cut(ns, ".")
	return db, coll, ok && db != "" && coll != ""
}
