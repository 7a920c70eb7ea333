package api

import "time"

// RunOutcome says whether a run helped: it compares the writes of the collections it changed in two
// windows of equal length, before it began and after it ended.
type RunOutcome struct {
	// State is running (the run has not ended), tooEarly (the window after it has not ended: see
	// knownAt), measured (there is a verdict), shared (other runs changed the same collections at
	// the time: figures without a verdict), few (too few rows for a verdict), idle (nothing was
	// written), uncounted (see reason) or unchanged (the run neither moved nor split a chunk).
	State string `json:"state"`
	// Verdict is present if state is measured: helped (the share of the hottest is measurably
	// smaller after the run), worse (larger) or noChange.
	Verdict string     `json:"verdict,omitempty"`
	Text    string     `json:"text"`    // the answer as a sentence
	Basis   string     `json:"basis"`   // what is compared: shards, or chunks if the run only split
	KnownAt *time.Time `json:"knownAt"` // end of the window after the run; null while it runs, or if there will be no answer
	// Reason is present if state is uncounted: gap (less than two minutes of a window were
	// counted), noRecord, off, gone, or why the collection is not counted, as in heat.
	Reason string `json:"reason,omitempty"`

	Before          OutcomeWindow `json:"before"`
	After           OutcomeWindow `json:"after"`
	ShareDifference *float64      `json:"shareDifference"` // after − before of the hottest's share; null unless both are known
	PlusMinus       *float64      `json:"plusMinus"`       // half of its 95 % interval

	Shards      []OutcomeShard      `json:"shards"` // hottest first
	Chunks      []OutcomeChunk      `json:"chunks"` // the run's chunks, hottest first
	MoreChunks  int                 `json:"moreChunks"`
	Collections []OutcomeCollection `json:"collections"`
	OtherRuns   []string            `json:"otherRuns"`       // ids of runs that changed the same collections in that time
	OtherMoves  int                 `json:"otherMigrations"` // other migrations of these collections in that time
	Notes       []OutcomeNote       `json:"notes"`
}

// OutcomeWindow is one of the two windows, all compared collections together.
type OutcomeWindow struct {
	From           *time.Time   `json:"from"`
	To             *time.Time   `json:"to"`
	CoveredSeconds float64      `json:"coveredSeconds"` // seconds counted, of the least counted collection
	Writes         *OutcomeRate `json:"writes"`         // null: not counted
	// the hottest shard or, by chunks, the collection of the hottest chunk; "" without writes
	Hottest      string   `json:"hottest"`
	HottestShare *float64 `json:"hottestShare"` // share of all writes, 0 to 1; null if not counted
}

// OutcomeRate is a rate of writes.
type OutcomeRate struct {
	WritesPerSecond float64  `json:"writesPerSecond"`
	PlusMinus       *float64 `json:"plusMinus"` // half of the 95 % interval; null for a full count
	Exact           bool     `json:"exact"`     // every row was counted
	AtLeast         bool     `json:"atLeast"`   // some rows were not counted
	Share           float64  `json:"share"`     // share of everything compared, 0 to 1
	Rows            int64    `json:"rows"`      // counted
}

// OutcomeShard is one shard; a null rate was not counted.
type OutcomeShard struct {
	Shard  string       `json:"shard"`
	Before *OutcomeRate `json:"before"`
	After  *OutcomeRate `json:"after"`
}

// OutcomeChunk is one chunk. A null rate with a shard was not counted; without a shard the chunk
// did not exist at that time.
type OutcomeChunk struct {
	NS          string       `json:"ns"`
	Min         Key          `json:"min"`
	Max         Key          `json:"max"`
	KeyProject               // of min
	Until       KeyProject   `json:"-"` // of max
	ShardBefore string       `json:"shardBefore,omitempty"`
	ShardAfter  string       `json:"shardAfter,omitempty"`
	Before      *OutcomeRate `json:"before"`
	After       *OutcomeRate `json:"after"`
}

// OutcomeCollection is one collection that the run changed.
type OutcomeCollection struct {
	NS            string       `json:"ns"`
	Counts        string       `json:"counts,omitempty"` // newRows or changedRows
	Compared      bool         `json:"compared"`         // included in the sums
	Reason        string       `json:"reason,omitempty"` // why not: like RunOutcome's reason, or changed (changed rows beside new rows)
	Why           string       `json:"why,omitempty"`    // Reason as a sentence
	BeforeSeconds float64      `json:"beforeSeconds"`    // seconds counted
	AfterSeconds  float64      `json:"afterSeconds"`
	Before        *OutcomeRate `json:"before"`
	After         *OutcomeRate `json:"after"`
}

// OutcomeNote is a remark needed to interpret the figures: gathers, zones, partial, hottest,
// atLeast, astray, migrations, again, undone.
type OutcomeNote struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// RunCost is what the migrations of a run copied and how long they took, with the plan's estimates.
type RunCost struct {
	Steps     []RunStepCost `json:"steps"`
	Estimated RunAmounts    `json:"estimated"` // estimate for the whole plan
	Actual    RunAmounts    `json:"actual"`    // successful migrations; the duration is that of all steps that were sent
	Moved     int           `json:"moved"`     // migrating steps that succeeded
}

// RunStepCost is the cost of one migrating step.
type RunStepCost struct {
	Step      int        `json:"step"` // position in steps, from 0
	Estimated RunAmounts `json:"estimated"`
	Actual    RunAmounts `json:"actual"`
}

// RunAmounts are the figures of a migration.
type RunAmounts struct {
	Documents      Figure `json:"documents"`
	Bytes          Figure `json:"bytes"`
	DurationMillis Figure `json:"durationMillis"`
}
