package rules

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/notify"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Every is how often the rules are evaluated while an advisor runs, and fresh how
// old a report can be when it is shown.
const (
	Every = 30 * time.Second
	fresh = 10 * time.Second
)

// Sources is where an advisor takes its situation from. All but the first three
// may be nil.
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
	// Paused is what runs of ours have switched off for their own time and not on
	// again; nil: no run pauses anything.
	Paused func(ctx context.Context) ([]PausedBalancing, error)
	Log    *slog.Logger
	Now    func() time.Time
}

// Surveys gives the newest that was measured of a project: survey.Engine.
type Surveys interface {
	Findings(db string, project bson.ObjectID) []survey.Finding
}

// Advisor keeps what the rules find now. Safe for concurrent use.
type Advisor struct {
	from Sources

	looking sync.Mutex // held while the rules are evaluated, so that many who ask cause one evaluation

	mu     sync.Mutex
	last   Report
	of     input
	off    offWatch
	pins   map[string]Pin
	paused []PausedBalancing
	lost   bool // what is paused could not be read
	writes counted

	decided decisions
	told    string // the list that subscribers were last notified of

	subscribers notify.Subscribers
}

// input is what a report was made of. One of the same input is the same but for
// what is counted beside the table, and ages.
type input struct {
	table *topology.Table
	dir   *placement.Directory
	stale uint64 // the parts whose last read was late, as bits
}

// same tells whether a report of one input is good for the other. A table is
// published with each poll, but its Seq stays when nothing in it changed.
func (i input) same(o input) bool {
	if i.dir != o.dir || i.stale != o.stale || i.table == nil || o.table == nil {
		return false
	}
	a, b := i.table, o.table
	return a == b || a.Seq != 0 && a.Seq == b.Seq && a.ClusterID == b.ClusterID && a.Loaded == b.Loaded
}

// counted are writes as they were counted at a time; they cost more than all rules.
type counted struct {
	at     time.Time
	writes []Writes
}

// decisions are the dismissals as they were last read.
type decisions struct {
	at   time.Time
	list []store.Dismissal
	err  error
	read bool
}

// NewAdvisor evaluates nothing until it is asked or runs.
func NewAdvisor(from Sources) *Advisor {
	if from.Now == nil {
		from.Now = time.Now
	}
	if from.Log == nil {
		from.Log = slog.New(slog.DiscardHandler)
	}
	return &Advisor{from: from}
}

// Subscribe gives a channel that receives one value after the list of problems
// changed, several changes joined into one. The last result ends it.
func (a *Advisor) Subscribe() (<-chan struct{}, func()) { return a.subscribers.Subscribe() }

// tell notifies subscribers when the list differs from the one they know. The caller
// holds mu.
func (a *Advisor) tell() {
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
	if now := b.String(); now != a.told {
		a.told = now
		a.subscribers.Notify()
	}
}

