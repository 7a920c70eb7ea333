// Package memory keeps the process below a limit of memory: it finds the limit, reads what the heap has, and says in a
// fixed order what has to be given up as the limit comes near.
package memory

import (
	"io/fs"
	"math"
	"strconv"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/format"
)

// Limit is how many bytes the process may have. The zero value is none.
type Limit struct {
	Bytes int64
	From  string // where it is set, for people
}

// least is less than the program needs to start.
const least = 64 << 20

// Parse reads a limit such as 512MiB, 2GB or 536870912; off is none at all, also in a container that has one.
func Parse(text string) (bytes int64, off bool, err error) {
	if strings.TrimSpace(text) == "off" {
		return 0, true, nil
	}
	n, ok := format.ParseBytes(text)
	if !ok || n < least || n > math.MaxInt64/2 {
		return 0, false, fault.New(fault.Invalid, "--memory-limit must be a size from %s on, such as 512MiB or 2GB, or off, not %q.",
			format.Bytes(least), text)
	}
	return int64(n), false, nil
}

// Container is the limit of the container, from the files of control groups (version 2, then version 1) in the root of
// the file system; none where there is none.
func Container(root fs.FS) Limit {
	for _, name := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && n >= least && n < 1<<50 { // "max", and what version 1 writes for no limit, are none
			return Limit{Bytes: n, From: "the container's limit"}
		}
	}
	return Limit{}
}
