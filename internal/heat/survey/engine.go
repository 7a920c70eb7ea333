package survey

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/internal/store"
)

const (
	queueLength = 20
	keptSurveys = 200 // ended surveys that are kept
	inMemory    = 30  // newest results held in memory for pages
)

// Options configure an Engine. Zero values are the defaults.
type Options struct {
	Store     store.Surveys // nil: nothing is stored
	Budget    *heat.Budget  // shared with all measurements
	PerSecond int           // documents that surveys may read a second, within the budget; 0 = heat.PerSecond
	Log       *slog.Logger
	Now       func() time.Time
}

// Engine runs surveys one at a time while Run runs. Surveys of a document or project go first and
// can interrupt another one between two steps. Safe for concurrent use.
type Engine struct {
	src    Source
	tables Tables
	dirs   Directories
	prof   *profile.Profile
	o      Options
	wake   chan struct{}

	mu      sync.RWMutex
	cluster string
	loaded  bool   // the stored surveys were read
	jobs    []*job // newest first
}

// job is a survey with its state.
type job struct {
	Survey
	work         work    // nil: no work left, only a result
	result       *Result // nil: not ended, or only in the store
	cancel       context.CancelFunc
	passStart    time.Time // begin of the current pass
	activeBefore time.Duration
	doneBefore   int64 // Progress.Done at that time
	saved        time.Time
	size         int                // size of the last stored body
	stop         []store.AuditEntry // audit entries of whoever stopped it; stored with the end
}

// New makes an engine that does nothing until Run.
func New(src Source, tables Tables, dirs Directories, prof *profile.Profile, o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Budget == nil {
		o.Budget = heat.NewBudget(0, o.Now)
	}
	if o.PerSecond <= 0 {
		o.PerSecond = heat.PerSecond
	}
	return &Engine{src: src, tables: tables, dirs: dirs, prof: prof, o: o, wake: make(chan struct{}, 1)}
}

// Start queues a survey and records who requested it. fault.Invalid for an invalid request,
// fault.NotFound when there is nothing to measure, fault.Unavailable before the routing table is
// loaded, fault.Conflict when the same survey is queued or running, or too many are queued.
func (e *Engine) Start(ctx context.Context, r Request, by store.AuditEntry) (Survey, error) {
	t := e.tables.Table()
	if t == nil || !t.Loaded {
		return Survey{}, t.NotLoaded()
	}
	if err := r.check(); err != nil {
		return Survey{}, err
	}
	r, w, err := e.plan(t, r)
	if err != nil {
		return Survey{}, err
	}
	if err := e.load(ctx); err != nil {
		return Survey{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	waiting := 0
	for _, j := range e.jobs {
		if j.State.Ended() {
			continue
		}
		waiting++
		if j.Request == r {
			return Survey{}, fault.New(fault.Conflict, "This survey is already queued or running.")
		}
	}
	if waiting >= queueLength {
		return Survey{}, fault.New(fault.Conflict, "%d surveys are already queued or running; stop some, or wait until they are done.", waiting)
	}
	j := &job{Survey: Survey{ID: rand.Text(), Request: r, By: by.By, State: Queued, Queued: e.o.Now().UTC()}, work: w}
	j.updateProgress(e.o)
	if err := e.save(ctx, j, e.auditEntry(by, "survey.started", j)); err != nil {
		return Survey{}, err
	}
	e.jobs = slices.Insert(e.jobs, 0, j)
	e.trim(ctx)
	select {
	case e.wake <- struct{}{}:
	default:
	}
	return e.snapshot(j), nil
}

// Stop ends a survey and records who stopped it; its measurements are kept. fault.NotFound, or
// fault.Conflict when it has ended.
func (e *Engine) Stop(ctx context.Context, id string, by store.AuditEntry) error {
	if err := e.load(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.job(id)
	switch {
	case j == nil:
		return fault.New(fault.NotFound, "There is no such survey.")
	case j.State.Ended():
		return fault.New(fault.Conflict, "This survey has ended.")
	}
	if j.stop == nil { // only the first request is recorded
		j.stop = []store.AuditEntry{e.auditEntry(by, "survey.stopped", j)}
	}
	if j.cancel != nil {
		j.cancel() // Run stores the end
		return nil
	}
	j.State, j.Ended, j.Progress.Left = Stopped, e.o.Now().UTC(), -1
	if j.work != nil && !j.Started.IsZero() { // it had begun and was interrupted by another survey
		if j.result, _ = e.result(j); j.result != nil {
			j.work = nil
		}
	}
	return e.save(ctx, j, j.stop...)
}

// auditEntry is the audit entry of an action on a survey.
func (e *Engine) auditEntry(by store.AuditEntry, what string, j *job) store.AuditEntry {
	by.Cluster, by.At, by.What, by.Subject, by.Outcome = e.cluster, e.o.Now().UTC(), what, j.ID, "ok"
	by.Details = map[string]string{"kind": string(j.Request.Kind)}
	for name, value := range map[string]string{"db": j.Request.DB, "ns": string(j.Request.NS), "document": j.Request.DocumentText()} {
		if value != "" {
			by.Details[name] = value
		}
	}
	if id := j.Request.Project; !id.IsZero() {
		by.Details["project"] = id.Hex()
	}
	return by
}

// job returns a survey by id; the caller holds the lock.
func (e *Engine) job(id string) *job {
	i := slices.IndexFunc(e.jobs, func(j *job) bool { return j.ID == id })
	if i < 0 {
		return nil
	}
	return e.jobs[i]
}

// List returns the known surveys, newest first.
func (e *Engine) List() []Survey {
	e.mu.RLock()
	defer e.mu.RUnlock()
	out := make([]Survey, len(e.jobs))
	for i, j := range e.jobs {
		out[i] = e.snapshot(j)
	}
	return out
}

// Survey returns one survey with its result; nil while it has none.
func (e *Engine) Survey(ctx context.Context, id string) (Survey, *Result, error) {
	if err := e.load(ctx); err != nil {
		return Survey{}, nil, err
	}
	e.mu.RLock()
	j := e.job(id)
	if j == nil {
		e.mu.RUnlock()
		return Survey{}, nil, fault.New(fault.NotFound, "There is no such survey.")
	}
	s, result, cluster := e.snapshot(j), j.result, e.cluster
	e.mu.RUnlock()
	if result == nil && s.State.Ended() && e.o.Store != nil {
		b, err := e.o.Store.SurveyBody(ctx, cluster, id)
		if err != nil {
			return s, nil, err
		}
		if _, result, err = decodeBody(s.Request.Kind, b); err != nil {
			e.o.Log.Error("a survey is unreadable", "survey", id, "err", err)
			s.State, s.Problem = Failed, unreadableText
			return s, nil, nil
		}
		return s, result, nil
	}
	return s, result, nil
}
