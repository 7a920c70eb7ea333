package actions

import (
	"bytes"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reshard is what a reshardCollection does, and what its undo needs.
type Reshard struct {
	Key    bson.Raw  // the new shard key
	Zones  []KeyZone // ranges of the new key; nil: not given, which the server refuses if there are zones
	Chunks int       // initial chunks; 0: the server's default

	WasKey    bson.Raw
	WasZones  []KeyZone
	WasChunks int // chunks that it had; 0 in what was stored before this was kept
}

// redistributes reports whether the step reshards a collection with the key that it has.
func (s Step) redistributes() bool {
	return s.Reshard != nil && s.Reshard.WasKey != nil && bytes.Equal(s.Reshard.Key, s.Reshard.WasKey)
}

// ErrReshardingAborted is in the error of a resharding that was aborted.
var ErrReshardingAborted = errors.New("the resharding was aborted")

// ErrReshardingCommits is in the error of an abort that came too late: the operation has
// decided to commit, and will.
var ErrReshardingCommits = errors.New("the resharding commits")
