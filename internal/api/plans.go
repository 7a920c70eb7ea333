package api

import (
	"encoding/json"
	"time"

	"shardboard/internal/message"
)

// PlanRequest requests a plan (POST plans): kind, arguments and reason. Arguments that the kind does
// not take are rejected.
type PlanRequest struct {
	Kind   string   `json:"kind"`
	Args   PlanArgs `json:"args"`
	Reason string   `json:"reason"`
}

// PlanArgs are the arguments of a change as a JSON object. Package actions declares which there are;
// keys are shard-key values in Extended JSON, hashed fields as their hash.
type PlanArgs struct{ json.RawMessage }

// PlanCut is one of the cuts in PlanArgs: a chunk to split, and which half to move.
type PlanCut struct {
	Min  Key    `json:"min"` // bounds of the chunk before the split
	Max  Key    `json:"max"`
	At   Key    `json:"at"`
	Half string `json:"half"` // which part moves: "lower", [min, at), or "upper", [at, max)
	To   string `json:"to"`   // shard
}

// PlanZone is one of the zones in PlanArgs: a range of the new shard key. Bounds may be its first fields.
type PlanZone struct {
	Min  Key    `json:"min"`
	Max  Key    `json:"max"`
	Zone string `json:"zone"`
}

// Plan is what a run will do (POST plans, GET plans/{id}).
type Plan struct {
	ID            string         `json:"id"`
	Hash          string         `json:"hash"`
	Kind          string         `json:"kind"` // of an undo: kind of the run to undo
	Args          PlanArgs       `json:"args"` // as interpreted: names as ids, references as bounds
	Summary       Sentence       `json:"summary"`
	Commands      []PlanCommand  `json:"commands"`
	Preconditions []Precondition `json:"preconditions"`
	Checks        []PlanCheck    `json:"checks"`
	Effect        Effect         `json:"effect"`
	Undo          Undo           `json:"undo"`
	Risk          string         `json:"risk"` // low, medium, high
	Role          string         `json:"role"` // needed to run it
	Confirm       *string        `json:"confirm"`
	Blocked       bool           `json:"blocked"` // a check blocks it
	Reason        string         `json:"reason"`
	By            string         `json:"by"`
	ByName        string         `json:"-"` // name of By, or its id
	MadeAt        *time.Time     `json:"madeAt"`
	ExpiresAt     *time.Time     `json:"expiresAt"`
	UndoOf        string         `json:"undoOf,omitempty"` // id of the run to undo
	Limits        Limits         `json:"limits"`           // limits within which its run may adapt
	Approval      PlanApproval   `json:"approval"`         // what a second person says about it

	// For pages only.
	Title   Sentence   `json:"-"` // the summary without ids, with short keys
	Outline []PlanLine `json:"-"` // the commands in a few lines
}

// PlanLine is one line of what a plan does: a step, or several of the same kind.
type PlanLine struct {
	Text  message.Message
	Steps int
}

// PlanCommand is a command as it will be sent, except for the comment (the run's id) and the time
// limit. Command is null for a step that only waits.
type PlanCommand struct {
	Op      string `json:"op"`
	DB      string `json:"db,omitempty"`
	Command Key    `json:"command"`
	Shell   string `json:"-"` // the command for mongosh; "" for a step that only waits

	Message message.Message `json:"-"` // what it does
}

// Precondition is what must hold in the cluster right before a command.
type Precondition struct {
	Step  int               `json:"step"` // index of the command
	Kind  string            `json:"kind"`
	NS    string            `json:"ns,omitempty"`
	Min   Key               `json:"min,omitempty"`
	Max   Key               `json:"max,omitempty"`
	Shard string            `json:"shard,omitempty"`
	Zone  string            `json:"zone,omitempty"`
	Want  map[string]string `json:"want"`
}

