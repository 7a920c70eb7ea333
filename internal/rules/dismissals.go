package rules

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Dismissed is a problem that somebody dismissed.
type Dismissed struct {
	Problem Problem // zero when it is over
	By      store.Dismissal
}

// View is a report without the problems that people have dismissed.
type View struct {
	Report
	Dismissed []Dismissed
	Taken     []store.Take // who deals with which problem, of the last takenFor
	Kept      bool         // dismissals can be stored
	Err       error        // they could not be read: no problem is left out
	NotJudged bool         // of a past time at which nobody judged: these are only what its routing table tells
}

// View is the view of the newest table. Without a store nothing is dismissed.
func (a *Advisor) View(ctx context.Context) (View, error) {
	v := a.ViewOf(ctx, a.from.Tables.Table(), a.from.Directories.Directory())
	return v, v.Err
}

// ViewOf is the view of the table and projects that a page is made from, so that the
// page and its list of problems are of one moment.
func (a *Advisor) ViewOf(ctx context.Context, t *topology.Table, dir *placement.Directory) (v View) {
	v = View{Report: a.reportOf(t, dir, false), Kept: a.from.Notices != nil}
	defer func() { v.Items = Incidents(v.Items) }()
	if !v.Kept || t.ClusterID == "" {
		return v
	}
	var made decisions
	if made, v.Err = a.decisions(ctx, t.ClusterID); v.Err != nil {
		return v
	}
	list := made.list
	for _, x := range made.took {
		if a.from.Now().Sub(x.At) < takenFor {
			v.Taken = append(v.Taken, x)
		}
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

// decidedFor is how long dismissals are used before they are read again. Every page
// needs them, and another process may add some.
const decidedFor = 2 * time.Second

func (a *Advisor) decisions(ctx context.Context, cluster string) (decisions, error) {
	now := a.from.Now()
	a.mu.Lock()
	d := a.decided
	a.mu.Unlock()
	if age := now.Sub(d.at); d.read && age >= 0 && age < decidedFor && d.err == nil {
		return d, nil
	}
	list, err := a.from.Notices.Dismissals(ctx, cluster)
	var took []store.Take
	if err == nil {
		took, err = a.from.Notices.Takes(ctx, cluster)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.decided = decisions{at: now, list: list, took: took, read: true}
		a.notify()
	}
	return decisions{list: list, took: took}, err
}

// forget makes the next view read dismissals again, after one was added or removed.
func (a *Advisor) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.decided.read = false
	a.subscribers.Notify()
}

// Cluster is the id that decisions are kept under; "" before it is known.
func (a *Advisor) Cluster() string { return a.from.Tables.Table().ClusterID }

// maxReason bounds reasons, in bytes.
const maxReason = 500

// Dismiss stores the decision not to show a problem that exists now.
func (a *Advisor) Dismiss(ctx context.Context, id, reason string, e store.AuditEntry) error {
	if err := a.decidable(); err != nil {
		return err
	}
	if reason == "" || len(reason) > maxReason {
		return fault.New(fault.Invalid, "Give a reason of at most %d bytes.", maxReason)
	}
	found, err := a.View(ctx)
	if err != nil {
		return err
	}
	for _, i := range found.Items {
		if i.ID != id {
			continue
		}
		defer a.forget()
		for _, one := range append([]Problem{i}, i.Consequences...) { // an incident is dismissed as a whole
			e.Cluster, e.At, e.What, e.Subject, e.Outcome = a.Cluster(), a.from.Now(), "advice.dismissed", one.ID, "ok"
			e.Details = map[string]string{"reason": reason, "about": one.Subject}
			by := store.Dismissal{ID: one.ID, By: e.By, Reason: reason, At: e.At}
			if err := a.from.Notices.Dismiss(ctx, a.Cluster(), by, e); err != nil {
				return err
			}
		}
		return nil
	}
	return fault.New(fault.NotFound, "There is no such problem now; it may be over.")
}

// Restore shows a dismissed problem again.
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
