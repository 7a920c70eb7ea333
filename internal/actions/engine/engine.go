// Package engine makes plans and runs them: plan, confirm, run, prove, undo.
//
// It promises that a command leaves at most once for one intent, and only after
// the intent is on disk and what the command needs was read from the cluster
// again; that a step is called succeeded only when its effect was read from the
// cluster after it; and that an answer that did not come is a state of its own,
// settled by reading the cluster, in this process or the next one, never by
// sending again.
package engine

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Tables is where the routing table comes from.
type Tables interface {
	Table() *topology.Table
	Refresh(ctx context.Context) error
}

// Directories is where the projects come from.
type Directories interface {
	Directory() *placement.Directory
}

// SharedIDs tells which ids were found on several shards, and when; the zero
// time: nobody has looked.
type SharedIDs interface {
	SharedIDs() ([]placement.SharedID, time.Time)
}

// Journal is the part of the store that the engine writes.
type Journal interface {
	store.Journal
	Owner() bool
	Writable() error // nil while this process may write; looks at the data directory
}

// Recorder is the audit record that the engine writes.
type Recorder interface {
	Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error)
}

// Options are what an engine works with. All but Audit, Directory, Shared,
// Counter, Writes, Recent, Sizes, Log, Random, Rounds and Maintenance are needed.
type Options struct {
	Admin     actions.Admin
	Renderer  actions.Renderer
	Reader    actions.Reader
	Planners  map[actions.Kind]actions.Planner
	Journal   Journal
	Audit     Recorder
	Tables    Tables
	Directory Directories
	Profile   *profile.Profile
	Shared    SharedIDs
	Counter   actions.Counter      // nil: no rows are counted
	Writes    actions.WriteRates   // nil: not known
	Recent    actions.RecentWrites // nil: not known
	Sizes     actions.Sizes        // nil: no chunk is measured
	Log       *slog.Logger
	Random    io.Reader // of ids; nil: crypto/rand

	Rounds      topology.ActionSource // the balancer's own log; nil: not known
	Maintenance []actions.Maintenance // when changes are wanted; none: always
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return o
}

// Request asks for a plan.
type Request struct {
	Kind   actions.Kind
	Args   actions.Args
	Reason string // why, for the record; needed
	UndoOf string // id of a run: set by Undo, not by callers
}

// RunRequest confirms a plan.
type RunRequest struct {
	Hash    string // of the plan as it was shown
	Confirm string // the text that the plan wants typed; "" when it wants none
}

// Service is what pages, API and tests use of an Engine.
type Service interface {
	// Plan makes a plan, saves it and changes nothing. It is also the dry run.
	// Errors: fault.Invalid (no reason, no such kind, wrong arguments), NotFound,
	// Forbidden (role), Unavailable (no table yet, store read only).
	Plan(ctx context.Context, by auth.Principal, r Request) (actions.Plan, error)
	// Run starts a plan, once: the same principal gets the run that there is, with
	// created false. Errors: NotFound (no such plan), Forbidden, Conflict (another
	// principal's plan or run, expired, wrong hash; *ChangedError when the cluster
	// is not as planned), Invalid (confirmation; 400), *BlockedError (422).
	Run(ctx context.Context, by auth.Principal, plan string, r RunRequest) (run Run, created bool, err error)
	// Stop holds a run before its next command; the command in flight goes on. A
	// run that has ended stays as it is.
	Stop(ctx context.Context, by auth.Principal, run string) (Run, error)
	// Undo plans the inverse of what a run has done, from the table of now.
	Undo(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error)
	// Finish plans what a run that has ended early has left to do, from the table of
	// now. Conflict when it has not ended, has succeeded, or was undone.
	Finish(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error)

	// PlanByID gives a plan, RunByID a run, RunOfPlan the run of a plan; fault.NotFound.
	PlanByID(ctx context.Context, id string) (actions.Plan, error)
	RunByID(ctx context.Context, id string) (Run, error)
	RunOfPlan(ctx context.Context, plan string) (Run, error)
	// Runs lists runs, newest first, after a cursor ("" from the newest); next is
	// "" at the end.
	Runs(ctx context.Context, cursor string, limit int) (runs []Run, next string, err error)
	// Subscribe gives a channel that receives one value after a run changed, several
	// joined into one. The last result ends it.
	Subscribe() (<-chan struct{}, func())
}

var _ Service = (*Engine)(nil)
