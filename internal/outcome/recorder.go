package outcome

import (
	"context"
	"encoding/json"
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
	"shardboard/internal/shardkey"
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

// Runs is what the engine tells of runs.
type Runs interface {
	Runs(ctx context.Context, cursor string, limit int) ([]engine.Run, string, error)
	RunByID(ctx context.Context, id string) (engine.Run, error)
	Subscribe() (<-chan struct{}, func())
}

// Tables is the source of the routing table.
type Tables interface {
	Table() *topology.Table
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
	o    Options
	wake chan struct{} // a window may be complete

	resumed bool // open measurements of an earlier process were resumed; used only by Run

	mu     sync.Mutex
	recent map[topology.Namespace][]sample
	active map[string]*comparison // by run id

	subscribers notify.Subscribers
}

// comparison is a run that is being measured. The recorder's lock guards all of it.
type comparison struct {
	run    engine.Run
	scope  scope
	others []string
	moves  int
	again  bool // others moved the run's chunks after it ended
	before map[topology.Namespace][]sample
	after  map[topology.Namespace][]sample
	prior  *Record // what an earlier process counted; nil: nothing
	dirty  bool
	closed bool
}

// New makes a recorder that does nothing until Run.
func New(o Options) *Recorder {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Recorder{o: o, wake: make(chan struct{}, 1), recent: map[topology.Namespace][]sample{},
		active: map[string]*comparison{}}
}

// Take adds a slot. It never waits for the store.
func (r *Recorder) Take(s heat.Slot) {
	c := r.o.Tables.Table().Collection(s.NS)
	if c == nil || c.Chunks.Len() == 0 {
		return
	}
	now := r.o.Now()
	x := sample{slot: s, taken: now, of: c}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := slices.IndexFunc(r.recent[s.NS], func(x sample) bool { return now.Sub(x.slot.To) <= recentKept })
	if old < 0 {
		old = len(r.recent[s.NS])
	}
	r.recent[s.NS] = append(slices.Clone(r.recent[s.NS][old:]), x)
	for _, k := range r.active {
		if _, concerned := k.scope.spans[s.NS]; concerned && k.take(x) {
			select {
			case r.wake <- struct{}{}:
			default: // told already
			}
		}
	}
}

// take stores a sample of one of its windows and reports whether the second window may be complete.
func (k *comparison) take(x sample) bool {
	before, after := windows(k.run.Started, k.run.Ended)
	ns := x.slot.NS
	switch {
	case before.holds(x.slot):
		k.before[ns], k.dirty = append(k.before[ns], x), true
	case after.holds(x.slot):
		k.after[ns], k.dirty = append(k.after[ns], x), true
	}
	return !after.To.IsZero() && !x.slot.To.Before(after.To)
}

// Run measures runs until the context ends. Only the process that owns the store may call it.
func (r *Recorder) Run(ctx context.Context) error {
	told, end := r.o.Runs.Subscribe()
	defer end()
	_, tables, endTables := r.o.Tables.Subscribe()
	defer endTables()
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	of, failed := "", false
	for {
		if cluster := r.o.Tables.Table().ClusterID; cluster != "" {
			if of != "" && of != cluster {
				r.reset()
			}
			of = cluster
			err := r.check(ctx, cluster)
			if err != nil && !failed && ctx.Err() == nil {
				r.o.Log.Warn("the effect of runs is not recorded", "err", err)
			}
			failed = err != nil
		}
		if !r.await(ctx, of, told, tables, tick.C) {
			return ctx.Err()
		}
	}
}

// await waits for a reason to check; false at the end of the context. A new routing table is a
// reason only if it is of another cluster.
func (r *Recorder) await(ctx context.Context, of string, told, tables <-chan struct{}, tick <-chan time.Time) bool {
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
			if r.o.Tables.Table().ClusterID != of {
				return true
			}
		}
	}
}

// reset drops all measurements, because another cluster answers.
func (r *Recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resumed = false
	r.recent, r.active = map[topology.Namespace][]sample{}, map[string]*comparison{}
}

