package store

import (
	"context"
	"time"
)

// PlanRecord is a plan as it is kept: what it is found by, and the plan itself
// in a form that the store does not look into.
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

// RunRecord is a run as it is kept.
type RunRecord struct {
	Seq     int64 // grows with every run added; set by the store
	ID      string
	Plan    string // its plan's id
	Cluster string
	By      string // principal id
	State   string
	Open    bool // has not ended: to be settled after a restart
	Started time.Time
	Ended   time.Time // zero while open
	Body    []byte
}

// IntentRecord says that a command is about to leave. It is never changed and
// never removed: a step has one or none.
type IntentRecord struct {
	Run     string
	Step    int // from 0
	At      time.Time
	DB      string
	Command []byte // as it will be sent, but for the comment and the time limit
}

// Journal keeps plans, runs and intents.
type Journal interface {
	// SavePlan keeps a plan; Conflict when there is one of its id.
	SavePlan(ctx context.Context, p PlanRecord) error
	// PlanRecord gives a plan; NotFound.
	PlanRecord(ctx context.Context, id string) (PlanRecord, error)
	// DropPlans removes plans that were made before a time and never run, the oldest
	// first, at most limit, and tells how many. PlanRecord then answers with
	// ErrPlanRemoved, for at least PlanRemembered. A plan that was run stays for ever.
	DropPlans(ctx context.Context, before time.Time, limit int) (int, error)

	// AddRun keeps a new run; Conflict when its plan has one already, NotFound when
	// there is no such plan.
	AddRun(ctx context.Context, r RunRecord) error
	// SaveRun replaces state, ends and body of a run; NotFound.
	SaveRun(ctx context.Context, r RunRecord) error
	// RunRecord gives a run, PlanRun that of a plan; NotFound.
	RunRecord(ctx context.Context, id string) (RunRecord, error)
	PlanRun(ctx context.Context, plan string) (RunRecord, error)
	// RunRecords gives runs of a cluster, newest first, those before a Seq (0: all).
	RunRecords(ctx context.Context, cluster string, before int64, limit int) ([]RunRecord, error)
	// OpenRuns gives the runs of a cluster that have not ended, oldest first.
	OpenRuns(ctx context.Context, cluster string) ([]RunRecord, error)

	// AddIntent keeps an intent; Conflict when the step has one.
	AddIntent(ctx context.Context, i IntentRecord) error
	// Intents gives a run's intents in the order of its steps.
	Intents(ctx context.Context, run string) ([]IntentRecord, error)
}
