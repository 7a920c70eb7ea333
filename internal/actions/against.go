package actions

import (
	"maps"
	"slices"
)

func against(f Fact, got map[string]string) []Difference {
	var out []Difference
	for _, field := range slices.Sorted(maps.Keys(f.Want)) {
		if value, read := got[field]; !read || value != f.Want[field] {
			out = append(out, Difference{Fact: f, Field: field, Want: f.Want[field], Got: value})
		}
	}
	return out
}
