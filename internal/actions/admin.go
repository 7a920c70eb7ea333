package actions

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Admin changes a cluster, one server command a call. Every method
//
//   - sends its command at most once; nothing is retried, not by the driver either;
//   - passes the context's deadline to the server as maxTimeMS, and sets one when
//     there is none; a running migration does not stop at it;
//   - sends run as the command's comment, which shows in the server's logs and in
//     $currentOp; no comment when it is empty;
//   - takes bounds as complete shard keys, [min, max), and does not change them.
//
// Errors are classified with fault. Nothing has changed when the kind is
// Invalid (the server will never accept this), NotFound (no such shard, zone,
// chunk, sharded collection or command in this release), Conflict (the cluster is
// not in the state that the command needs, perhaps only for now), Forbidden (a
// *topology.DeniedError says what to grant) or Unavailable (the command was not
// sent). After UnknownOutcome only reading the cluster shows whether it took effect.
// Safe for concurrent use.
type Admin interface {
	RefineAdmin
	WholeMoveAdmin

	// SplitAt splits the chunk that contains the key at. Conflict when a chunk
	// begins there already. A split waits for a migration of the same collection.
	SplitAt(ctx context.Context, run string, ns topology.Namespace, at bson.Raw) error
	// SplitMedian splits the chunk with exactly these bounds in the middle of its
	// documents; the server does not say where. Conflict when it cannot be split.
	SplitMedian(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error
	// MergeChunks merges the chunks of a range, which must be on one shard.
	MergeChunks(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error
	// MergeOnShard merges all chunks of a collection on a shard that can be merged
	// (7.0+). Chunks that arrived in the last minutes are left alone.
	MergeOnShard(ctx context.Context, run string, ns topology.Namespace, shard string) error
	// ClearJumbo clears the flag of the chunk with exactly these bounds.
	ClearJumbo(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error

	// MoveChunk moves the chunk with exactly these bounds. It does nothing when the
	// chunk is on that shard already.
	MoveChunk(ctx context.Context, run string, m topology.Move) error
	// MoveRange moves a part of one chunk; the server splits the chunk as needed (6.0+).
	MoveRange(ctx context.Context, run string, m topology.Move) error

	// AddShardToZone and RemoveShardFromZone do nothing when nothing has to change.
	AddShardToZone(ctx context.Context, run, shard, zone string) error
	// RemoveShardFromZone: Conflict for the last shard of a zone that has ranges.
	RemoveShardFromZone(ctx context.Context, run, shard, zone string) error
	// SetZoneRange assigns a range to a zone. Conflict when it overlaps another range.
	// Bounds may omit the last fields of the key, which count as MinKey.
	SetZoneRange(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw, zone string) error
	// RemoveZoneRange does nothing when no range has exactly these bounds.
	RemoveZoneRange(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error

	// StartBalancer turns the balancer on.
	StartBalancer(ctx context.Context, run string) error
	// StopBalancer turns the balancer off and waits for the current round to end.
	StopBalancer(ctx context.Context, run string) error
	// SetBalancerWindow lets the balancer run only between two times of day, "HH:MM"
	// by the config server's clock; both empty: always. days are windows by day (8.3), as topology.DaysText.
	SetBalancerWindow(ctx context.Context, run, start, stop, days string) error
	// SetBalancing enables or disables balancing of the collection.
	SetBalancing(ctx context.Context, run string, ns topology.Namespace, on bool) error
	SettingsAdmin
	// Balanced reports whether the balancer has nothing to do for the collection, and
	// if it has, the reason in the server's words. The server ignores jumbo chunks
	// here. It changes nothing.
	Balanced(ctx context.Context, ns topology.Namespace) (ok bool, violation string, err error)

	DrainAdmin
	ReshardAdmin
}

// Renderer returns the command of a step exactly as Admin will send it.
type Renderer interface {
	Render(s Step) (Command, error)
}
