package simcluster

import (
	"fmt"
	"strconv"
	"strings"
)

// version is the simulated server version.
type version struct {
	parts   [3]int
	wire    int32  // maxWireVersion
	git     string // gitVersion of buildInfo
	release string // as in "5.0.7"
}

// releases are the versions that can be simulated; a name without a patch number
// means this one. Wire versions are those of db/wire_version.h.
var releases = [...]struct {
	parts [3]int
	wire  int32
}{
	{[3]int{4, 4, 29}, 9},
	{[3]int{5, 0, 7}, 13},
	{[3]int{6, 0, 20}, 17},
	{[3]int{7, 0, 16}, 21},
	{[3]int{8, 0, 10}, 25},
	{[3]int{8, 3, 0}, 28},
	{[3]int{9, 0, 0}, 29},
}

// parseVersion reads "5.0" or "5.0.7".
func parseVersion(s string) (version, error) {
	fields := strings.Split(s, ".")
	var parts [3]int
	ok := len(fields) == 2 || len(fields) == 3
	for i := 0; ok && i < len(fields); i++ {
		n, err := strconv.Atoi(fields[i])
		ok = err == nil && n >= 0 && n < 1000
		parts[i] = n
	}
	if ok {
		for _, r := range releases {
			if r.parts[0] == parts[0] && r.parts[1] == parts[1] {
				if len(fields) == 2 {
					parts = r.parts
				}
				return newVersion(parts, r.wire), nil
			}
		}
	}
	return version{}, fmt.Errorf("server version %q: possible are 4.4, 5.0, 6.0, 7.0, 8.0, 8.3 and 9.0", s)
}

func newVersion(parts [3]int, wire int32) version {
	v := version{parts: parts, wire: wire, git: strings.Repeat("0", 40)}
	v.release = fmt.Sprintf("%d.%d.%d", parts[0], parts[1], parts[2])
	switch parts {
	case [3]int{5, 0, 7}:
		v.git = "b977129dc70eed766cbee7e412d901ee213acbda"
	case [3]int{8, 0, 10}:
		v.git = "9d03076bb2d5147d5b6fe381c7118b0b0478b682"
	}
	return v
}

// atLeast reports whether the version is major.minor.patch or newer.
func (v version) atLeast(major, minor, patch int) bool {
	want := [3]int{major, minor, patch}
	for i := range want {
		if v.parts[i] != want[i] {
			return v.parts[i] > want[i]
		}
	}
	return true
}
