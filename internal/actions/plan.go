package actions

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Verdict is what a check comes to.
type Verdict string

// The verdicts. A plan with one that blocks is shown and cannot be run.
const (
	Pass  Verdict = "pass"
	Warn  Verdict = "warn"
	Block Verdict = "block"
)

// Label is the verdict of a check, as a verb.
func (v Verdict) Label() string {
	switch v {
	case Pass:
		return "passes"
	case Warn:
		return "warns"
	case Block:
		return "blocks"
	}
	return string(v)
}

// Check is one question that a plan answers before it is run, with where the
// answer comes from (a rule of a server release, a table's part and its age).
type Check struct {
	// ID is stable: "balancer", "undo-by-balancer", "competing", "unsplittable", "size",
	// "jumbo", "recipient", "zone-overlap", "duplicates", "stale", "window", …
	ID      string
	Verdict Verdict
	Text    message.Message
	Source  message.Message
}

// Risk says how much goes wrong when the plan was a mistake.
type Risk string

// The risk classes.
const (
	Low    Risk = "low"    // metadata only, undone in a moment
	Medium Risk = "medium" // moves data, can be undone
	High   Risk = "high"   // wide, cannot be undone, or outside maintenance: needs typed confirmation
)

// Label is the risk in two words.
func (r Risk) Label() string {
	switch r {
	case Low:
		return "Low risk."
	case Medium:
		return "Medium risk."
	case High:
		return "High risk."
	}
	return "Risk: " + string(r) + "."
}

// Meaning says what plans of this risk do.
func (r Risk) Meaning() string {
	switch r {
	case Low:
		return "Metadata only; can be undone in a moment."
	case Medium:
		return "Moves data or changes what moves it; can be undone."
	case High:
		return "Far-reaching or hard to undo."
	}
	return ""
}

// Effect is what will have changed.
type Effect struct {
	Chunks    topology.Figure // that move or are cut
	Documents topology.Figure // that move
	Bytes     topology.Figure // that move
	Duration  topology.Figure // milliseconds; the method is its basis
	Moves     []MoveEffect
	Shards    []ShardEffect     // before and after, shards that change first
	Stays     []message.Message // what stays as it is and might be taken for part of it
	Writes    []WriteEffect     // expected, for kinds that move writes; none when they are not known
}

// WriteEffect is the writes that one shard takes of what is counted, in rows a
// second over the last quarter of an hour: before, and what is expected after if
// people go on writing as they did. Both are estimates.
type WriteEffect struct {
	Shard         string
	Before, After float64
}

// MoveEffect is one range that goes from one shard to another.
type MoveEffect struct {
	NS       topology.Namespace
	Min, Max bson.Raw
	From, To string
	Bytes    topology.Figure

	Documents topology.Figure
	Duration  topology.Figure // milliseconds, of this move alone
}

// ShardEffect is one shard before and after, over the collections concerned.
type ShardEffect struct {
	Shard                     string
	ChunksBefore, ChunksAfter int64
	BytesBefore, BytesAfter   topology.Figure
}

// Undo is the inverse plan: not what is sent (that is planned afresh from the
// table of then), but what it will be and from when it can work.
type Undo struct {
	Possible bool
	Text     message.Message
	From     time.Time // earliest time at which it works; zero: at once
	Kind     Kind      // with Args, what to plan; "" when several steps are undone by their own inverses
	Args     Args
}

// Draft is what a kind makes of a situation and its arguments: a pure
// function of both.
type Draft struct {
	Summary message.Message
	Steps   []Step
	Checks  []Check
	Effect  Effect
	Undo    Undo
	Risk    Risk
	Role    auth.Role // needed to run it
	Confirm string    // text to type before it runs; "" = none
	Limits  Limits    // within which a run may be adapted to a cluster that has moved on
	Reached bool      // there is nothing to do: what is asked for is so already
	Looked  []Span    `json:"-"` // chunks whose jumbo flags it depends on: to be read while planning, not kept
	Written []Span    `json:"-"` // ranges whose recent writes it depends on: likewise

	Measures []Span `json:"-"` // ranges whose size it depends on: to be measured while planning, not kept
}

// Plan is a draft that was given to somebody: what it says is what runs.
// Immutable.
type Plan struct {
	Draft
	ID       string // 128 bits, base32
	Hash     string // hex SHA-256 over the commands and what they need
	Cluster  string
	Kind     Kind
	Args     Args // resolved: a project's id, a chunk's bounds
	Reason   string
	By       auth.Principal
	Made     time.Time
	Expires  time.Time
	Commands []Command // of the steps, in order; a step that sends nothing has an empty one
	UndoOf   string    // id of the run that it undoes
	Rows     []Rows    // to count before the first command and after the last proof
}

// Command is a command exactly as it is sent, but for the comment (the run's
// id), the time limit and what the driver adds.
type Command struct {
	DB  string
	Doc bson.Raw
}

// Blocked tells whether a check forbids to run it.
func (d Draft) Blocked() bool {
	for _, c := range d.Checks {
		if c.Verdict == Block {
			return true
		}
	}
	return false
}
