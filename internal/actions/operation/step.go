package operation

import (
	"bytes"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Step is one command as data, so that what is shown, hashed, stored and sent is the
// same.
type Step struct {
	Op       Op
	NS       topology.Namespace
	DB       string `json:",omitempty"` // of movePrimary, which has no NS
	At       bson.Raw
	Min, Max bson.Raw
	Shard    string // the recipient of a move; else the shard that is changed
	Zone     string
	Start    string
	Stop     string
	Days     string `json:",omitempty"` // windows by day, as topology.DaysText
	On       bool
	Size     int `json:",omitempty"` // chunk size in MB; 0: the cluster's
	Force    bool
	Wait     bool     // the move ends only when the donor has deleted the range
	Key      bson.Raw `json:",omitempty"` // the pattern of a shard key, such as {p: 1, q: 1}

	Others []string `json:",omitempty"` // of a move: the shards that it may go to when Shard is blocked

	Reshard *Reshard `json:",omitempty"` // of OpReshard

	Needs []Fact // preconditions, read right before it is sent; otherwise nothing is sent
	Proof []Fact // true once it has had its effect
	Goal  []Fact `json:",omitempty"` // if all are true there is nothing to send; empty: as Proof

	Pauses   bool `json:",omitempty"` // turns balancing off for the time of the run
	Restores bool `json:",omitempty"` // turns it on again, however the run ends

	Item *Item `json:",omitempty"` // of OpItem
}

// Achieves returns the facts that a step has to make true. When all are true already,
// nothing is sent.
func (s Step) Achieves() []Fact {
	if len(s.Goal) > 0 {
		return s.Goal
	}
	return s.Proof
}

// Recipients are the shards that a move may go to, the planned one first.
func (s Step) Recipients() []string { return append([]string{s.Shard}, s.Others...) }

// To is the step with another recipient, one of its others. lasting: what blocks the recipient that it had will not
// pass by itself, so that the run does not come back to it.
func (s Step) To(shard string, lasting bool) Step {
	others := slices.DeleteFunc(slices.Clone(s.Others), func(o string) bool { return o == shard })
	if !lasting {
		others = append(others, s.Shard)
	}
	s.Shard, s.Others = shard, others
	return s
}

// Reshard is what a reshardCollection does, and what its undo needs.
type Reshard struct {
	Key    bson.Raw  // the new shard key
	Zones  []KeyZone // ranges of the new key; nil: not given, which the server refuses if there are zones
	Chunks int       // initial chunks; 0: the server's default

	WasKey    bson.Raw
	WasZones  []KeyZone
	WasChunks int // chunks that it had; 0 in what was stored before this was kept
}

// Redistributes reports whether the step reshards a collection with the key that it has.
func (s Step) Redistributes() bool {
	return s.Reshard != nil && s.Reshard.WasKey != nil && bytes.Equal(s.Reshard.Key, s.Reshard.WasKey)
}

// ErrReshardingAborted is in the error of a resharding that was aborted.
var ErrReshardingAborted = errors.New("the resharding was aborted")

// ErrReshardingCommits is in the error of an abort that came too late: the operation has
// decided to commit, and will.
var ErrReshardingCommits = errors.New("the resharding commits")

// KeyZone assigns a range of a shard key, which the collection may not have yet, to a zone.
type KeyZone struct {
	Min, Max bson.Raw
	Zone     string
}

// newKey is the new shard key of an OpReshard or an OpRefineKey as text.
func (s Step) newKey() string {
	if s.Reshard == nil {
		return KeyText(s.Key)
	}
	return KeyText(s.Reshard.Key)
}

// KeyText is a shard key as mongosh writes it; "" if it is not a shard key.
func KeyText(key bson.Raw) string {
	if p, err := shardkey.ParsePattern(key); err == nil {
		return p.String()
	}
	return ""
}
