package heat

import (
	"iter"
	"maps"
	"slices"
)

// sortedKeys yields a map's keys in order.
func sortedKeys(m map[int]int64) iter.Seq[int] {
	return slices.Values(slices.Sorted(maps.Keys(m)))
}
