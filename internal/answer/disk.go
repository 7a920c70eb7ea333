package answer

import (
	"shardboard/internal/rules"
)

// diskFull is the used part of a disk that needs a person now: the shard stops
// when it is full, and nothing in the cluster makes room by itself.
const DiskFull = rules.DiskFull
