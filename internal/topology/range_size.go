package topology

import "time"

// RangeSize is what the shards answered about one range of a shard key. Rows
// that a migration left behind on another shard are counted too: the servers
// walk the index without asking who owns the rows.
type RangeSize struct {
	Documents int64
	Bytes     int64
	Exact     bool // the rows were read; else the documents times the shards' mean
	At        time.Time
	Took      time.Duration // as the servers say
}
