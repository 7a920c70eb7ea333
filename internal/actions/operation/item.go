package operation

import (
	"encoding/json"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Item is one item of a planned batch. It is planned again when its turn comes, and run as a
// run of its own, within Limits. Immutable.
type Item struct {
	Number  int // from 1, in the order in which the items begin
	Group   int // from 1; the canary is a group of its own
	Kind    Kind
	Args    json.RawMessage // an Args, which only the kinds know; see ItemArgs
	UndoOf  string          `json:",omitempty"` // id of the run that the item undoes
	Summary message.Message // of what was planned
	Limits  Limits
	Shards  []string        // that give or receive chunks
	Moves   int             // commands that move data
	Bytes   topology.Figure // that are moved
	NoWait  bool            `json:",omitempty"` // its moves do not wait for the donor's clean-up
	Hash    string          // of its commands and their preconditions, as planned

	Sends []Kind `json:",omitempty"` // kinds of its commands, as planned

	Steps []Step `json:"-"` // as planned; not stored, because the item is planned again
}

// Limits are what a confirmed plan may change at most. A run that is adapted to a
// changed cluster stays within them.
type Limits struct {
	Collections []topology.Namespace
	Project     string // hex id; "" when the plan is not about a project
	Zones       []string
	Shards      []string        // that may receive chunks
	Chunks      int             // maximum number of moves in the whole run
	Bytes       topology.Figure // maximum bytes still to be moved; not known: no limit
	// Without are kinds of which the run sends no command: they need approval, and the plan had none of them.
	Without []Kind `json:",omitempty"`
}
