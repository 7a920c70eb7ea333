package operation

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Trace is what the cluster shows of a command that was sent and never answered.
type Trace struct {
	Running bool // an operation that may be this command is running
	Ended   bool // its end is in the changelog, whether it succeeded or failed
	Step    int  // of a running migration: the donor's current step, of Steps; 0: not known
	Steps   int
	// Resharding is the running operation of a step that reshards; nil: there is none.
	Resharding *Resharding
	Events     []topology.Event // changelog entries about its bounds since it was sent, oldest first
}

// Reader reads from the cluster, never from a table in memory: the preconditions of a
// command before it is sent, and the proof of its effect after. Reads use majority
// read concern and are not older than the newest command of this process. Errors are
// classified with fault.
type Reader interface {
	// ReadFact returns the fields of a fact as they are now.
	ReadFact(ctx context.Context, f Fact) (map[string]string, error)
	// Activity returns what is running: migrations, DDL, pending clean-ups.
	Activity(ctx context.Context, nss []topology.Namespace) (Activity, error)
	// Changelog returns the entries of a namespace since a time, oldest first.
	Changelog(ctx context.Context, ns topology.Namespace, since time.Time, limit int) ([]topology.Event, error)
	// Trace looks for a command that was sent at about that time with this comment
	// and these bounds. It settles an unknown outcome: a command has failed only if
	// it has no effect and is no longer running.
	Trace(ctx context.Context, run string, s Step, since time.Time) (Trace, error)
	// MigrationsNow returns the running migrations, whoever started them, by the
	// cheapest read of the release.
	MigrationsNow(ctx context.Context) ([]balance.Migration, error)
	// ChunksFromNow returns up to limit chunks of a collection in key order, from the
	// first one that begins at or after a key.
	ChunksFromNow(ctx context.Context, m topology.Meta, from shardkey.Key, limit int) ([]topology.Chunk, error)
	// ClusterID returns the id of the cluster that answers now; "" if it may not be read.
	ClusterID(ctx context.Context) (string, error)
}

// Counter counts rows. Errors are classified with fault.
type Counter interface {
	// CountUpTo counts the rows that match a filter, without orphans, and stops at one
	// more than most. Texts are compared by their bytes. The context needs a deadline.
	CountUpTo(ctx context.Context, ns topology.Namespace, filter bson.Raw, most int64) (int64, error)
}

// Index is one index of a collection.
type Index struct {
	Name   string   // hostile text
	Key    bson.Raw // such as {p: 1, q: 1}
	Unique bool
	// What makes an index unfit for a shard key.
	Partial, Sparse, Hidden, Collated bool
}

// IndexReader reads the indexes of a collection, as one of its shards has them. Errors
// are classified with fault.
type IndexReader interface {
	Indexes(ctx context.Context, ns topology.Namespace) ([]Index, error)
}

// Unfit says why an index cannot support a shard key; "" if it can.
func (i Index) Unfit() string {
	switch {
	case i.Partial:
		return "partial"
	case i.Sparse:
		return "sparse"
	case i.Collated:
		return "not in the simple collation"
	case i.Hidden:
		return "hidden"
	}
	return ""
}

// Fields is the number of fields of an index.
func (i Index) Fields() int {
	elements, err := i.Key.Elements()
	if err != nil {
		return 0
	}
	return len(elements)
}

// OperationTimes are the operations on a collection on one shard since that shard's server was
// started, and the time that they took.
type OperationTimes struct {
	Reads, Writes       int64
	ReadTime, WriteTime time.Duration
}

// Latencies reads how long operations take. Errors are classified with fault.
type Latencies interface {
	// OperationTimes returns the operations of a collection by shard. A shard that does not
	// answer is an error.
	OperationTimes(ctx context.Context, ns topology.Namespace) (map[string]OperationTimes, error)
}
