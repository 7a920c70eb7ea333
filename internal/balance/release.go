// Package balance implements the rules of MongoDB's balancer for every server release,
// as pure functions of a routing table. For every chunk it returns where the next round
// moves it, or which rule keeps it, or "unknown" when the table lacks data that the
// rule needs.
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

// ReleaseOf parses a version such as "5.0.7" or "8.0.0-rc1". Invalid text gives the
// zero release, for which Known is false.
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

// Known reports whether the release is known.
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

// ByData reports whether shards are compared by bytes of data; before 6.0.3 they are
// compared by number of chunks.
func (r Release) ByData() bool { return r.AtLeast(6, 0, 3) }

// AutoSplits reports whether the mode autoSplitOnly has an effect: only shards up to
// 6.0 split growing chunks. The balancer moves nothing in that mode on any release.
func (r Release) AutoSplits() bool { return !r.AtLeast(6, 1, 0) }

// String is major.minor.patch, "" when not known.
func (r Release) String() string {
	if !r.Known() {
		return ""
	}
	return strconv.Itoa(r[0]) + "." + strconv.Itoa(r[1]) + "." + strconv.Itoa(r[2])
}
