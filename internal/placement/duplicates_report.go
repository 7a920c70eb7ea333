package placement

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// IDPlace is an _id of a collection, as IDOf knows it.
type IDPlace struct {
	NS topology.Namespace
	ID bson.ObjectID
}

// SharedRow is one of the rows that share an _id.
type SharedRow struct {
	Shard   string
	Project bson.ObjectID
	Stored  Stored // of Project
}

// SharedID is an _id that rows on more than one shard have. That is legal, _id
// being unique per shard only, until a chunk with one of them is moved to the
// shard of another: that migration fails.
type SharedID struct {
	IDPlace
	Stored Stored // of ID
	Rows   []SharedRow
	At     time.Time // when it was seen
}

// Text is the id as people write it.
func (s SharedID) Text() string { return s.Stored.Text(s.ID) }

// Shards are those that have a row, sorted.
func (s SharedID) Shards() []string {
	var out []string
	for _, r := range s.Rows {
		out = append(out, r.Shard)
	}
	natural.Sort(out)
	return slices.Compact(out)
}

// CheckState is the state of a background check.
type CheckState string

// The states of a check.
const (
	CheckIdle    CheckState = "idle" // never started in this process
	CheckRunning CheckState = "running"
	CheckStopped CheckState = "stopped" // by somebody; can be resumed
	CheckFailed  CheckState = "failed"  // the cluster did not answer; can be resumed
	CheckDone    CheckState = "done"
)

// Label says the state in a sentence.
func (s CheckState) Label() string {
	switch s {
	case CheckIdle:
		return "Not checked yet."
	case CheckRunning:
		return "Checking."
	case CheckStopped:
		return "Stopped; it can be resumed."
	case CheckFailed:
		return "Failed; it can be resumed."
	case CheckDone:
		return "Done."
	}
	return string(s)
}

// Bounds of the check.
const (
	idsPerSecond  = 2000
	idsPerBatch   = 1000
	batchTimeout  = 15 * time.Second
	retryAfter    = 5 * time.Second
	retries       = 3
	MaxSharedKept = 1000 // shared ids that are listed; more are counted only
)

// CheckProgress is one collection's part of the check.
type CheckProgress struct {
	NS    topology.Namespace
	Read  int64           // rows
	Total topology.Figure // rows there are, estimated by the statistics
	Next  bson.RawValue   // the _id to go on from; zero before the start
	Done  bool
}

// CheckReport is the state of the check at one moment.
type CheckReport struct {
	State       CheckState
	Started     time.Time
	Ended       time.Time // zero while running
	Collections []CheckProgress
	Found       []SharedID // at most MaxSharedKept, in the order found
	FoundCount  int
	Left        time.Duration // estimated; negative when not known
	Problem     string        // why it failed, for people
}

// totalOf sums a collection's rows over its shards; unknown if one of them is.
func totalOf(t *topology.Table, ns topology.Namespace) topology.Figure {
	sizes, ok := t.Sizes[ns]
	if !ok || len(sizes.Shards) == 0 {
		return topology.Figure{Reason: "notLoaded"}
	}
	out := topology.Figure{Known: true, At: sizes.At}
	for _, s := range sizes.Shards {
		if !s.Documents.Known {
			return topology.Figure{Reason: s.Documents.Reason}
		}
		out.Value += s.Documents.Value
		out.Method = s.Documents.Method
	}
	return out
}

func readSoFar(colls []CheckProgress) (n int64) {
	for _, c := range colls {
		n += c.Read
	}
	return n
}
