package actions

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts. A plan with a check that blocks is shown but cannot be run.
const (
	Pass  Verdict = "pass"
	Warn  Verdict = "warn"
	Block Verdict = "block"
)

// Label is the verdict as a word.
func (v Verdict) Label() string {
	switch v {
	case Pass:
		return "passed"
	case Warn:
		return "warning"
	case Block:
		return "blocks"
	}
	return string(v)
}

// Check is one question that is answered before a plan is run. Source says where the
// answer comes from: a rule of the server's release, or a part of the table and its age.
type Check struct {
	// ID is stable, because scripts read it: "balancer", "undo-by-balancer", "competing", "unsplittable", "size",
	// "jumbo", "recipient", "zone-overlap", "duplicates", "stale", "window", …
	ID      string
	Verdict Verdict
	Text    message.Message
	Source  message.Message
	Plans   []Suggestion `json:",omitempty"` // that resolve what it found
}

// CheckSameRun is the check of a plan that is only tried: no run of the same change is open.
const CheckSameRun = "same-run"

// Risk says how bad it is if the plan was a mistake.
type Risk string

// The risk classes.
const (
	Low    Risk = "low"    // metadata only, quickly undone
	Medium Risk = "medium" // moves data, can be undone
	High   Risk = "high"   // wide, cannot be undone, or outside maintenance: needs typed confirmation
)

// Label is the risk in two words, as a sentence.
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

// Meaning explains the risk in one sentence; undoable says whether a run of the plan can be undone by a button.
func (r Risk) Meaning(undoable bool) string {
	switch {
	case r == Low && undoable:
		return "Changes metadata only and can be undone quickly."
	case r == Low:
		return "Changes metadata only."
	case r == Medium && undoable:
		return "Moves data, or changes what the balancer moves. Can be undone."
	case r == Medium:
		return "Moves data, or changes what the balancer moves."
	case r == High:
		return "Affects a lot of data, or is hard to undo."
	}
	return ""
}

// Effect is what the plan changes.
type Effect struct {
	Chunks    topology.Figure // that are moved, split or merged
	Documents topology.Figure // that are moved
	Bytes     topology.Figure // that are moved
	Duration  topology.Figure // milliseconds; the method says how it was estimated
	Moves     []MoveEffect
	Shards    []ShardEffect // before and after; shards that change come first
	// ByBalancer is what the balancer moves because of the plan, whenever it is on; nil: nothing more than without.
	ByBalancer *BalancerEffect   `json:",omitempty"`
	Stays      []message.Message // data that stays where it is, though a reader might expect it to move
	Writes     []WriteEffect     // expected; only of split-hot, and empty when the writes are not known
}

// WriteEffect is the writes of one shard, in rows a second over the shortest time before
// the plan that tells enough, one, two or five minutes, whatever a page's figures are of:
// before, and expected after if the load stays as it was. Only collections whose writes
// are counted are included, so both are estimates.
type WriteEffect struct {
	Shard         string
	Before, After float64
}

// MoveEffect is one range that moves from one shard to another.
type MoveEffect struct {
	NS       topology.Namespace
	Min, Max bson.Raw
	From, To string
	Or       []string `json:",omitempty"` // that it may go to when To is blocked
	Bytes    topology.Figure

	Documents topology.Figure
	Duration  topology.Figure // milliseconds, for this move alone
}

// ShardEffect is one shard before and after, over all collections that the plan changes.
type ShardEffect struct {
	Shard                     string
	ChunksBefore, ChunksAfter int64
	BytesBefore, BytesAfter   topology.Figure
}

// Undo describes the inverse plan: what it will do, and when it becomes possible. Its
// commands are not in it. They are planned when somebody asks for the undo, from the
// table at that time.
type Undo struct {
	Possible bool
	Text     message.Message
	From     time.Time // earliest time at which it can work; zero: at once
	Kind     Kind      // the kind to plan, with Args; "" when each step is undone by its own inverse
	Args     Args
}

// Draft is what a planner returns: a pure function of a situation and arguments.
type Draft struct {
	Summary message.Message
	Steps   []operation.Step
	Checks  []Check
	Effect  Effect
	Undo    Undo
	Risk    Risk
	Role    auth.Role        // needed to run it
	Confirm string           // text that must be typed before it runs; "" for none
	Limits  operation.Limits // within which a run may be adapted when the cluster has changed
	Reached bool             // the goal is reached already: there is nothing to do
	Needs   Needs            `json:"-"`
}

// Needs is what a draft depends on and a situation does not have by itself. It is read while planning, and not stored.
type Needs struct {
	Indexes topology.Namespace // of this collection; "": none
	Writes  []Span             // recent writes to these ranges
	Flags   []Span             // jumbo flags of these chunks
	Sizes   []Span             // of these ranges
}

func (n *Needs) add(o Needs) {
	if o.Indexes != "" {
		n.Indexes = o.Indexes
	}
	n.Writes, n.Flags, n.Sizes = append(n.Writes, o.Writes...), append(n.Flags, o.Flags...), append(n.Sizes, o.Sizes...)
}

// Plan is a draft that was shown to a person. Exactly its commands are run.
// Immutable.
type Plan struct {
	Draft
	ID       string // 128 bits, base32
	Hash     string // hex SHA-256 of the commands and their preconditions
	Cluster  string
	Kind     Kind
	Args     Args // resolved: a project's id, a chunk's bounds
	Reason   string
	By       auth.Principal
	Made     time.Time
	Expires  time.Time
	Commands []operation.Command // one per step, in order; empty for a step that sends nothing
	UndoOf   string              // id of the run that this plan undoes
	Rows     []Rows              // counted before the first command and after the last proof

	// Approval lists why the plan needed the approval of a second person when it was made; empty: it
	// did not.
	Approval []message.Message `json:",omitempty"`
}

// Blocked reports whether a check forbids to run it.
func (d Draft) Blocked() bool {
	for _, c := range d.Checks {
		if c.Verdict == Block {
			return true
		}
	}
	return false
}
