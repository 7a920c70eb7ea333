package topology

import (
	"cmp"
	"slices"
	"strings"
)

// IsTemporary tells whether a collection is the copy that a running reshard
// fills; it appears in the catalogue beside its source.
func IsTemporary(ns Namespace) bool {
	return strings.HasPrefix(ns.Collection(), "system.resharding.")
}

// SortHeads puts heads in the order of names.
func SortHeads(heads []Head) {
	slices.SortFunc(heads, func(a, b Head) int { return cmp.Compare(a.NS, b.NS) })
}
