package outcome

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/notify"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

const (
	// checkInterval is how often runs and windows are checked without a notification.
	checkInterval = 10 * time.Second
	// checkTimeout is the timeout of one check with its reads and writes of the store.
	checkTimeout = 10 * time.Second
	// runsPerCheck is how many of the newest runs are checked besides the measured ones, and
	// runsAtStart how many at the start, because one may have ended just before.
	runsPerCheck = 10
	runsAtStart  = 50
	// recentKept is how long samples are kept for runs that have not started yet.
	recentKept = Window + 2*windowAlignment + settleWithin
)

// Runs is the engine's list of runs.
type Runs interface {
	// Runs is a page of runs, newest first, after a cursor. The second result is the cursor of the next page, "" at the
	// end.
	Runs(ctx context.Context, cursor string, limit int) ([]engine.Run, string, error)
	// RunByID returns fault.NotFound when there is none.
	RunByID(ctx context.Context, id string) (engine.Run, error)
	Subscribe() (<-chan struct{}, func())
}

// Tables is the source of the routing table.
type Tables interface {
	// Table is the newest one: never nil, not Loaded before the first reads.
	Table() *topology.Table
	// Subscribe returns the newest table and a channel that receives a value when a newer one is there. Changes in quick
	// succession share a value. The last result ends the subscription.
	Subscribe() (*topology.Table, <-chan struct{}, func())
}

// Options configure a Recorder. All but Log and Now are required.
type Options struct {
	Runs    Runs
	Tables  Tables
	Profile *profile.Profile
	Store   store.RunOutcomes
	Log     *slog.Logger
	Now     func() time.Time
}

// Recorder measures the writes around runs and answers whether they helped. Safe for concurrent
// use.
type Recorder struct {
	opts Options
	wake chan struct{} // a window may be complete

	resumed bool // open measurements of an earlier process were resumed; used only by Run

	mu     sync.Mutex
	recent map[topology.Namespace][]sample
	active map[string]*measurement // by run id

	subscribers notify.Subscribers
}

// New returns a recorder that does nothing until Run is called.
func New(o Options) *Recorder {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Recorder{opts: o, wake: make(chan struct{}, 1), recent: map[topology.Namespace][]sample{},
		active: map[string]*measurement{}}
}

// Run measures runs until the context ends, after it has resumed what an earlier process or leader
// measured. Only the process that leads the store may call it.
func (r *Recorder) Run(ctx context.Context) error {
	r.resumeLater()
	told, end := r.opts.Runs.Subscribe()
	defer end()
	_, tables, endTables := r.opts.Tables.Subscribe()
	defer endTables()
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	of, failed := "", false
	for {
		if cluster := r.opts.Tables.Table().ClusterID; cluster != "" {
			if of != "" && of != cluster {
				r.reset()
			}
			of = cluster
			err := r.check(ctx, cluster)
			if err != nil && !failed && ctx.Err() == nil {
				r.opts.Log.Warn("the effect of runs is not recorded", "err", err)
			}
			failed = err != nil
		}
		if !r.waitForChange(ctx, of, told, tables, tick.C) {
			return ctx.Err()
		}
	}
}

// waitForChange waits for a reason to check. It returns false when the context ends. A new routing
// table is a reason only if it is from another cluster.
func (r *Recorder) waitForChange(ctx context.Context, of string, told, tables <-chan struct{}, tick <-chan time.Time) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-told:
			return true
		case <-r.wake:
			return true
		case <-tick:
			return true
		case <-tables:
			if r.opts.Tables.Table().ClusterID != of {
				return true
			}
		}
	}
}

// resumeLater forgets what is measured, which the next check reads from the store. The samples of
// the last minutes stay.
func (r *Recorder) resumeLater() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resumed, r.active = false, map[string]*measurement{}
}

// reset drops all measurements because another cluster answers.
func (r *Recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resumed = false
	r.recent, r.active = map[topology.Namespace][]sample{}, map[string]*measurement{}
}

// check starts measuring new runs, updates the others and saves what was counted. The first check
// also resumes what an earlier process left open.
func (r *Recorder) check(ctx context.Context, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	newest := runsPerCheck
	if !r.resumed {
		if err := r.resumeOpen(ctx, cluster); err != nil {
			return err
		}
		r.resumed, newest = true, runsAtStart
	}
	runs, _, err := r.opts.Runs.Runs(ctx, "", newest)
	if err != nil {
		return fmt.Errorf("read runs: %w", err)
	}
	for _, id := range r.missingRuns(runs) {
		run, err := r.opts.Runs.RunByID(ctx, id)
		if err != nil {
			return fmt.Errorf("read run %s: %w", id, err)
		}
		runs = append(runs, run)
	}
	// The writes around an item of a batch are those around the batch.
	runs = slices.DeleteFunc(runs, func(run engine.Run) bool { return run.Parent != "" })
	now := r.opts.Now()
	for _, run := range runs {
		if run.Cluster != "" && run.Cluster != cluster {
			continue
		}
		if err := r.update(ctx, cluster, run, now); err != nil {
			return err
		}
	}
	r.findOtherChanges(runs, now)
	r.closeComplete(now)
	return r.save(ctx, cluster)
}

// missingRuns returns the measured runs that are not among those read.
func (r *Recorder) missingRuns(runs []engine.Run) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.active {
		if !slices.ContainsFunc(runs, func(run engine.Run) bool { return run.ID == id }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Take adds a slot of counted writes. It never waits for the store.
func (r *Recorder) Take(s heat.Slot) {
	table := r.opts.Tables.Table()
	c := table.Collection(s.NS)
	if c == nil || c.Chunks.Len() == 0 {
		return
	}
	now := r.opts.Now()
	x := sample{slot: s, taken: now, collection: c, keys: heat.KeysOf(table, r.opts.Profile, s.NS)}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := slices.IndexFunc(r.recent[s.NS], func(x sample) bool { return now.Sub(x.slot.To) <= recentKept })
	if old < 0 {
		old = len(r.recent[s.NS])
	}
	r.recent[s.NS] = append(slices.Clone(r.recent[s.NS][old:]), x)
	for _, k := range r.active {
		if _, concerned := k.scope.spans[s.NS]; concerned && k.add(x) {
			select {
			case r.wake <- struct{}{}:
			default: // a wake-up is already pending
			}
		}
	}
}

// Of returns the current outcome of a run.
func (r *Recorder) Of(ctx context.Context, run engine.Run) (Outcome, error) {
	t := r.opts.Tables.Table()
	r.mu.Lock()
	if k := r.active[run.ID]; k != nil {
		rec := r.toRecord(t, k)
		r.mu.Unlock()
		return Compare(run, rec), nil
	}
	r.mu.Unlock()
	row, err := r.opts.Store.RunOutcome(ctx, t.ClusterID, run.ID)
	if fault.Of(err) == fault.NotFound {
		return Compare(run, nil), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	rec, err := decode(row.Body)
	if err != nil {
		r.opts.Log.Warn("what was measured of a run cannot be read", "run", run.ID, "err", err)
		o := Compare(run, nil)
		o.Notes = append(o.Notes, NoteUnreadable)
		return o, nil
	}
	return Compare(run, rec), nil
}

// Subscribe returns a channel that receives a value after a comparison changed its state, and a
// function that ends the subscription.
func (r *Recorder) Subscribe() (<-chan struct{}, func()) { return r.subscribers.Subscribe() }