// Run looks again and again until the context ends, and finds out from history
// what the table of now cannot tell.
func (a *Advisor) Run(ctx context.Context) error {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		a.lookBack(ctx)
		a.Look()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// lookBack asks what has to be read: since when the balancer has been off, what
// the plans of pins said, and what runs have paused.
func (a *Advisor) lookBack(ctx context.Context) {
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
	if a.from.Paused != nil {
		paused, err := a.from.Paused(ctx)
		if err != nil {
			a.from.Log.Warn("read what runs have paused", "err", err)
		}
		a.mu.Lock()
		if a.lost = err != nil; err == nil {
			a.paused = paused
		}
		a.mu.Unlock()
	}
	now := a.from.Now()
	a.mu.Lock()
	ask := a.off.see(t, now) && a.from.Past != nil
	known := a.off.since
	a.mu.Unlock()
	if !ask {
		return
	}
	since, err := offSince(ctx, a.from.Past, t.ClusterID, known.At, now)
	if err != nil {
		a.from.Log.Warn("look for when the balancer was turned off", "err", err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.off.found(since)
}

// Look evaluates the rules now. It reads nothing but memory and costs one pass over
// the table.
func (a *Advisor) Look() Report {
	return a.look(a.from.Tables.Table(), a.from.Directories.Directory(), true)
}

// look is the report of a table and the projects: the last one where that is of
// the same and not old, unless a new one is wanted.
func (a *Advisor) look(t *topology.Table, dir *placement.Directory, anew bool) Report {
	a.looking.Lock()
	defer a.looking.Unlock()
	now := a.from.Now()
	of := input{table: t, dir: dir}
	for i, p := range parts {
		if t.Stale(p, now) {
			of.stale |= 1 << i
		}
	}
	a.mu.Lock()
	last, was, writes := a.last, a.of, a.writes
	a.mu.Unlock()
	if age := now.Sub(last.At); !anew && !last.At.IsZero() && of.same(was) && age >= 0 && age < fresh {
		return last
	}
	s := Situation{Table: t, Directory: dir, Profile: a.from.Profile, Now: now, Counting: a.from.Heat != nil, Surveyed: a.surveyed()}
	if a.from.Heat != nil && t.Loaded {
		if age := now.Sub(writes.at); anew || writes.at.IsZero() || age < 0 || age >= fresh {
			writes = counted{now, WritesOf(a.from.Heat, t, a.from.Profile, Window)}
		}
		s.Writes = writes.writes
	}
	a.mu.Lock()
	a.off.see(t, now)
	s.Off, s.Pins, s.Paused, s.PausedUnread = a.off.since, a.pins, a.paused, a.lost
	a.mu.Unlock()
	r := Evaluate(s)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !r.At.Before(a.last.At) {
		a.last, a.of, a.writes = r, of, writes
		a.tell()
	}
	return r
}

// surveyed is a project's bytes in a collection by the newest survey.
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
	return a.look(a.from.Tables.Table(), a.from.Directories.Directory(), false)
}

// Dismissed is a problem that somebody decided not to be shown.
type Dismissed struct {
	Problem Problem // zero when it is over
	By      store.Dismissal
}

// View is a report with what people have decided taken out of it.
type View struct {
	Report
	Dismissed []Dismissed
	Kept      bool  // decisions can be kept
	Err       error // they could not be read: nothing is taken out
}

// View is of the newest table. Where nothing is kept, nothing is dismissed.
func (a *Advisor) View(ctx context.Context) (View, error) {
	v := a.ViewOf(ctx, a.from.Tables.Table(), a.from.Directories.Directory())
	return v, v.Err
}

// ViewOf is of a table and the projects that a page is made of, so that the page
// and its list of problems are of one moment.
func (a *Advisor) ViewOf(ctx context.Context, t *topology.Table, dir *placement.Directory) View {
	v := View{Report: a.look(t, dir, false), Kept: a.from.Notices != nil}
	if !v.Kept || t.ClusterID == "" {
		return v
	}
	var list []store.Dismissal
	if list, v.Err = a.decisions(ctx, t.ClusterID); v.Err != nil {
		return v
	}
	by := map[string]int{}
	for i, d := range list {
		v.Dismissed = append(v.Dismissed, Dismissed{By: d})
		by[d.ID] = i
	}
	open := make([]Problem, 0, len(v.Items))
	for _, p := range v.Items {
		if i, ok := by[p.ID]; ok {
			v.Dismissed[i].Problem = p
			continue
		}
		open = append(open, p)
	}
	v.Items = open
	return v
}

// decidedFor is how long decisions that were read are good for: every page asks
// for them, and another process may have made some.
const decidedFor = 2 * time.Second

func (a *Advisor) decisions(ctx context.Context, cluster string) ([]store.Dismissal, error) {
	now := a.from.Now()
	a.mu.Lock()
	d := a.decided
	a.mu.Unlock()
	if age := now.Sub(d.at); d.read && age >= 0 && age < decidedFor && d.err == nil {
		return d.list, nil
	}
	list, err := a.from.Notices.Dismissals(ctx, cluster)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.decided = decisions{at: now, list: list, read: true}
		a.tell()
	}
	return list, err
}

// forget has decisions read again: one was made here.
func (a *Advisor) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decided.read = false
	a.subscribers.Notify()
}

// Cluster is the id that decisions are kept under; "" before it is known.
func (a *Advisor) Cluster() string { return a.from.Tables.Table().ClusterID }

// maxReason bounds what people write, in bytes.
const maxReason = 500

// Dismiss keeps a decision about an advice that is there now.
func (a *Advisor) Dismiss(ctx context.Context, id, reason string, e store.AuditEntry) error {
	if err := a.decidable(); err != nil {
		return err
	}
	if reason == "" || len(reason) > maxReason {
		return fault.New(fault.Invalid, "Give a reason of at most %d bytes.", maxReason)
	}
	for _, i := range a.Report().Items {
		if i.ID == id {
			e.Cluster, e.At, e.What, e.Subject, e.Outcome = a.Cluster(), a.from.Now(), "advice.dismissed", id, "ok"
			e.Details = map[string]string{"reason": reason, "about": i.Subject}
			defer a.forget()
			return a.from.Notices.Dismiss(ctx, a.Cluster(), store.Dismissal{ID: id, By: e.By, Reason: reason, At: e.At}, e)
		}
	}
	return fault.New(fault.NotFound, "There is no such problem now; it may be over.")
}

// Restore takes a decision back.
func (a *Advisor) Restore(ctx context.Context, id string, e store.AuditEntry) error {
	if err := a.decidable(); err != nil {
		return err
	}
	e.Cluster, e.At, e.What, e.Subject, e.Outcome = a.Cluster(), a.from.Now(), "advice.restored", id, "ok"
	defer a.forget()
	return a.from.Notices.Restore(ctx, a.Cluster(), id, e)
}

func (a *Advisor) decidable() error {
	if a.from.Notices == nil || a.Cluster() == "" {
		return fault.New(fault.Unavailable, "Problems cannot be dismissed: this shardboard keeps no data, or has not read the cluster id yet.")
	}
	return nil
}
