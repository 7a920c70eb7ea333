package topology

import (
	"context"
	"fmt"

	"shardboard/internal/shardkey"
)

// Source is what the watcher needs read from a cluster. Every method is one
// command (cursor continuations aside) unless it says otherwise. Errors are
// classified with fault: a missing privilege is fault.Forbidden around a
// *DeniedError, a cluster that cannot be reached fault.Unavailable. Methods
// that return rows may return them together with a *SkippedError. All methods
// are safe for concurrent use and obey the context's deadline.
type Source interface {
	// Server reads hello, buildInfo and the cluster id, once per connect (three
	// commands); fault.Invalid when the target is not a mongos.
	Server(ctx context.Context) (ServerInfo, error)
	// Heads is the idle routing poll: sharded collections by name, each with its
	// highest chunk version.
	Heads(ctx context.Context, w Window) ([]Head, error)
	// AllChunks streams all chunks of one collection in key order.
	AllChunks(ctx context.Context, m Meta, each func(*ChunkRow) error) error
	// CountChunks counts the chunks of one collection by an index.
	CountChunks(ctx context.Context, m Meta) (int64, error)
	// Chunks streams the chunks of one collection with version >= since, oldest
	// version first.
	Chunks(ctx context.Context, m Meta, since Version, each func(Chunk) error) error
	// ChunksFrom streams at most limit chunks in key order, from the one whose
	// lower bound is from or the next greater.
	ChunksFrom(ctx context.Context, m Meta, from shardkey.Key, limit int, each func(Chunk) error) error
	// ChunksAt streams the chunks with these lower bounds, as far as there are such.
	ChunksAt(ctx context.Context, m Meta, at []shardkey.Key, each func(Chunk) error) error
	// Shards are in natural order of their names.
	Shards(ctx context.Context) ([]Shard, error)
	Databases(ctx context.Context) ([]Database, error)
	// Zones gives the stored bounds; the watcher completes them to keys.
	Zones(ctx context.Context) ([]ZoneRange, error)
	// Settings returns the balancer's settings; the status fields stay zero.
	Settings(ctx context.Context) (Balancer, error)
	Routers(ctx context.Context) ([]Router, error)
	BalancerStatus(ctx context.Context) (inRound bool, rounds int64, err error)
	// Events returns changelog entries newer than the given one (nil: any), newest
	// first, at most limit. Usually one command; two or three when more than a few are new.
	Events(ctx context.Context, newest *Event, limit int) ([]Event, error)
	// Sizes reads the statistics of one collection on every shard that has it.
	Sizes(ctx context.Context, ns Namespace) (Sizes, error)
	// AllSizes reads those of all sharded collections at once; fault.NotFound
	// when the server is too old for that.
	AllSizes(ctx context.Context) ([]Sizes, error)
	// Disks reads how full the disks of these shards are, by name, with the
	// statistics of a database, which every shard is asked for. A shard that failed
	// or has nothing of the database has figures that are not known; the error is
	// for when none answered.
	Disks(ctx context.Context, db string, shards []Shard) (map[string]Disk, error)
	// Collections lists a database's collections, names only, no views and no system collections.
	Collections(ctx context.Context, db string) ([]Namespace, error)
}

// connected is a source that knows which servers answer, without asking them.
type connected interface{ Connection() Connection }

// Window says which collections a routing poll asks for; the zero value means all.
type Window struct {
	After Namespace   // only names greater than this one
	Limit int         // at most so many, by name; 0 = no limit
	Only  []Namespace // exactly these, where they exist; After and Limit are then ignored
}

// DeniedError is the cause of a fault.Forbidden: the cluster user lacks a privilege.
type DeniedError struct {
	Privilege string // what to grant, such as "find on config.tags"
	Product   string // the product that refuses it to every user, so that no grant helps; "" for none
	Err       error
}

func (e *DeniedError) Error() string { return "missing privilege " + e.Privilege }

// Unwrap gives the server's own refusal.
func (e *DeniedError) Unwrap() error { return e.Err }

// SkippedError comes with the rows that could be read when others could not:
// a document of the cluster's metadata has not the shape that any known server
// version writes.
type SkippedError struct {
	What  string // the collection read
	Count int    // documents left out
	First error  // why the first one was
}

func (e *SkippedError) Error() string {
	return fmt.Sprintf("%d documents of %s are not understood: %v", e.Count, e.What, e.First)
}

// Unwrap gives the reason of the first document left out.
func (e *SkippedError) Unwrap() error { return e.First }
