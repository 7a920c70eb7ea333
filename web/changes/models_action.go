package changes

import (
	"shardboard/web/templates"
)

// Again makes the same plan anew.
type Again struct {
	URL    string
	Fields []hidden
}

// hidden is a value that a form carries along.
type hidden struct{ Name, Value string }

// Plan is what will be done, before it is.
type Plan struct {
	ID, URL, Hash  string
	Sentence       string
	Kind           string
	Risk, RiskText string
	RiskLevel      string // "ok", "note", "bad"
	Problem        string // of the request that was just refused
	Changed        []string
	By, Reason     string // hostile text
	Made, Expires  templates.Moment
	Expired        bool
	UndoOf         string // address of the run that it undoes
	Cost           []templates.Fact
	Basis          string // how duration and size are known
	Shards         []PlanShard
	ShardNote      string
	Writes         []PlanWrites // expected; none where a plan moves no writes, or they are not known
	Moves          []PlanMove
	MoreMoves      string
	Steps          []PlanStep
	Checks         []PlanCheck
	Counted        string // how many checks pass, warn and block
	Stays          []string
	Undo           string
	UndoWhen       string
	Limits         []templates.Fact // within which its run may adapt
	UndoNote       string
	Confirm        string // text to type; "" for none
	WrongConfirm   bool
	MayRun         bool   // there is a button
	Why            string // why it cannot be pressed
	RunURL         string // of the run that there is
	RunWord        string
	Again          *Again
}

// PlanShard is one shard before and after.
type PlanShard struct {
	Shard               templates.ShardRef
	Before, After       templates.Figure
	BeforeBar, AfterBar float64 // 0..1 of the widest; negative when unknown
	Chunks              string
	Same                bool
}

// PlanWrites is what one shard takes of the counted writes, before and as expected after.
type PlanWrites struct {
	Shard               templates.ShardRef
	Before, After       templates.Figure
	BeforeBar, AfterBar float64 // 0..1 of the widest
	Same                bool
}

// PlanMove is one range that changes its shard.
type PlanMove struct {
	NS, URL  string
	Min, Max templates.Key
	From, To templates.ShardRef
	Bytes    templates.Figure
}

// PlanStep is one command, as it will be sent.
type PlanStep struct {
	N     string
	What  string
	Shell string   // for mongosh; "" for a step that sends nothing
	Needs []string // what is read again right before
}

// PlanCheck is one question with its answer.
type PlanCheck struct {
	Verdict, Word string // pass, warn, block
	Text, Source  string
}

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
