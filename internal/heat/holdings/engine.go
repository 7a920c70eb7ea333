package holdings

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// PerMinute is how many documents a minute are read by default.
const PerMinute = 1200

// Options configure an Engine. Zero values are the defaults.
type Options struct {
	Store     store.Holdings // nil: nothing is stored
	Budget    *heat.Budget   // shared with all measurements
	PerMinute int            // documents that may be read a minute, within the budget; 0 = PerMinute, negative = none
	Log       *slog.Logger
	Now       func() time.Time
}

// Source is what is read of a cluster. Errors are classified with fault.
type Source interface {
	survey.Source
	// SampleSizes draws at most Limit rows at random.
	SampleSizes(ctx context.Context, q survey.SizeQuery) ([]survey.SizedRow, error)
}

// Engine reads random rows of the profile's collections while Run runs, one collection at a time.
// Safe for concurrent use.
type Engine struct {
	src    Source
	tables survey.Tables
	prof   *profile.Profile
	o      Options
	reader *survey.Reader
	pace   pace

	mu       sync.Mutex
	seq      uint64
	state    State
	paced    bool
	cluster  string // whose samples are loaded; meaningful once loaded
	loaded   bool
	followed []*followed // by name

	// Used by Run's goroutine only.
	standby bool      // another process measured at the last look
	readAt  time.Time // when its samples were last read

	building sync.Mutex // makes each snapshot once
	newest   *Snapshot
}

// followed is a collection that is measured. Guarded by Engine.mu where nothing else is said.
type followed struct {
	target  survey.Target
	sample  *sample // nil: no rows were read
	reason  string  // why the last read failed
	problem string
	retry   time.Time // not before this time
	tried   time.Time // when it was last read
	saved   *sample   // the stored one
	savedAt time.Time

	placed *placed // of the newest snapshot; guarded by Engine.building
	// The rest is used by Run's goroutine only.
	count      *count // in progress
	sampleOnly bool   // it cannot be counted row by row
}

// New makes an engine that does nothing until Run.
func New(src Source, tables survey.Tables, prof *profile.Profile, o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Budget == nil {
		o.Budget = heat.NewBudget(0, o.Now)
	}
	if o.PerMinute == 0 {
		o.PerMinute = PerMinute
	}
	e := &Engine{src: src, tables: tables, prof: prof, o: o, state: Waiting}
	e.pace = pace{perMinute: o.PerMinute, now: o.Now}
	e.reader = survey.NewReader(src, tables, o.Budget, o.Now, heat.PerSecond, func(paced bool) { e.update(func() { e.paced = paced }) })
	if o.PerMinute < 0 {
		e.state = Off
	}
	return e
}

func (e *Engine) update(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// leads is false when another process measures.
func (e *Engine) leads() bool {
	o, ok := e.o.Store.(interface{ Leads() bool })
	return !ok || o.Leads()
}

// Seq increases with every measurement.
func (e *Engine) Seq() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seq
}

// Snapshot returns the figures by a table, which must not have its key values hidden.
func (e *Engine) Snapshot(t *topology.Table) *Snapshot {
	e.building.Lock()
	defer e.building.Unlock()
	e.mu.Lock()
	s := &Snapshot{Seq: e.seq, State: e.state, table: t}
	if s.State == Measuring && e.paced {
		s.State = Paced
	}
	if n := e.newest; n != nil && n.Seq == s.Seq && n.State == s.State && n.table.Seq == t.Seq && n.table.ClusterID == t.ClusterID {
		e.mu.Unlock()
		return n
	}
	list := e.followed
	samples, targets := make([]*sample, len(list)), make([]survey.Target, len(list))
	s.Collections = make([]Collection, len(list))
	for i, f := range list {
		samples[i], targets[i] = f.sample, f.target
		s.Collections[i] = Collection{NS: f.target.NS, Reason: f.reason, Problem: f.problem}
	}
	e.mu.Unlock()
	for i, f := range list {
		ns := targets[i].NS
		switch {
		case samples[i] == nil || samples[i].Life != lifeOf(t, ns):
			f.placed = nil // the rows have keys of another life of the collection
		case !f.placed.current(t, ns, samples[i]):
			f.placed = place(t, ns, samples[i])
		}
		s.parts = append(s.parts, newPart(t, targets[i], &s.Collections[i], f.placed))
	}
	s.build()
	e.newest = s
	return s
}
