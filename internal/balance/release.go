// Package balance holds the rules by which MongoDB's balancer decides which
// chunk moves next, per server release, as pure functions of one routing
// table. It promises to say of every chunk either that it moves and where to,
// or which rule keeps it, and to say "unknown" rather than guess where the
// table does not hold what the balancer looks at. It never reads or changes
// anything.
//
// Source of the rules: db/s/balancer/balancer_policy.cpp and
// s/balancer_configuration.cpp of the releases named beside each rule.
package balance

import (
	"strconv"
	"strings"
)

// Release is a server release: major, minor, patch.
type Release [3]int

// ReleaseOf reads a version such as "5.0.7" or "8.0.0-rc1". What is no version
// gives the zero release, of which Known is false.
func ReleaseOf(version string) (r Release) {
	version, _, _ = strings.Cut(version, "-")
	for i, part := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return Release{}
		}
		r[i] = n
	}
	return r
}

// Known reports whether there is a release at all.
func (r Release) Known() bool { return r != Release{} }

// AtLeast reports whether the release is the given one or a later one.
func (r Release) AtLeast(major, minor, patch int) bool {
	o := Release{major, minor, patch}
	for i := range r {
		if r[i] != o[i] {
			return r[i] > o[i]
		}
	}
	return true
}

// ByData reports whether shards are compared by bytes of data; before 6.0.3 they
// are by number of chunks.
func (r Release) ByData() bool { return r.AtLeast(6, 0, 3) }

// AutoSplits reports whether the mode autoSplitOnly means anything: shards split
// chunks that grow up to 6.0 only. The balancer moves nothing in that mode on
// any release.
func (r Release) AutoSplits() bool { return !r.AtLeast(6, 1, 0) }

// String is major.minor.patch, "" when not known.
func (r Release) String() string {
	if !r.Known() {
		return ""
	}
	return strconv.Itoa(r[0]) + "." + strconv.Itoa(r[1]) + "." + strconv.Itoa(r[2])
}
