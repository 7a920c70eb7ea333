package rules

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Every is how often the rules look while an advisor runs, and how old what it
// shows can be.
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
	Log     *slog.Logger
	Now     func() time.Time
}

// Surveys gives the newest that was measured of a project: survey.Engine.
type Surveys interface {
	Findings(db string, project bson.ObjectID) []survey.Finding
}

// Advisor keeps a report of now. Safe for concurrent use.
type Advisor struct {
	from Sources

	mu   sync.Mutex
	last Report
	seq  uint64 // of the table that the last report is of
	off  offWatch
	pins map[string]Pin
}

// NewAdvisor looks at nothing until it is asked or runs.
func NewAdvisor(from Sources) *Advisor {
	if from.Now == nil {
		from.Now = time.Now
	}
	if from.Log == nil {
		from.Log = slog.New(slog.DiscardHandler)
	}
	return &Advisor{from: from}
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

// lookBack asks what has to be read: since when the balancer has been off, and
// what the plans of pins said.
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

// Look makes a new report. It reads nothing and costs one pass over the table.
func (a *Advisor) Look() Report {
	t, now := a.from.Tables.Table(), a.from.Now()
	s := Situation{Table: t, Directory: a.from.Directories.Directory(), Profile: a.from.Profile, Now: now,
		Counting: a.from.Heat != nil, Surveyed: a.surveyed()}
	if a.from.Heat != nil && t.Loaded {
		s.Writes = WritesOf(a.from.Heat, t, Window)
	}
	a.mu.Lock()
	a.off.see(t, now)
	s.Off, s.Pins = a.off.since, a.pins
	a.mu.Unlock()
	r := Evaluate(s)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !r.At.Before(a.last.At) {
		a.last, a.seq = r, t.Seq
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

// Report is at most some seconds old.
func (a *Advisor) Report() Report {
	a.mu.Lock()
	last, seq := a.last, a.seq
	a.mu.Unlock()
	age := a.from.Now().Sub(last.At)
	if last.At.IsZero() || age >= fresh || age < 0 || seq != a.from.Tables.Table().Seq && age >= time.Second {
		return a.Look()
	}
	return last
}

// Dismissed is an advice that somebody decided not to be shown.
type Dismissed struct {
	Problem Problem // zero when the trouble is over
	By      store.Dismissal
}

// View is a report with what people have decided taken out of it.
type View struct {
	Report
	Dismissed []Dismissed
	Kept      bool // decisions can be kept
}

// View is the report and the decisions. Where nothing is kept, nothing is
// dismissed.
func (a *Advisor) View(ctx context.Context) (View, error) {
	v := View{Report: a.Report(), Kept: a.from.Notices != nil}
	cluster := a.Cluster()
	if !v.Kept || cluster == "" {
		return v, nil
	}
	list, err := a.from.Notices.Dismissals(ctx, cluster)
	if err != nil {
		return v, err
	}
	by := map[string]int{}
	for i, d := range list {
		v.Dismissed = append(v.Dismissed, Dismissed{By: d})
		by[d.ID] = i
	}
	open := make([]Problem, 0, len(v.Items))
	for _, item := range v.Items {
		if i, ok := by[item.ID]; ok {
			v.Dismissed[i].Problem = item
			continue
		}
		open = append(open, item)
	}
	v.Items = open
	return v, nil
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
		return fault.New(fault.Invalid, "Say why in at most %d bytes: whoever comes after you will want to know.", maxReason)
	}
	for _, i := range a.Report().Items {
		if i.ID == id {
			e.Cluster, e.At, e.What, e.Subject, e.Outcome = a.Cluster(), a.from.Now(), "advice.dismissed", id, "ok"
			e.Details = map[string]string{"reason": reason, "about": i.Subject}
			return a.from.Notices.Dismiss(ctx, a.Cluster(), store.Dismissal{ID: id, By: e.By, Reason: reason, At: e.At}, e)
		}
	}
	return fault.New(fault.NotFound, "There is no such advice now; what it was about may be over.")
}

// Restore takes a decision back.
func (a *Advisor) Restore(ctx context.Context, id string, e store.AuditEntry) error {
	if err := a.decidable(); err != nil {
		return err
	}
	e.Cluster, e.At, e.What, e.Subject, e.Outcome = a.Cluster(), a.from.Now(), "advice.restored", id, "ok"
	return a.from.Notices.Restore(ctx, a.Cluster(), id, e)
}

func (a *Advisor) decidable() error {
	if a.from.Notices == nil || a.Cluster() == "" {
		return fault.New(fault.Unavailable, "Nothing can be dismissed here: this shardboard keeps no data, or does not know yet which cluster it looks at.")
	}
	return nil
}
