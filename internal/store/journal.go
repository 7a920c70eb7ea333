package store

import (
	"context"
	"time"
)

// PlanRecord is a stored plan: the fields to find it by, and the plan itself in Body, which the
// store does not interpret.
type PlanRecord struct {
	ID      string
	Cluster string // cluster id
	By      string // principal id
	Kind    string
	Hash    string
	Made    time.Time
	Expires time.Time
	Body    []byte
}

// RunRecord is a stored run.
type RunRecord struct {
	Seq     int64 // increases with every run; set by the store
	ID      string
	Plan    string // its plan's id
	Cluster string
	By      string // principal id
	State   string
	Open    bool // has not ended; settled after a restart
	Started time.Time
	Ended   time.Time // zero while open
	Body    []byte
}

// IntentRecord is written before a command is sent. It is never changed or removed; a step has at
// most one.
type IntentRecord struct {
	Run     string
	Step    int // from 0
	At      time.Time
	DB      string
	Command []byte // as sent, except for the comment and the time limit
}

// Journal stores plans, their approvals, runs and intents.
type Journal interface {
	Approvals

	// SavePlan stores a plan; Conflict when its id exists.
	SavePlan(ctx context.Context, p PlanRecord) error
	// PlanRecord returns a plan; NotFound.
	PlanRecord(ctx context.Context, id string) (PlanRecord, error)
	// UnrunPlans returns plans of a cluster that were made at or after a time and never run, newest first.
	UnrunPlans(ctx context.Context, cluster string, since time.Time, limit int) ([]PlanRecord, error)
	// DropPlans deletes plans made before a time and never run, oldest first, at most limit, and
	// returns their number. PlanRecord then returns ErrPlanRemoved for at least PlanRemembered.
	// Plans that were run are kept forever.
	DropPlans(ctx context.Context, before time.Time, limit int) (int, error)

	// AddRun stores a new run; Conflict when its plan has one, NotFound without the plan.
	AddRun(ctx context.Context, r RunRecord) error
	// SaveRun replaces state, end and body of a run; NotFound.
	SaveRun(ctx context.Context, r RunRecord) error
	// RunRecord returns a run, PlanRun the run of a plan; NotFound.
	RunRecord(ctx context.Context, id string) (RunRecord, error)
	PlanRun(ctx context.Context, plan string) (RunRecord, error)
	// RunRecords returns runs of a cluster, newest first, those before a Seq (0: all).
	RunRecords(ctx context.Context, cluster string, before int64, limit int) ([]RunRecord, error)
	// OpenRuns returns the runs of a cluster that have not ended, oldest first.
	OpenRuns(ctx context.Context, cluster string) ([]RunRecord, error)

	// AddIntent stores an intent; Conflict when the step has one.
	AddIntent(ctx context.Context, i IntentRecord) error
	// Intents returns a run's intents in the order of its steps.
	Intents(ctx context.Context, run string) ([]IntentRecord, error)
}
