package topology

import (
	"errors"
	"time"
)

// ErrMeasuredOften ends a measurement that was not begun, because as many as may
// be were begun in the last minute.
var ErrMeasuredOften = errors.New("the limit of measurements is reached")

// RangeSize is what the shards answered about one range of a shard key. Rows
// that a migration left behind on another shard are counted too: the servers
// walk the index without asking who owns the rows.
type RangeSize struct {
	Documents int64
	Bytes     int64
	Exact     bool  // the rows were read; else the documents times the shards' mean
	Mean      int64 // bytes of a document by which the shards estimate; 0 when not known
	At        time.Time
	Took      time.Duration // as the servers say
}
