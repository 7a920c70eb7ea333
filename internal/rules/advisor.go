package rules

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/notify"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Every is how often an advisor evaluates the rules, and fresh how old a report may
// be when it is shown.
const (
	Every = 30 * time.Second
	fresh = 10 * time.Second
)

// Sources are what an advisor makes situations from. All but the first three may be
// nil.
type Sources struct {
	Tables      interface{ Table() *topology.Table }
	Directories interface {
		Directory() *placement.Directory
	}
	Profile *profile.Profile
	Heat    *heat.Collector
	Past    Past
	Notices store.Notices
	Pins    func(ctx context.Context, cluster string) (map[string]Pin, error)
	Surveys Surveys
	// Paused is what runs have switched off while they ran and not switched on again;
	// nil: no run pauses anything.
	Paused func(ctx context.Context) ([]PausedBalancing, error)
	// SetByRuns are the settings of collections that runs have set, newest first; nil:
	// no run sets any.
	SetByRuns func(ctx context.Context) ([]SettingByRun, error)
	// Unsealed are rows of the store that somebody else wrote; nil: not looked for.
	Unsealed func() []store.Unsealed
	Bounds   Bounds // of severity, where they are not the defaults
	Log      *slog.Logger
	Now      func() time.Time
}

// Surveys gives the newest measurements of a project: survey.Engine.
type Surveys interface {
	Findings(db string, project bson.ObjectID) []survey.Finding
}

// Advisor keeps what the rules find now. Safe for concurrent use.
type Advisor struct {
	from Sources

	evaluating sync.Mutex // held while the rules are evaluated, so that concurrent requests share one evaluation

	mu       sync.Mutex
	last     Report
	made     input // what last was made from
	settings settingWatch
	pins     map[string]Pin
	paused   []PausedBalancing
	unread   bool // what runs paused could not be read
	writes   counted
	minutes  minuteWatch // used only while evaluating is held

	decided  decisions
	notified string // the list that subscribers were last notified of

	subscribers notify.Subscribers
}

// input is what a report was made from. Reports of the same input differ only in ages
// and in what is counted beside the table.
type input struct {
	table *topology.Table
	dir   *placement.Directory
	stale uint64 // one bit for each part whose last read was late
}

// same tells whether a report of one input holds for the other. Each poll publishes a
// table, but its Seq stays when nothing in it changed.
func (i input) same(o input) bool {
	if i.dir != o.dir || i.stale != o.stale || i.table == nil || o.table == nil {
		return false
	}
	a, b := i.table, o.table
	return a == b || a.Seq != 0 && a.Seq == b.Seq && a.ClusterID == b.ClusterID && a.Loaded == b.Loaded
}

// counted are writes as they were counted at a time. They are kept because counting
// costs more than all rules.
type counted struct {
	at     time.Time
	writes []Writes
}

// decisions are the dismissals that were read last.
type decisions struct {
	at   time.Time
	list []store.Dismissal
	took []store.Take
	err  error
	read bool
}

// NewAdvisor makes an advisor. It evaluates nothing before Run or a request.
func NewAdvisor(from Sources) *Advisor {
	if from.Now == nil {
		from.Now = time.Now
	}
	from.Log = cmp.Or(from.Log, slog.New(slog.DiscardHandler))
	return &Advisor{from: from}
}

// Subscribe gives a channel that receives one value after the list of problems
// changed, several changes joined into one. The last result ends it.
func (a *Advisor) Subscribe() (<-chan struct{}, func()) { return a.subscribers.Subscribe() }

// notify wakes subscribers when the list differs from the one they know. The caller
// holds mu.
func (a *Advisor) notify() {
	var b strings.Builder
	for _, p := range a.last.Items {
		b.WriteString(p.ID + " " + string(p.Severity) + "\n")
	}
	for _, u := range a.last.Unsure {
		b.WriteString(string(u.Rule) + "?" + u.Subject + "\n")
	}
	for _, d := range a.decided.list {
		b.WriteString("-" + d.ID + "\n")
	}
	for _, t := range a.decided.took {
		b.WriteString("+" + t.ID + t.By + t.Note + "\n")
	}
	if now := b.String(); now != a.notified {
		a.notified = now
		a.subscribers.Notify()
	}
}

