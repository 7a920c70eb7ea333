package actions

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Args are the arguments of any kind, named as the field names them. Which a
// kind takes, and which it needs, its file says; one that it does not take is
// refused, so that a mistyped plan never does something else.
type Args struct {
	NS      topology.Namespace // database.collection
	At      bson.Raw           // split, split-hot: a complete shard key
	Parts   int                // split: into so many, 2 to 64
	Bounds  [2]bson.Raw        // exact bounds [min, max) of a chunk, or of chunks to merge
	Chunk   string             // a chunk's reference instead of its bounds
	To      string             // shard name
	Project string             // hex id, exact name or public key
	DB      string             // which database's, where several have the project
	Shard   string
	Zone    string
	Min     bson.Raw // of a zone range or a part of a chunk
	Max     bson.Raw
	Mode    string        // pin, isolate, spread: "moves" (we split and move) or "balancer"
	On      *bool         // balance-collection
	Start   string        // balancer-window: "HH:MM" where the config server is; both empty: always
	Stop    string        //
	Force   bool          // move: also a chunk that is too big or jumbo
	Expires time.Duration // pin: after so long it is reported as expired; 0 = never
	Owner   string        // pin: who answers for it
	Pause   string        // pin, isolate, spread, split-hot, move: what of the balancer is paused meanwhile: "collections" or "balancer"
	Chunks  []string      // split-hot: references of several chunks
	Cuts    []Cut         // split-hot: what was found for each of its chunks; replaces chunks, at and to
}

// Cut is a chunk that is split and of which one half moves: everything that was
// chosen for it, so that planning it again gives the same, or what is left of it.
type Cut struct {
	Min, Max bson.Raw // bounds of the chunk as it was
	At       bson.Raw // where it is split
	Half     string   // which part moves: HalfLower or HalfUpper
	To       string   // shard
}

// The parts of a chunk that is split: [Min, At) and [At, Max).
const (
	HalfLower = "lower"
	HalfUpper = "upper"
)
