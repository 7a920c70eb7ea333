package engine

import (
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// State is the state of a run or a step.
type State string

// The states. Planned, Waiting, Running and Unknown are open: they will change.
const (
	Planned   State = "planned"   // not begun; once the run has ended, its planned steps will not begin
	Waiting   State = "waiting"   // for another run or for an obstacle; Why says which
	Running   State = "running"   // of a step: its intent is on disk
	Succeeded State = "succeeded" // the effect was read from the cluster
	Failed    State = "failed"    // the cluster refused, or the proof does not hold
	Refused   State = "refused"   // not sent, because the cluster differs from the plan
	Unknown   State = "unknown"   // sent without an answer; the outcome is being resolved
	Stopped   State = "stopped"   // by a person or by a restart, between two commands
	Undone    State = "undone"    // of a run: another run has undone it
	Deferred  State = "deferred"  // of a step: the server asked to try later; the next step tries again
	Skipped   State = "skipped"   // of an item of a batch: a person decided to leave it out
	Replaced  State = "replaced"  // of a step: not sent; the cluster had changed, and the rest was planned again
)

// Open reports whether the state will change by itself.
func (s State) Open() bool {
	return s == Planned || s == Waiting || s == Running || s == Unknown
}

// Run is one execution of a plan. It is a value: a run that was returned does not
// change.
type Run struct {
	ID       string // 128 bits, base32
	Plan     string // id of the plan
	Cluster  string
	Kind     actions.Kind
	Args     actions.Args
	Summary  message.Message
	State    State
	Resolved bool            // the outcome was unknown first and was then read from the cluster
	Why      message.Message // set when waiting, failed, refused, unknown or stopped
	Steps    []Step
	Rows     []RowCount       // of the project that the run concerns, by namespace
	Limits   operation.Limits // what was confirmed
	Approval *RunApproval     `json:",omitempty"` // with which it was started; nil: none was needed

	Adaptations []Adaptation // oldest first

	By       string // principal id
	ByName   string // untrusted text
	Reason   string
	Started  time.Time
	Ended    time.Time // zero while open
	StopBy   string    // principal that asked to stop; "": nobody
	StopAt   time.Time
	UndoOf   string // id of the run that this one undoes
	UndoneBy string // id of the run that undid this one
	Seq      uint64 // increases with every change

	Batch  *Batch `json:",omitempty"` // of a batch, which has no steps; else nil. Immutable
	Parent string `json:",omitempty"` // id of the batch that the run belongs to
	Item   int    `json:",omitempty"` // its number in the batch
}

// Step is one step of a run.
type Step struct {
	operation.Step
	Command  operation.Command
	State    State
	Resolved bool            // the outcome was unknown first and was then read from the cluster
	Answered bool            // the server itself acknowledged the command
	Why      message.Message // what is wrong; else empty
	Error    string          // what the server answered, as a sentence; untrusted text
	Brief    string          `json:",omitempty"` // Error without the server's own words; "" in runs recorded before it was kept
	Sent     time.Time       // when the intent was written; zero: never
	Ended    time.Time
	Before   []Reading              // the preconditions as read right before the command
	Changed  []operation.Difference // refused: of the preconditions; failed: of the proof
	Proven   []Reading              // the proof as read after the command
	Events   []topology.Event       // from the changelog
	Progress Progress
	Try      int      // how often this step was deferred before
	Backoff  *Backoff // what the step waits for, or last waited for; nil: nothing
	// Resharding is the running operation of a step that reshards, as last read; nil: never.
	Resharding *operation.Resharding `json:",omitempty"`
	Already    string                // who had already made the change: ByBalancer, …; "": the step was sent
}

// Reading is a fact and the values that were read for it.
type Reading struct {
	Fact operation.Fact
	Got  map[string]string
	At   time.Time
}

// Progress is how far a step is: for a migration the donor's step, for a step that
// waits for the cluster the number of proofs that hold. Total is 0 when that is not
// known.
type Progress struct{ Done, Total int64 }

// InFlight is the index of the step whose command was sent and has not ended, or -1.
func (r Run) InFlight() int {
	for i, s := range r.Steps {
		if s.State == Running || s.State == Unknown {
			return i
		}
	}
	return -1
}

// setError keeps the text of an error twice: in full for those who may read server
// messages, and without the server's own words for everybody else.
func (s *Step) setError(err error) {
	s.Error, s.Brief = "", ""
	if err != nil {
		s.Error, s.Brief = fault.Text(err), fault.Brief(err)
	}
}

// leavesChange reports whether the step caused a lasting change. A change that was
// already made counts unless somebody else is known to have made it: the balancer
// may have made it because of this run.
func (s Step) leavesChange() bool {
	return s.State == Succeeded && s.Sends() && !s.Pauses && !s.Restores && s.Already != ByOther
}