// check starts measuring new runs, updates the others and saves what was counted. The first check
// also resumes what an earlier process left open.
func (r *Recorder) check(ctx context.Context, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	newest := runsPerCheck
	if !r.resumed {
		if err := r.resume(ctx, cluster); err != nil {
			return err
		}
		r.resumed, newest = true, runsAtStart
	}
	runs, _, err := r.o.Runs.Runs(ctx, "", newest)
	if err != nil {
		return fmt.Errorf("read runs: %w", err)
	}
	for _, id := range r.missing(runs) {
		run, err := r.o.Runs.RunByID(ctx, id)
		if err != nil {
			return fmt.Errorf("read run %s: %w", id, err)
		}
		runs = append(runs, run)
	}
	now := r.o.Now()
	for _, run := range runs {
		if run.Cluster != "" && run.Cluster != cluster {
			continue
		}
		if err := r.follow(ctx, cluster, run, now); err != nil {
			return err
		}
	}
	r.compareWithOthers(runs, now)
	r.close(now)
	return r.save(ctx, cluster)
}

// missing returns the measured runs that were not among those read.
func (r *Recorder) missing(runs []engine.Run) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.active {
		if !slices.ContainsFunc(runs, func(run engine.Run) bool { return run.ID == id }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// resume continues the measurements of an earlier process.
func (r *Recorder) resume(ctx context.Context, cluster string) error {
	left, err := r.o.Store.OpenRunOutcomes(ctx, cluster)
	if err != nil {
		return fmt.Errorf("read what was measured of runs: %w", err)
	}
	for _, row := range left {
		run, err := r.o.Runs.RunByID(ctx, row.Run)
		if fault.Of(err) == fault.NotFound && err != nil {
			continue
		}
		if err != nil {
			return fmt.Errorf("read run %s: %w", row.Run, err)
		}
		kept, err := decode(row.Body)
		if err != nil {
			r.o.Log.Warn("what was measured of a run cannot be read", "run", row.Run, "err", err)
		}
		r.mu.Lock()
		if r.active[run.ID] == nil { // otherwise an earlier check that failed later has resumed it
			r.begin(run, kept)
		}
		r.mu.Unlock()
	}
	return nil
}

// follow starts measuring a run or updates its state.
func (r *Recorder) follow(ctx context.Context, cluster string, run engine.Run, now time.Time) error {
	r.mu.Lock()
	k := r.active[run.ID]
	r.mu.Unlock()
	if k == nil {
		_, after := windows(run.Started, run.Ended)
		if scopeOf(run).empty() || !run.State.Open() && now.After(after.To.Add(settleWithin)) {
			return nil
		}
		row, err := r.o.Store.RunOutcome(ctx, cluster, run.ID)
		switch {
		case err == nil && !row.Open:
			return nil // already measured
		case err != nil && fault.Of(err) != fault.NotFound:
			return fmt.Errorf("read what was measured of run %s: %w", run.ID, err)
		}
		r.mu.Lock()
		r.begin(run, nil)
		r.mu.Unlock()
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	had := k.run.Ended
	k.run, k.scope = run, scopeOf(run)
	if !had.Equal(run.Ended) {
		k.dirty = true
	}
	r.fill(k)
	return nil
}

// begin starts measuring a run with what is still known of the time before it.
func (r *Recorder) begin(run engine.Run, prior *Record) {
	k := &comparison{run: run, scope: scopeOf(run), prior: prior, dirty: true,
		before: map[topology.Namespace][]sample{}, after: map[topology.Namespace][]sample{}}
	if prior != nil {
		k.others, k.moves, k.again = prior.OtherRuns, prior.OtherMoves, prior.MovedAgain
	}
	r.active[run.ID] = k
	r.fill(k)
}

// fill adds recent samples that lie in the run's windows and are not in it yet: for a run that was
// just noticed, a collection of a new step, or the time between a run's end and when that was
// noticed.
func (r *Recorder) fill(k *comparison) {
	before, after := windows(k.run.Started, k.run.Ended)
	for ns := range k.scope.spans {
		for _, side := range []struct {
			w    Span
			have map[topology.Namespace][]sample
		}{{before, k.before}, {after, k.after}} {
			for _, x := range r.recent[ns] {
				if side.w.holds(x.slot) && !slices.ContainsFunc(side.have[ns], func(y sample) bool { return y.slot.From.Equal(x.slot.From) }) {
					side.have[ns], k.dirty = append(side.have[ns], x), true
				}
			}
		}
	}
}

// compareWithOthers finds what else changed the collections of each run in or between its windows.
func (r *Recorder) compareWithOthers(runs []engine.Run, now time.Time) {
	t := r.o.Tables.Table()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.active {
		before, after := windows(k.run.Started, k.run.Ended)
		end := after.To
		if end.IsZero() {
			end = now
		}
		for _, o := range runs {
			if o.ID == k.run.ID || slices.Contains(k.others, o.ID) || !hasSent(o) || !k.scope.overlaps(scopeOf(o)) {
				continue
			}
			if o.Started.Before(end) && (o.Ended.IsZero() || o.Ended.After(before.From)) {
				k.others, k.dirty = append(k.others, o.ID), true
				slices.Sort(k.others)
			}
		}
		// The changelog is capped, so a smaller count than before is ignored.
		n, again := otherMigrations(t, k, Span{before.From, end})
		if n > k.moves || again && !k.again {
			k.moves, k.again, k.dirty = max(n, k.moves), again || k.again, true
		}
	}
}

// hasSent reports whether a run sent a command.
func hasSent(r engine.Run) bool {
	return slices.ContainsFunc(r.Steps, func(s engine.Step) bool { return s.Sends() && !s.Sent.IsZero() })
}

// otherMigrations counts migrations of a run's collections in a time span that were neither its own
// commands nor what it waited for; moves of other runs are included. again reports whether one of
// them moved the run's chunks after it ended.
func otherMigrations(t *topology.Table, k *comparison, w Span) (n int, again bool) {
	for _, e := range t.Events {
		if e.What != "moveChunk.commit" || e.Time.Before(w.From) || !e.Time.Before(w.To) {
			continue
		}
		if _, concerned := k.scope.spans[topology.Namespace(e.NS)]; !concerned {
			continue
		}
		during := !e.Time.Before(k.run.Started) && (k.run.Ended.IsZero() || e.Time.Before(k.run.Ended.Add(time.Second)))
		if during && k.scope.awaits || k.own(e) {
			continue
		}
		n++
		again = again || !k.run.Ended.IsZero() && e.Time.After(k.run.Ended) && k.overlaps(t, e)
	}
	return n, again
}

// overlaps reports whether an entry's range overlaps the run's ranges.
func (k *comparison) overlaps(t *topology.Table, e topology.Event) bool {
	c := t.Collection(topology.Namespace(e.NS))
	lo, _ := e.Details.Lookup("min").DocumentOK()
	hi, _ := e.Details.Lookup("max").DocumentOK()
	if c == nil {
		return false
	}
	moved := mergedRanges(c, []keySpan{{lo, hi}})
	return len(moved) > 0 && slices.ContainsFunc(mergedRanges(c, k.scope.spans[c.NS]), func(r shardkey.Range) bool {
		return r.Min.Compare(moved[0].Max) < 0 && moved[0].Min.Compare(r.Max) < 0
	})
}

// own reports whether a changelog entry belongs to one of the run's commands.
func (k *comparison) own(e topology.Event) bool {
	lo, _ := e.Details.Lookup("min").DocumentOK()
	to, _ := e.Details.Lookup("to").StringValueOK()
	return slices.ContainsFunc(k.run.Steps, func(s engine.Step) bool {
		return s.Migrates() && !s.Sent.IsZero() && string(s.NS) == e.NS && s.Shard == to && string(s.Min) == string(lo) &&
			e.Time.After(s.Sent.Add(-windowAlignment))
	})
}

// close ends comparisons whose second window is complete or overdue, and those of runs without an
// effect.
func (r *Recorder) close(now time.Time) {
	t := r.o.Tables.Table()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.active {
		if k.run.State.Open() {
			continue
		}
		_, after := windows(k.run.Started, k.run.Ended)
		if k.scope.empty() || !now.Before(after.To.Add(settleWithin)) || r.complete(t, k, after.To) {
			k.closed, k.dirty = true, true
		}
	}
}

// complete reports whether everything was counted up to a time. A run with no counted collections
// has nothing to wait for.
func (r *Recorder) complete(t *topology.Table, k *comparison, to time.Time) bool {
	for _, ns := range k.scope.namespaces() {
		c, known := heat.CoverageOf(t, r.o.Profile, ns)
		begun := len(k.before[ns]) > 0 || k.earlier(ns, func(c CollectionRecord) *Counts { return c.Before }) != nil
		if !begun && (!known || c.Not != "") {
			continue
		}
		all := r.recent[ns]
		if len(all) == 0 || all[len(all)-1].slot.To.Before(to) {
			return false
		}
	}
	return true
}

// record is a comparison in stored form.
func (r *Recorder) record(t *topology.Table, k *comparison) *Record {
	before, after := windows(k.run.Started, k.run.Ended)
	out := &Record{
		Run:        k.run.ID,
		Started:    k.run.Started,
		Ended:      k.run.Ended,
		OtherRuns:  slices.Clone(k.others),
		OtherMoves: k.moves,
		MovedAgain: k.again,
		Closed:     k.closed,
	}
	for _, ns := range k.scope.namespaces() {
		c := CollectionRecord{NS: ns}
		if how, known := heat.CoverageOf(t, r.o.Profile, ns); !known {
			c.Not = reasonGone
		} else {
			c.Not = string(how.Not)
		}
		spans := k.scope.spans[ns]
		c.Before = k.earlier(ns, func(c CollectionRecord) *Counts { return c.Before }).plus(count(k.before[ns], before, spans, k.run.Started))
		c.After = k.earlier(ns, func(c CollectionRecord) *Counts { return c.After }).plus(count(k.after[ns], after, spans, time.Time{}))
		if c.Before != nil || c.After != nil {
			c.Not = "" // it was counted, even if it no longer can be
		}
		out.Collections = append(out.Collections, c)
	}
	return out
}

// earlier returns what an earlier process counted of a collection.
func (k *comparison) earlier(ns topology.Namespace, of func(CollectionRecord) *Counts) *Counts {
	if k.prior == nil {
		return nil
	}
	for _, c := range k.prior.Collections {
		if c.NS == ns {
			return of(c)
		}
	}
	return nil
}

// save stores changes and notifies subscribers of closed comparisons.
func (r *Recorder) save(ctx context.Context, cluster string) error {
	t := r.o.Tables.Table()
	r.mu.Lock()
	var news []*Record
	for _, k := range r.active {
		if k.dirty {
			news, k.dirty = append(news, r.record(t, k)), false
		}
	}
	r.mu.Unlock()
	var failed error
	for _, rec := range news {
		body, err := json.Marshal(rec)
		if err == nil {
			err = r.o.Store.SaveRunOutcome(
				ctx,
				cluster,
				store.RunOutcome{Run: rec.Run, At: r.o.Now().UTC().Truncate(time.Millisecond), Open: !rec.Closed, Body: body},
			)
		}
		r.mu.Lock()
		if k := r.active[rec.Run]; k != nil && err != nil {
			k.dirty, failed = true, err
		} else if rec.Closed {
			delete(r.active, rec.Run)
		}
		r.mu.Unlock()
	}
	r.notify(news)
	if failed != nil {
		return fmt.Errorf("save what was measured of runs: %w", failed)
	}
	return nil
}

func decode(body []byte) (*Record, error) {
	var rec Record
	if err := json.Unmarshal(body, &rec); err != nil {
		return nil, fmt.Errorf("decode what was measured of a run: %w", err)
	}
	return &rec, nil
}

// Of returns the current outcome of a run.
func (r *Recorder) Of(ctx context.Context, run engine.Run) (Outcome, error) {
	t := r.o.Tables.Table()
	r.mu.Lock()
	if k := r.active[run.ID]; k != nil {
		rec := r.record(t, k)
		r.mu.Unlock()
		return Compare(run, rec), nil
	}
	r.mu.Unlock()
	row, err := r.o.Store.RunOutcome(ctx, t.ClusterID, run.ID)
	if fault.Of(err) == fault.NotFound && err != nil {
		return Compare(run, nil), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	rec, err := decode(row.Body)
	if err != nil {
		r.o.Log.Warn("what was measured of a run cannot be read", "run", run.ID, "err", err)
		o := Compare(run, nil)
		o.Notes = append(o.Notes, NoteUnreadable)
		return o, nil
	}
	return Compare(run, rec), nil
}

// Subscribe returns a channel that receives a value after a comparison changed its state, and a
// function that ends the subscription.
func (r *Recorder) Subscribe() (<-chan struct{}, func()) { return r.subscribers.Subscribe() }

func (r *Recorder) notify(news []*Record) {
	if slices.ContainsFunc(news, func(rec *Record) bool { return rec.Closed }) {
		r.subscribers.Notify()
	}
}
