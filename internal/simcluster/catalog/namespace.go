package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// sortedKeys are a map's keys in order, so that nothing depends on map order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

// splitNS cuts "db.coll" at its first dot; ok is false without both parts.
func splitNS(ns string) (db, coll string, ok bool) {
	db, coll, ok = strings.Cut(ns, ".")
	return db, coll, ok && db != "" && coll != ""
}
