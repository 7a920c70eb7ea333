package actions

import (
	"context"
	"shardboard/internal/balance"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"time"
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