// Difference is a field of the cluster that differs from the expected value.
type Difference struct {
	Kind  string   `json:"kind"`
	NS    string   `json:"ns,omitempty"`
	Min   Key      `json:"min,omitempty"`
	Max   Key      `json:"max,omitempty"`
	Shard string   `json:"shard,omitempty"`
	Zone  string   `json:"zone,omitempty"`
	Field string   `json:"field"`
	Want  string   `json:"want"`
	Got   string   `json:"got"`
	Text  Sentence `json:"text"`
}

// PlanCheck is one check of a plan.
type PlanCheck struct {
	ID      string   `json:"id"`
	Verdict string   `json:"verdict"` // pass, warn, block
	Text    Sentence `json:"text"`
	Source  string   `json:"source"` // where the answer comes from
	// Plans resolve what the check found; url is the filled-in form.
	Plans []AdvicePlan `json:"plans,omitempty"`
}

// Effect is the expected result of a plan.
type Effect struct {
	Chunks         Figure `json:"chunks"`
	Documents      Figure `json:"documents"`
	Bytes          Figure `json:"bytes"`
	DurationMillis Figure `json:"durationMillis"`
	// ByBalancer is what the balancer moves because of the plan, beyond what it would move anyway; absent for nothing.
	ByBalancer *BalancerEffect `json:"byBalancer,omitempty"`

	Moves  []PlanMove    `json:"moves"`
	Shards []ShardEffect `json:"shards"`
	Stays  []Sentence    `json:"stays"` // what does not change, although it might seem to

	// Writes are the expected counted writes of each shard; absent for kinds that do not move
	// writes, or if unknown.
	Writes []WriteEffect `json:"writes,omitempty"`
}

// BalancerEffect is what the balancer moves because of a plan.
type BalancerEffect struct {
	Chunks Figure `json:"chunks"`
	Bytes  Figure `json:"bytes"`
}

// WriteEffect is one shard's rows per second, before and as expected after; both are
// estimates. A plan's are of the shortest time that tells enough: 1, 2 or 5 minutes
// before it was made. A problem's are of the time that its sentence names.
type WriteEffect struct {
	Shard           string  `json:"shard"`
	PerSecondBefore float64 `json:"perSecondBefore"`
	PerSecondAfter  float64 `json:"perSecondAfter"`
}

// PlanMove is one range that moves from one shard to another.
type PlanMove struct {
	NS         string `json:"ns"`
	Min        Key    `json:"min"`
	Max        Key    `json:"max"`
	KeyProject        // of min
	From       string `json:"from"`
	To         string `json:"to"`
	// Or lists the shards that the run may take instead when To is blocked.
	Or    []string `json:"or,omitempty"`
	Bytes Figure   `json:"bytes"`

	Until KeyProject `json:"-"` // of max

	Documents      Figure `json:"documents"`
	DurationMillis Figure `json:"durationMillis"` // duration of this move
}

// ShardEffect is one shard before and after, over the collections concerned.
type ShardEffect struct {
	Shard        string `json:"shard"`
	ChunksBefore int64  `json:"chunksBefore"`
	ChunksAfter  int64  `json:"chunksAfter"`
	BytesBefore  Figure `json:"bytesBefore"`
	BytesAfter   Figure `json:"bytesAfter"`
}

// Undo is how a run can be undone and from when.
type Undo struct {
	Possible bool       `json:"possible"`
	Text     Sentence   `json:"text"`
	From     *time.Time `json:"from"` // null: at once
	Kind     string     `json:"kind,omitempty"`
	Args     *PlanArgs  `json:"args,omitempty"`
}

// PlanRun confirms a plan (POST plans/{id}/run). Confirm is the text that the plan requires to be
// typed; absent, null and "" are equal.
type PlanRun struct {
	Hash    string  `json:"hash"`
	Confirm *string `json:"confirm"`
}

// PlanUndo requests the inverse of a run (POST runs/{id}/undo); the body is optional.
type PlanUndo struct {
	Reason string `json:"reason"`
}
