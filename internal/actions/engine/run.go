package engine

import (
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// State is where a run or a step is.
type State string

// The states. Planned, Waiting, Running and Unknown are open: they will change.
const (
	Planned   State = "planned"   // not begun; of a step also: will not be, once the run has ended
	Waiting   State = "waiting"   // for another run, or for what is in the way; Why says for what
	Running   State = "running"   // of a step: its intent is on disk
	Succeeded State = "succeeded" // the effect was read from the cluster
	Failed    State = "failed"    // the cluster refused, or the proof is not there
	Refused   State = "refused"   // by us, before it was sent: the cluster is not as planned
	Unknown   State = "unknown"   // sent, and no answer: being settled
	Stopped   State = "stopped"   // by somebody or by a restart, between two commands
	Undone    State = "undone"    // of a run: another run has undone it
	Deferred  State = "deferred"  // of a step: the server said "not now"; the step after it tries again
	Replaced  State = "replaced"  // of a step: not sent; the cluster had moved on, and the rest was planned again
)

// Open tells whether the state will change by itself.
func (s State) Open() bool {
	return s == Planned || s == Waiting || s == Running || s == Unknown
}

// Run is one execution of a plan. A value: it does not change after it was given.
type Run struct {
	ID       string // 128 bits, base32
	Plan     string // its plan's id
	Cluster  string
	Kind     actions.Kind
	Args     actions.Args
	Summary  message.Message
	State    State
	Resolved bool            // it was unknown, and then the cluster told
	Why      message.Message // of waiting, failed, refused, unknown, stopped; else empty
	Steps    []Step
	Rows     []RowCount     // of the project that it is about, by namespace
	Limits   actions.Limits // as they were confirmed

	Adaptations []Adaptation // oldest first

	By       string // principal id
	ByName   string // hostile text
	Reason   string
	Started  time.Time
	Ended    time.Time // zero while open
	StopBy   string    // who asked to stop, and when; "" nobody
	StopAt   time.Time
	UndoOf   string // run that this one undoes
	UndoneBy string // run that has undone this one
	Seq      uint64 // grows with every change
}

// Step is one step of a run.
type Step struct {
	actions.Step
	Command  actions.Command
	State    State
	Resolved bool            // it was unknown, and then the cluster told
	Answered bool            // the server itself said that it is done
	Why      message.Message // code and data of what is wrong; else empty
	Error    string          // what the server said, as a sentence; hostile text
	Brief    string          `json:",omitempty"` // Error without the server's own words; "" in runs recorded before it was kept
	Sent     time.Time       // when its intent was written; zero: never
	Ended    time.Time
	Before   []Reading            // what its preconditions were just before it was sent
	Changed  []actions.Difference // of the preconditions, when refused; of the proof, when failed
	Proven   []Reading            // what was read of Step.Proof after
	Events   []topology.Event     // of the changelog
	Progress Progress
	Try      int      // how often the same step was put off before this
	Backoff  *Backoff // what it waits for, or waited for last; nil: nothing
	Already  string   // who had done it when its turn came, and nothing was sent: ByBalancer, …; "" it was sent
}

// Reading is a fact as it was read.
type Reading struct {
	Fact actions.Fact
	Got  map[string]string
	At   time.Time
}

// Progress is how far a step is: of a migration the donor's step, of an await
// how many of its proofs hold. Total 0: not known.
type Progress struct{ Done, Total int64 }

// InFlight is the step whose command was sent and has not ended; -1 when none.
func (r Run) InFlight() int {
	for i, s := range r.Steps {
		if s.State == Running || s.State == Unknown {
			return i
		}
	}
	return -1
}

// CanUndo tells whether there is anything of the run to undo. What an undo has
// done is not undone again: the first plan is made anew.
func (r Run) CanUndo() bool {
	if r.State.Open() || r.State == Undone || r.UndoOf != "" {
		return false
	}
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.changed() && s.Invertible() })
}

// changed tells whether the step has changed something that stays. What somebody
// else did in its place counts when the balancer may have done it for the run.
func (s Step) changed() bool {
	return s.State == Succeeded && s.Sends() && !s.Pauses && !s.Restores && s.Already != ByOther
}

// sent tells whether a command of the run had its effect.
func (r Run) sent() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.changed() })
}
