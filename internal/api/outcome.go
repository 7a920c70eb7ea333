package api

import "time"

// RunOutcome answers whether a run helped: the writes of the collections that it
// changed in two windows of the same length, before it began and after it ended.
type RunOutcome struct {
	// State is running (the run has not ended), tooEarly (the window after it is not
	// over: see knownAt), measured (there is a verdict), shared (other runs changed
	// the same collections meanwhile: figures without a verdict), few (too few rows
	// to tell), idle (nothing was written), uncounted (see reason) or unchanged (the
	// run neither moved nor cut a chunk).
	State string `json:"state"`
	// Verdict is there when state is measured: helped (the hottest took measurably
	// less of all writes after), worse (more) or noChange.
	Verdict string     `json:"verdict,omitempty"`
	Text    string     `json:"text"`    // the answer as a sentence
	Basis   string     `json:"basis"`   // what is judged: shards, or chunks where nothing but cuts was made
	KnownAt *time.Time `json:"knownAt"` // end of the window after the run; null while it runs, or when nothing will be known
	// Reason is there when state is uncounted: gap (less than two minutes of a window
	// were counted), noRecord, off, gone, or why the collection is not counted, as in
	// heat.
	Reason string `json:"reason,omitempty"`

	Before          OutcomeWindow `json:"before"`
	After           OutcomeWindow `json:"after"`
	ShareDifference *float64      `json:"shareDifference"` // after − before of the hottest's share; null unless both are known
	PlusMinus       *float64      `json:"plusMinus"`       // half of its 95 % interval

	Shards      []OutcomeShard      `json:"shards"` // hottest first
	Chunks      []OutcomeChunk      `json:"chunks"` // that the run is about, hottest first
	MoreChunks  int                 `json:"moreChunks"`
	Collections []OutcomeCollection `json:"collections"`
	OtherRuns   []string            `json:"otherRuns"`       // ids of runs that changed the same collections in that time
	OtherMoves  int                 `json:"otherMigrations"` // of these collections in that time, by others than the run
	Notes       []OutcomeNote       `json:"notes"`
}

// OutcomeWindow is one of the two windows, all collections compared together.
type OutcomeWindow struct {
	From           *time.Time   `json:"from"`
	To             *time.Time   `json:"to"`
	CoveredSeconds float64      `json:"coveredSeconds"` // that were counted, of the collection that was counted least
	Writes         *OutcomeRate `json:"writes"`         // null: not counted
	Hottest        string       `json:"hottest"`        // the shard or, by chunks, the collection of the chunk that took most; "" when nothing was written
	HottestShare   *float64     `json:"hottestShare"`   // 0 to 1 of all writes; null when not counted
}

// OutcomeRate is how much was written.
type OutcomeRate struct {
	WritesPerSecond float64  `json:"writesPerSecond"`
	PlusMinus       *float64 `json:"plusMinus"` // half of the 95 % interval; null when all was counted
	Exact           bool     `json:"exact"`     // every row was counted
	AtLeast         bool     `json:"atLeast"`   // some rows were not counted
	Share           float64  `json:"share"`     // of all that is compared, 0 to 1
	Rows            int64    `json:"rows"`      // counted
}

// OutcomeShard is one shard; a null rate was not counted.
type OutcomeShard struct {
	Shard  string       `json:"shard"`
	Before *OutcomeRate `json:"before"`
	After  *OutcomeRate `json:"after"`
}

// OutcomeChunk is one chunk; a null rate: it was not counted, or there was no such
// chunk then, which its missing shard tells.
type OutcomeChunk struct {
	NS          string       `json:"ns"`
	Min         Key          `json:"min"`
	Max         Key          `json:"max"`
	ShardBefore string       `json:"shardBefore,omitempty"`
	ShardAfter  string       `json:"shardAfter,omitempty"`
	Before      *OutcomeRate `json:"before"`
	After       *OutcomeRate `json:"after"`
}

// OutcomeCollection is one collection that the run changed.
type OutcomeCollection struct {
	NS            string       `json:"ns"`
	Counts        string       `json:"counts,omitempty"` // newRows or changedRows
	Compared      bool         `json:"compared"`         // it is part of the sums
	Reason        string       `json:"reason,omitempty"` // why not: as RunOutcome's, or changed (rows changed in place beside new rows)
	Why           string       `json:"why,omitempty"`    // the same as a sentence
	BeforeSeconds float64      `json:"beforeSeconds"`    // that were counted
	AfterSeconds  float64      `json:"afterSeconds"`
	Before        *OutcomeRate `json:"before"`
	After         *OutcomeRate `json:"after"`
}

// OutcomeNote is what has to be known to read the figures: gathers, zones, partial,
// hottest, atLeast, astray, migrations, again, undone.
type OutcomeNote struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// RunCost is what the migrations of a run copied and how long they took, beside
// what the plan estimated.
type RunCost struct {
	Steps     []RunStepCost `json:"steps"`
	Estimated RunAmounts    `json:"estimated"` // of the whole plan
	Actual    RunAmounts    `json:"actual"`    // of the migrations that succeeded; the time of all steps that were sent
	Moved     int           `json:"moved"`     // migrating steps that succeeded
}

// RunStepCost is one migrating step's.
type RunStepCost struct {
	Step      int        `json:"step"` // position in steps, from 0
	Estimated RunAmounts `json:"estimated"`
	Actual    RunAmounts `json:"actual"`
}

// RunAmounts are figures of a migration.
type RunAmounts struct {
	Documents      Figure `json:"documents"`
	Bytes          Figure `json:"bytes"`
	DurationMillis Figure `json:"durationMillis"`
}
