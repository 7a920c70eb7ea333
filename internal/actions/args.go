package actions

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// Args are the arguments of all kinds. The Description of a kind says which it takes
// and which it requires. An argument that the kind does not take is refused, so that
// a mistyped request never does something else.
type Args struct {
	NS      topology.Namespace // database.collection
	At      bson.Raw           // split, split-hot: a complete shard key
	Parts   int                // split: number of parts, 2 to 64
	Bounds  [2]bson.Raw        // exact bounds [min, max) of a chunk, or of chunks to merge
	Chunk   string             // a chunk's reference instead of its bounds
	To      string             // shard name
	Project string             // hex id, exact name or public key
	DB      string             // the project's database, where several have such a project; move-primary: what is moved
	Shard   string
	Zone    string
	Min     bson.Raw // of a zone range, or of a part of a chunk
	Max     bson.Raw
	Mode    string // pin, isolate, spread: "moves" (we split and move) or "balancer"
	On      *bool  // balance-collection, allow-migrations, auto-merge, defragment
	Size    *int   // chunk-size: in MB; 0: the cluster's
	Start   string // balancer-window: "HH:MM" by the config server's clock; both empty: always
	Stop    string
	Days    string        // balancer-window: windows by day (8.3), as topology.DaysText; go before start and stop
	Force   bool          // move: even if the chunk is too big or jumbo
	Expires time.Duration // pin: when it is reported as expired; 0: never
	Owner   string        // pin: who is responsible for it
	Pause   string        // pin, isolate, spread, split-hot, move: balancing that is paused during the run: "collections" or "balancer"
	Chunks  []string      // split-hot, batch: references of several chunks
	Key     bson.Raw      // refine-key, reshard: the pattern of the new shard key, such as {p: 1, q: 1}
	Cuts    []Cut         // split-hot: what an earlier plan chose for each chunk; replaces chunks, at and to

	Zones         []operation.KeyZone // reshard: ranges of the new key; empty but not nil: no zones
	InitialChunks int                 // reshard: 0: the server's default

	// Of a batch:
	Plans         []PlannedChange `json:",omitempty"` // its items
	Projects      []string        `json:",omitempty"` // one item each, of the kind Each; instead of Plans
	Each          string          `json:",omitempty"`
	Canary        *bool           `json:",omitempty"` // the first item runs alone; nil: true
	Group         int             `json:",omitempty"` // items in a group; 0: the default
	PerShard      int             `json:",omitempty"` // items at a time that move chunks of a shard; 0: 1
	ChunksPerHour int             `json:",omitempty"` // 0: no limit
	BytesPerHour  int             `json:",omitempty"` // 0: no limit
	// LeaveOut leaves out the items that a check blocks. The arguments of the plan are without it and
	// without them.
	LeaveOut bool `json:",omitempty"`
}

// Cut is what split-hot chose for one chunk: where it is split, which half moves, and
// to which shard. Planning again from cuts gives the same plan, or what is left of it.
type Cut struct {
	Min, Max bson.Raw // bounds of the chunk as it was
	At       bson.Raw // where it is split
	Half     string   // which part moves: HalfLower or HalfUpper
	To       string   // shard
	// Pieces is in how many the half moves, because it is too large to move as one; 0: it does.
	Pieces int `json:",omitempty"`
}

// The parts of a chunk that is split: [Min, At) and [At, Max).
const (
	HalfLower = "lower"
	HalfUpper = "upper"
)
