package actions

import (
	"go.mongodb.org/mongo-driver/v2/bson"

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
