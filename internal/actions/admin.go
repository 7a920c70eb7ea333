package actions

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Admin changes a cluster, one server command a call. Every method
//
//   - sends its command at most once; nothing is retried, not by the driver either;
//   - lets the server stop at the context's deadline, which it gets as maxTimeMS
//     (a running migration does not stop at it), and sets one when there is none;
//   - marks the command with run as its comment, for the server's logs and
//     $currentOp; empty: no comment;
//   - takes bounds as complete shard keys, [min, max), and changes nothing in them.
//
// Errors are classified with fault. Nothing has changed when the kind is
// Invalid (the server will never accept this), NotFound (no such shard, zone,
// chunk, sharded collection or command in this release), Conflict (the cluster is
// not, or not now, in the state that this needs), Forbidden (a
// *topology.DeniedError says what to grant) or Unavailable (it never left). After
// UnknownOutcome only reading the cluster tells. Safe for concurrent use.
type Admin interface {
	// SplitAt cuts the chunk that has the key at inside it. Conflict when a chunk
	// begins there already. A split waits for a migration of the same collection.
	SplitAt(ctx context.Context, run string, ns topology.Namespace, at bson.Raw) error
	// SplitMedian cuts the chunk with exactly these bounds in the middle of its
	// documents; the server does not say where. Conflict when it can't be cut.
	SplitMedian(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error
	// MergeChunks joins the chunks that fill the range on one shard.
	MergeChunks(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error
	// MergeOnShard joins what can be joined of a collection on a shard (7.0+);
	// chunks that came in the last minutes stay.
	MergeOnShard(ctx context.Context, run string, ns topology.Namespace, shard string) error
	// ClearJumbo takes the flag from the chunk with exactly these bounds.
	ClearJumbo(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error

	// MoveChunk moves the chunk with exactly these bounds; to the shard it is on,
	// it does nothing.
	MoveChunk(ctx context.Context, run string, m topology.Move) error
	// MoveRange moves a part of one chunk, cut out as needed (6.0+).
	MoveRange(ctx context.Context, run string, m topology.Move) error

	// AddShardToZone and RemoveShardFromZone do nothing when it is so already.
	AddShardToZone(ctx context.Context, run, shard, zone string) error
	// RemoveShardFromZone is a Conflict for the last shard of a zone with ranges.
	RemoveShardFromZone(ctx context.Context, run, shard, zone string) error
	// SetZoneRange gives a range to a zone: Conflict when it meets another range.
	// Bounds may leave out the last fields of the key, which count as MinKey.
	SetZoneRange(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw, zone string) error
	// RemoveZoneRange does nothing when no range has exactly these bounds.
	RemoveZoneRange(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error

	// StartBalancer turns the balancer on.
	StartBalancer(ctx context.Context, run string) error
	// StopBalancer turns it off and waits for the round that is on.
	StopBalancer(ctx context.Context, run string) error
	// SetBalancerWindow lets it run only between two times of day, "HH:MM" where
	// the config server is; both empty: always.
	SetBalancerWindow(ctx context.Context, run, start, stop string) error
	// SetBalancing lets the balancer move this collection's chunks, or not.
	SetBalancing(ctx context.Context, run string, ns topology.Namespace, on bool) error
	// SetMigrations lets anybody move this collection's chunks, or nobody (5.0+).
	SetMigrations(ctx context.Context, run string, ns topology.Namespace, allowed bool) error
	// Balanced asks whether the balancer sees nothing to do, and if not, why, in the
	// server's word. It does not see jumbo chunks. It changes nothing.
	Balanced(ctx context.Context, ns topology.Namespace) (ok bool, violation string, err error)
}
