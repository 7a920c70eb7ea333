package api

import (
	"time"

	"shardboard/internal/message"
)

// Run is one execution of a plan (GET runs/{id}).
type Run struct {
	ID      string   `json:"id"`
	Plan    string   `json:"plan"`
	Kind    string   `json:"kind"`
	Summary Sentence `json:"summary"`
	// planned, waiting, running, succeeded, failed, refused, unknown, stopped, undone; of a step also
	// deferred, replaced
	State     string     `json:"state"`
	Resolved  bool       `json:"resolved"` // it was unknown and has been settled by reading the cluster
	Open      bool       `json:"open"`     // the run has not ended
	Why       string     `json:"why,omitempty"`
	BlockedBy string     `json:"blockedBy,omitempty"` // id of the run that has what this one waits for
	Steps     []RunStep  `json:"steps"`
	Rows      []RunRows  `json:"rows"` // rows of the run's project, or of the ranges that it moves
	StartedAt *time.Time `json:"startedAt"`
	EndedAt   *time.Time `json:"endedAt"` // null while open
	By        string     `json:"by"`
	ByName    string     `json:"byName"`
	Reason    string     `json:"reason"`
	Approved  string     `json:"approvedBy,omitempty"` // name of the second person who approved its plan
	StopBy    string     `json:"stopBy,omitempty"`
	StopAt    *time.Time `json:"stopAt,omitempty"`
	CanUndo   bool       `json:"canUndo"`
	UndoOf    string     `json:"undoOf,omitempty"`
	UndoneBy  string     `json:"undoneBy,omitempty"`

	Batch  *RunBatch `json:"batch"`            // how far a batch is, which has no steps; null for another run
	Parent string    `json:"parent,omitempty"` // id of the batch that the run belongs to
	Item   int       `json:"item,omitempty"`   // its number in the batch

	CanFinish   bool         `json:"canFinish"`      // it ended early, and the rest can be planned
	Standing    Standing     `json:"standing"`       // what it changed and did not undo
	Adaptations []Adaptation `json:"adaptations"`    // oldest first
	Limits      Limits       `json:"limits"`         // the confirmed limits
	Moving      []InFlight   `json:"moving" csv:"-"` // migrations that its steps have begun and that are under way

	Deletions *DeletionWait `json:"deletions" csv:"-"` // what holds up the deletions that it waits for; null if it waits for none

	// Unanswered says which servers that its remaining steps need do not answer, and since when; "" when all do, or that
	// is not known, or the run has ended.
	Unanswered string `json:"unanswered"`

	Outcome *RunOutcome `json:"outcome"` // whether it helped; only in GET runs/{id}, otherwise null
	Cost    *RunCost    `json:"cost"`    // estimated and actual; only in GET runs/{id}, and null if its plan is not stored

	// For pages only.
	Title Sentence `json:"-"` // the summary without ids, with short keys
}

// RunRows is the rows of a project, or of a range that was moved, in a collection before a run's
// first command and after its last proof. A difference alone is not a failure.
type RunRows struct {
	Item            int      `json:"item,omitempty"` // of a batch
	NS              string   `json:"ns"`
	Project         string   `json:"project"` // "" for a range
	Before          Figure   `json:"before"`
	After           Figure   `json:"after"`
	Difference      *int64   `json:"difference"`      // null unless both were counted
	Seconds         *float64 `json:"seconds"`         // between the counts
	WritesPerSecond *float64 `json:"writesPerSecond"` // rows; null if unknown
	Text            string   `json:"text"`
}

// RunStep is one command of a run.
type RunStep struct {
	Op       string       `json:"op"`
	DB       string       `json:"db,omitempty"`
	Command  Key          `json:"command"`
	State    string       `json:"state"`
	Resolved bool         `json:"resolved"`
	Why      Sentence     `json:"why,omitzero"`
	Proof    []StepProof  `json:"proof"`                  // what was read after the command
	Events   []StepEvent  `json:"events"`                 // of the changelog, oldest first
	Error    string       `json:"error"`                  // the server's error; "" if none
	Code     string       `json:"errorCode,omitempty"`    // for a failed move: like reasonCode of activity/migrations
	Means    string       `json:"errorMeaning,omitempty"` // Code as a sentence: what happened, what it means, what to do
	Changed  []Difference `json:"changed,omitempty"`
	SentAt   *time.Time   `json:"sentAt"` // when its intent was stored; null: never sent
	EndedAt  *time.Time   `json:"endedAt"`
	Done     int64        `json:"done,omitempty"` // progress
	Total    int64        `json:"total,omitempty"`

	Resharding *Resharding `json:"resharding,omitempty"` // how far a resharding is, as last read

	Try     int       `json:"try"`               // 1 is the first; a postponed step is followed by another try
	Already string    `json:"already,omitempty"` // who had already done it, so that nothing was sent: balancer, other, unknown
	Waiting *StepWait `json:"waiting"`           // what it waits for, or last waited for
	Drain   *Drain    `json:"drain,omitempty"`   // what is left on the shard whose draining it waits for

	Message message.Message `json:"-"` // what it does
	Shell   string          `json:"-"` // the command for mongosh; "" for a step that only waits
}

// StepEvent is a changelog entry about a step's command. Counts are the server's, by its names:
// cloned (documents), clonedBytes, catchup, steady.
type StepEvent struct {
	What   string           `json:"what"` // the server's name: moveChunk.commit, split, …
	From   string           `json:"from"` // shard; "" when the entry names none
	To     string           `json:"to"`
	Counts map[string]int64 `json:"counts"` // null when the entry has none
	Failed bool             `json:"failed"`
	At     *time.Time       `json:"at"`
	FailureReason
}

// StepProof is a fact read from the cluster after a command.
type StepProof struct {
	Kind  string            `json:"kind"`
	NS    string            `json:"ns,omitempty"`
	Min   Key               `json:"min,omitempty"`
	Max   Key               `json:"max,omitempty"`
	Shard string            `json:"shard,omitempty"`
	Zone  string            `json:"zone,omitempty"`
	Want  map[string]string `json:"want"`
	Got   map[string]string `json:"got"`
	At    *time.Time        `json:"at"`
}
