package changes

import (
	"shardboard/web/templates"
)

// Runs is the list of runs.
type Runs struct {
	State    templates.State
	States   []templates.Option
	Kinds    []templates.Option
	By       string
	Filtered bool
	Rows     []RunRow
	Older    string
	Bounded  string
	NewURL   string // where a change can be begun
}

// RunRow is one run in the list.
type RunRow struct {
	ID, URL     string
	Sentence    string
	Kind        string
	Level, Word string
	Why         string
	By, ByURL   string
	Reason      string
	Started     templates.Moment
	Stamp       string
	Took        string
	Steps       string
}

// Run is one execution of a plan. All of it is the same for everybody.
type Run struct {
	ID, PlanURL   string
	Sentence      string
	Level, Word   string
	Why           string
	Meaning       string // what the state means and what to do
	Open, CanUndo bool
	CanFinish     bool     // it has ended before its goal
	Standing      []string // what it has left in the cluster, in sentences
	Adapted       []Adaptation
	Facts         []templates.Fact
	By, Reason    string // hostile text
	Started       templates.Moment
	Ended         templates.Moment
	Took          string
	Held          string // by whom and when a stop was asked for
	UndoOf        string
	UndoneBy      string
	Progress      string
	Share         float64 // of the steps that are done
	Steps         []RunStepModel
	Log           []templates.EventRow

	Outcome *RunOutcome // nil: there is no question yet whether it helped
	Cost    *RunCost    // nil: it has no migrations, or its plan is not kept
}

// RunStep is one command of a run.
type RunStepModel struct {
	Key, N, What string
	Shell        string
	Level, Word  string
	Resolved     bool
	Why          string
	Server       *templates.ServerText // what the server said; nil: nothing
	Means        string                // and what that means, where it is known
	Changed      []string
	Waits        []string // what it waits for, or waited for last
	Try          string   // "" for the first
	Folded       bool     // put off, and the next step is the same: not listed
	Progress     string
	Share        float64 // negative when unknown
	Proof        []RunProof
	Sent, Ended  string
	Open         bool
	Cost         string             // what a migration copied, beside the estimate
	Moving       templates.InFlight // the migration that it has begun
}

// Adaptation is one time that the rest of a run was planned again.
type Adaptation struct {
	Text    string
	Because []string
	More    string // how many reasons are not listed
}

// RunProof is one fact as it was read after the command.
type RunProof struct {
	Subject string
	At      string
	Fields  []RunReading
}

// RunReading is one field that was to have a value and has one.
type RunReading struct {
	Name, Want, Got string
	Same            bool
}

// RunPage is a run and what may be done with it.
type RunPage struct {
	Run     Run
	Topic   string
	StopURL string // "" for who may not
	UndoURL string
	// FinishURL plans what is left of a run that has ended early.
	FinishURL string
	Problem   string
}
