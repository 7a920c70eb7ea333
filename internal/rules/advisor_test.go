package rules

import (
	"context"
	"errors"
	"testing"
	"time"

	"shardboard/internal/placement"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// world has what an advisor reads, with its own clock.
type world struct {
	store.Notices // other methods are not called

	s      Situation
	now    time.Time
	list   []store.Dismissal
	err    error
	reads  int
	paused []PausedBalancing
}

func (w *world) Table() *topology.Table          { return w.s.Table }
func (w *world) Directory() *placement.Directory { return w.s.Directory }
func (w *world) Dismissals(context.Context, string) ([]store.Dismissal, error) {
	w.reads++
	return w.list, w.err
}
func (w *world) Dismiss(_ context.Context, _ string, d store.Dismissal, _ store.AuditEntry) error {
	w.list = append(w.list, d)
	return nil
}
func (w *world) Restore(context.Context, string, string, store.AuditEntry) error {
	w.list = nil
	return nil
}

func (w *world) advisor() *Advisor {
	return NewAdvisor(Sources{Tables: w, Directories: w, Profile: w.s.Profile, Notices: w, Now: func() time.Time { return w.now },
		Paused: func(context.Context) ([]PausedBalancing, error) { return w.paused, w.err }})
}

func hasRule(v View, r Rule) bool {
	for _, p := range v.Items {
		if p.Rule == r {
			return true
		}
	}
	return false
}

func TestViewEvaluatesTheRequestedTable(t *testing.T) {
	w := &world{s: healthy(), now: now}
	a := w.advisor()
	before := w.s.Table
	if v := a.ViewOf(t.Context(), before, w.s.Directory); hasRule(v, BalancerOff) {
		t.Fatal("balancer-off fires in a healthy cluster")
	}
	w.s = healthy(off)
	if v := a.ViewOf(t.Context(), w.s.Table, w.s.Directory); !hasRule(v, BalancerOff) {
		t.Error("the newer table has the report of the older one")
	}
	if v := a.ViewOf(t.Context(), before, w.s.Directory); hasRule(v, BalancerOff) {
		t.Error("the older table has the report of the newer one")
	}
}

func TestReportIsRenewedWhenAReadBecomesStale(t *testing.T) {
	w := &world{s: healthy(), now: now}
	a := w.advisor()
	first := a.Report()
	w.now = now.Add(time.Second)
	if again := a.Report(); !again.At.Equal(first.At) {
		t.Error("the same table is evaluated twice in a second")
	}
	w.now = now.Add(fresh)
	if later := a.Report(); later.At.Equal(first.At) {
		t.Error("an outdated report is shown")
	}
}

func TestListenersAreNotifiedOfProblemsAndDecisions(t *testing.T) {
	w := &world{s: healthy(), now: now}
	a := w.advisor()
	a.Refresh()
	told, stop := a.Subscribe()
	heard := func() bool {
		select {
		case <-told:
			return true
		default:
			return false
		}
	}
	if a.Refresh(); heard() {
		t.Error("notified although the list did not change")
	}
	w.s, w.now = healthy(off), now.Add(time.Minute)
	r := a.Refresh()
	if !heard() {
		t.Error("not notified of a new problem")
	}
	if err := a.Dismiss(t.Context(), r.Items[0].ID, "known", store.AuditEntry{}); err != nil || !heard() {
		t.Error("not notified of a dismissal", err)
	}
	if v, err := a.View(t.Context()); err != nil || v.Summary().Open() != len(r.Items)-1 || v.Summary().Dismissed != 1 || v.Summary().Clear() {
		t.Errorf("got %+v, %v, want one problem dismissed and the others open", v.Summary(), err)
	}
	heard() // notification of the dismissal
	stop()
	w.s = healthy()
	if a.Refresh(); heard() {
		t.Error("notified after unsubscribing")
	}
}

func TestUnreadableDismissalsHideNoProblems(t *testing.T) {
	w := &world{s: healthy(off), now: now, err: errors.New("disk")}
	if v, err := w.advisor().View(t.Context()); err == nil || !hasRule(v, BalancerOff) {
		t.Errorf("got %v, %v, want balancer-off listed and the error of the store", v.Items, err)
	}
}

func TestAdvisorReadsWhichRunsPausedBalancing(t *testing.T) {
	w := &world{s: healthy(off), now: now, paused: []PausedBalancing{{What: PausedBalancer, Run: "r1", Since: now.Add(-time.Hour)}}}
	a := w.advisor()
	a.readBackground(t.Context())
	if v, _ := a.View(t.Context()); !hasRule(v, BalancingPaused) || hasRule(v, BalancerOff) {
		t.Errorf("got %+v, want balancing-paused and not balancer-off", v.Items)
	}
	w.err = errors.New("disk")
	a.readBackground(t.Context())
	for _, u := range a.Refresh().Unsure {
		if u.Rule == BalancingPaused && u.Why.Code == "noRuns" {
			return
		}
	}
	t.Error("a failed read of runs counts as no runs")
}