// Run evaluates the rules every 30 s until the context ends. Before each evaluation
// it reads from history and the store what the table does not have.
func (a *Advisor) Run(ctx context.Context) error {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		a.readBackground(ctx)
		a.Refresh()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// readBackground reads what the table does not have: since when the balancer has been
// off, what the plans of pins said, what runs have paused, and what people dismissed,
// which Last needs also where nobody opens a page.
func (a *Advisor) readBackground(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, Every)
	defer cancel()
	t := a.from.Tables.Table()
	if a.from.Pins != nil && t.ClusterID != "" {
		pins, err := a.from.Pins(ctx, t.ClusterID)
		if err != nil {
			a.from.Log.Warn("read plans of pins", "err", err)
		} else {
			a.mu.Lock()
			a.pins = pins
			a.mu.Unlock()
		}
	}
	if a.from.Notices != nil && t.ClusterID != "" {
		if _, err := a.decisions(ctx, t.ClusterID); err != nil {
			a.from.Log.Warn("read which problems were dismissed", "err", err)
		}
	}
	if a.from.Paused != nil {
		paused, err := a.from.Paused(ctx)
		if err != nil {
			a.from.Log.Warn("read what runs have paused", "err", err)
		}
		a.mu.Lock()
		if a.unread = err != nil; err == nil {
			a.paused = paused
		}
		a.mu.Unlock()
	}
	a.readSettings(ctx, t)
}

// Refresh evaluates the rules now. It reads only memory and costs one pass over the
// table.
func (a *Advisor) Refresh() Report {
	return a.reportOf(a.from.Tables.Table(), a.from.Directories.Directory(), true)
}

// reportOf is the report of a table and the projects. The last one is used while it is
// of the same input and not old, unless anew is set.
func (a *Advisor) reportOf(t *topology.Table, dir *placement.Directory, anew bool) Report {
	a.evaluating.Lock()
	defer a.evaluating.Unlock()
	now := a.from.Now()
	of := input{table: t, dir: dir}
	for i, p := range parts {
		if t.Stale(p, now) {
			of.stale |= 1 << i
		}
	}
	a.mu.Lock()
	last, was, writes := a.last, a.made, a.writes
	a.mu.Unlock()
	if age := now.Sub(last.At); !anew && !last.At.IsZero() && of.same(was) && age >= 0 && age < fresh {
		return last
	}
	s := Situation{Table: t, Directory: dir, Profile: a.from.Profile, Now: now, Bounds: a.from.Bounds, Counting: a.from.Heat != nil,
		Surveyed: a.surveyed()}
	if a.from.Heat != nil && t.IsRead() {
		// What was counted by the chunks of another table may be of chunks that were split since.
		if age := now.Sub(writes.at); anew || !of.same(was) || writes.at.IsZero() || age < 0 || age >= fresh {
			writes = counted{now, WritesOf(a.from.Heat, t, a.from.Profile, Window)}
		}
		s.Writes, s.Loads = writes.writes, LoadsOf(a.from.Heat, t)
		a.minutes.observe(a.from.Heat, s)
		if !a.minutes.last.IsZero() {
			s.Minutes = &JudgedMinutes{To: a.minutes.last, Minute: a.minutes.writes, Spells: a.minutes.spells,
				Between: func(from, to time.Time) []Writes { return writesBetween(a.from.Heat, t, a.from.Profile, from, to) }}
		}
	}
	a.mu.Lock()
	a.settings.observe(t, now)
	s.SetSince = a.settings.all()
	s.Off, s.Pins, s.Paused, s.PausedUnread = s.SetSince[ofBalancer], a.pins, a.paused, a.unread
	a.mu.Unlock()
	if a.from.Unsealed != nil {
		s.Unsealed = a.from.Unsealed()
	}
	r := Evaluate(s)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !r.At.Before(a.last.At) {
		a.last, a.made, a.writes = r, of, writes
		a.notify()
	}
	return r
}

// surveyed gives a project's bytes in a collection by the newest survey.
func (a *Advisor) surveyed() func(topology.Namespace, string) topology.Figure {
	if a.from.Surveys == nil {
		return nil
	}
	return func(ns topology.Namespace, project string) topology.Figure {
		id, err := bson.ObjectIDFromHex(project)
		if err != nil {
			return topology.Figure{Reason: "notSurveyed"}
		}
		for _, f := range a.from.Surveys.Findings(ns.Database(), id) {
			if f.Line != nil && f.Collection != nil && f.Collection.NS == ns {
				return f.Line.Bytes.Figure(f.Collection.At)
			}
		}
		return topology.Figure{Reason: "notSurveyed"}
	}
}

// Report is of the newest table and at most some seconds old.
func (a *Advisor) Report() Report {
	return a.reportOf(a.from.Tables.Table(), a.from.Directories.Directory(), false)
}
