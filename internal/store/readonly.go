package store

import "shardboard/internal/fault"

// ErrReadOnly is returned by methods that write in a process that does not own the data.
var ErrReadOnly = fault.New(fault.Unavailable,
	"Another shardboard owns this data directory, so this one only reads. Sign-in, plans and settings work at the other one; or give "+
		"this one a --data-dir of its own.")
