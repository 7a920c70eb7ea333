// Package natural orders names as people read them: shard-2 before shard-10.
//
// One order for every list of names: shards, zones, collections, projects. It is a total order (two names are
// equal only if they are the same bytes), so sorted lists can be searched by it and cursors of lists hold.
package natural

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Compare is negative if a comes before b, 0 if they are the same, positive otherwise. Runs of ASCII digits compare as
// numbers of any length; everything else by bytes, which for UTF-8 is the order of the characters. Names that differ
// only in leading zeros are ordered by their bytes.
func Compare[S ~string](a, b S) int {
	x, y := string(a), string(b)
	for x != "" && y != "" {
		if isDigit(x[0]) && isDigit(y[0]) {
			n, m := digits(x), digits(y)
			if c := compareNumbers(x[:n], y[:m]); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(string(a), string(b)))
}

// Sort sorts names in place.
func Sort[S ~string](names []S) { slices.SortFunc(names, Compare[S]) }

// Sorted collects names and sorts them.
func Sorted[S ~string](names iter.Seq[S]) []S { return slices.SortedFunc(names, Compare[S]) }

// Unique sorts names and leaves out what is there again.
func Unique[S ~string](names []S) []S { Sort(names); return slices.Compact(names) }

// compareNumbers compares decimal numbers without parsing them: a name may have more digits than an integer holds.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
