package placement

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// IDSource is what the check for duplicate ids reads.
type IDSource interface {
	// IDs reads at most limit rows in _id order from an id on (the zero value is the
	// start), with the named fields; rows of one id follow each other, whichever
	// shards they are on.
	IDs(ctx context.Context, ns topology.Namespace, names []string, from bson.RawValue, limit int) ([]KeyedRow, error)
}

// DuplicateCheck looks through the ids of a profile's project-wide collections
// for those that are on more than one shard. It reads at most 2,000 rows a
// second, runs once at a time, and can be stopped and gone on with. Safe for
// concurrent use; Run must be running for Start to have an effect.
type DuplicateCheck struct {
	src     IDSource
	tables  CurrentTable
	dirs    Directories
	profile *profile.Profile
	log     *slog.Logger
	wake    chan struct{}

	mu     sync.RWMutex
	report CheckReport
	shared map[IDPlace]SharedID
	since  time.Time // of the pass under way, and what had been read then
	base   int64
	ctx    context.Context // of the pass under way
	cancel context.CancelFunc
}

// NewDuplicateCheck makes a check that has not been started.
func NewDuplicateCheck(src IDSource, tables CurrentTable, dirs Directories, p *profile.Profile, log *slog.Logger) *DuplicateCheck {
	return &DuplicateCheck{
		src: src, tables: tables, dirs: dirs, profile: p, log: log, wake: make(chan struct{}, 1),
		report: CheckReport{State: CheckIdle, Left: -1}, shared: map[IDPlace]SharedID{},
	}
}

// Start begins the check, or goes on where it was stopped or failed. From
// gives the ids to begin with, by collection: a resume point kept elsewhere.
// fault.Conflict while it runs, fault.Unavailable before the table is loaded,
// fault.NotFound when no database has such collections.
func (d *DuplicateCheck) Start(resume bool, from map[topology.Namespace]bson.RawValue) error {
	t := d.tables.Table()
	if t == nil || !t.Loaded {
		return t.NotLoaded()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.report.State == CheckRunning {
		return fault.New(fault.Conflict, "The check for duplicate ids is running already.")
	}
	goOn := resume && (d.report.State == CheckStopped || d.report.State == CheckFailed)
	if !goOn {
		colls := d.collections(t)
		if len(colls) == 0 {
			return fault.New(fault.NotFound, "%s", d.profile.Words("No database here has sharded collections of projects to check."))
		}
		for ns := range from {
			if !slices.ContainsFunc(colls, func(p CheckProgress) bool { return p.NS == ns }) {
				return fault.New(fault.Invalid, "%q is not a collection that is checked.", string(ns))
			}
		}
		for i := range colls {
			colls[i].Next = from[colls[i].NS]
		}
		d.report = CheckReport{Started: time.Now(), Collections: colls}
		clear(d.shared)
	}
	d.report.State, d.report.Problem, d.report.Ended, d.report.Left = CheckRunning, "", time.Time{}, -1
	d.since, d.base = time.Now(), readSoFar(d.report.Collections)
	d.ctx, d.cancel = context.WithCancel(context.Background())
	select {
	case d.wake <- struct{}{}:
	default: // Run has not taken the last one yet, and will find this pass
	}
	return nil
}

// Stop ends the check after the batch under way. fault.Conflict when it does
// not run.
func (d *DuplicateCheck) Stop() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.report.State != CheckRunning {
		return fault.New(fault.Conflict, "The check for duplicate ids is not running.")
	}
	d.cancel()
	d.end(CheckStopped, "")
	return nil
}

// end writes how a pass ended; the caller holds the lock.
func (d *DuplicateCheck) end(state CheckState, problem string) {
	d.report.State, d.report.Problem, d.report.Ended, d.report.Left = state, problem, time.Now(), -1
}

// Report is the state now.
func (d *DuplicateCheck) Report() CheckReport {
	d.mu.RLock()
	defer d.mu.RUnlock()
	r := d.report
	r.Collections, r.Found = slices.Clone(r.Collections), slices.Clone(r.Found)
	return r
}

// Shared tells whether an id is known to be on several shards.
func (d *DuplicateCheck) Shared(p IDPlace) (SharedID, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	s, ok := d.shared[p]
	return s, ok
}

// collections are those whose shard key begins with something else than _id,
// so that two shards can have one; unsharded ones are on one shard.
func (d *DuplicateCheck) collections(t *topology.Table) []CheckProgress {
	var out []CheckProgress
	for _, db := range d.dirs.Directory().Databases() {
		for _, c := range d.profile.Nearest(t, db).Collections {
			ns := topology.Namespace(db + "." + c.Name)
			coll := t.Collection(ns)
			if c.Scope != profile.ScopeProject || coll == nil || coll.Unsplittable || coll.Key.Fields()[0].Name == "_id" {
				continue
			}
			out = append(out, CheckProgress{NS: ns, Total: totalOf(t, ns)})
		}
	}
	return out
}

// errStopped ends a pass because somebody, or the end of the program, asks.
var errStopped = errors.New("stopped")
