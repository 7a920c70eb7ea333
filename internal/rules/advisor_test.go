package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
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
	took   []store.Take
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
func (w *world) Takes(context.Context, string) ([]store.Take, error) { return w.took, w.err }
func (w *world) Take(_ context.Context, _ string, t store.Take, _ store.AuditEntry) error {
	w.took = []store.Take{t}
	return nil
}
func (w *world) Leave(context.Context, string, string, store.AuditEntry) error {
	w.took = nil
	return nil
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
	expect.That(t, a.Report().At.Equal(first.At), "the same table is evaluated twice in a second")
	w.now = now.Add(fresh)
	expect.That(t, !a.Report().At.Equal(first.At), "an outdated report is shown")
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
	expect.That(t, heard(), "not notified of a new problem")
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

func TestAProblemIsTakenForADayAndLeft(t *testing.T) {
	document := heat.Splitting{Can: true, Code: "document", Share: 0.93, DocumentText: oid(9).Hex()}
	w := &world{s: healthy(withHotChunk(1, 300, 0.6, document)), now: now}
	a := w.advisor()
	a.from.Heat = nil
	found := View{Report: Report{Items: Incidents(Evaluate(w.s).Items)}}
	incident := found.Items[0]
	for name, c := range map[string]struct {
		id    string
		taken bool
	}{
		"the cause": {incident.ID, true}, "a consequence": {incident.Consequences[0].ID, true}, "another": {"jumbo.x", false},
	} {
		found.Taken = []store.Take{{ID: c.id, By: "user:anna", At: now}}
		expect.Equal(t, found.TakenBy(incident).By == "user:anna", c.taken, "%s: taken", name)
	}
	w.s = healthy(off)
	v, err := a.View(t.Context())
	must.That(t, err == nil && len(v.Items) != 0, "%v %v", v, err)
	id := v.Items[0].ID
	if err := a.Take(t.Context(), "jumbo.none", "", store.AuditEntry{}); fault.Of(err) != fault.NotFound {
		t.Error("a problem that does not exist is taken:", err)
	}
	must.Do(t, a.Take(t.Context(), id, "on it", store.AuditEntry{By: "user:anna"}))
	takenBy := func() store.Take {
		v, err := a.View(t.Context())
		must.Do(t, err)
		return v.TakenBy(v.Items[0])
	}
	if got := takenBy(); got.By != "user:anna" || got.Note != "on it" || !got.At.Equal(now) {
		t.Errorf("%+v", got)
	}
	w.now = now.Add(takenFor)
	if got := takenBy(); got.ID != "" {
		t.Errorf("still taken after a day: %+v", got)
	}
	w.now = now.Add(time.Minute)
	if err := a.Leave(t.Context(), id, store.AuditEntry{}); err != nil || takenBy().ID != "" {
		t.Errorf("left, and still taken: %v", err)
	}
}

// visibleText returns all text of a problem that people see, except the arguments of
// plans, which are hidden where they are written.
func visibleText(p Problem) string {
	for i := range p.Remedy.Plans {
		p.Remedy.Plans[i].Args = nil
	}
	return fmt.Sprintf("%s %s %v %v %v %+v %+v", p.ID, p.Subject, p.Why, p.Text, p.Because, p.Evidence, p.Remedy)
}

func TestHiddenBoundsAppearInNoProblem(t *testing.T) {
	divides := heat.Splitting{Can: true, Code: "divides", Share: 0.3, DocumentText: oid(9).Hex()}
	s := healthy(withCollection("y.documents", "{project_id: 1}", "abCabc"), addZone(pin3, "b", 3, 4),
		addZone("eu", "", 1, 2), assignZone("left", "c"), addZone("pin-"+oid(99).Hex(), "b", 4, 5),
		withCollection("y.changes", "{doc_id: hashed}", "abcAbcabcabc"), withHotChunk(4, 300, 0.5, divides))
	var bounds []string
	for _, c := range s.Table.Collections {
		for _, ch := range c.Chunks.All() {
			if !ch.Min.IsZero() && ch.Min.Compare(c.Key.Min()) != 0 {
				bounds = append(bounds, c.Key.ExtJSON(ch.Min), strings.ReplaceAll(c.Key.ExtJSON(ch.Min), `"`, `\"`), c.Key.Display(ch.Min))
			}
		}
	}
	hold := func(text string) bool {
		for _, b := range bounds {
			if strings.Contains(text, b) {
				return true
			}
		}
		return false
	}
	with := map[Rule]bool{}
	for _, p := range Evaluate(s).Items {
		hidden := p.HideBounds("hidden", func(string) string { return "name" })
		if text := visibleText(hidden); hold(text) {
			t.Errorf("%s: %s", p.Rule, text)
		}
		expect.That(t, hidden.ID != p.ID && strings.HasPrefix(hidden.ID, string(p.Rule)+"."),
			"%s has the id %s", p.Rule, hidden.ID)
		with[p.Rule] = with[p.Rule] || hold(visibleText(p))
	}
	expect.That(t, with[HotChunk] && with[Jumbo], "bounds are in problems of %v, want [HotChunk] true, [Jumbo] true", with)
}

func TestHiddenTextsKeepTheKindOfAFailure(t *testing.T) {
	const text = "ChunkTooBig :: the range {_id: 17} is too large for host-3"
	for _, p := range Evaluate(healthy(migrations(6, 2, 10, text))).Items {
		if p.Rule != MigrationsFailing {
			continue
		}
		must.That(t, strings.Contains(visibleText(p), "host-3"), "the problem has no text to hide: %s", visibleText(p))
		if hidden := visibleText(p.HideTexts(func(string) string { return "ChunkTooBig" })); strings.Contains(hidden, "host-3") ||
			!strings.Contains(hidden, "ChunkTooBig") {
			t.Error(hidden)
		}
		expect.Contains(t, visibleText(p), "host-3", "the problem itself was changed")
		return
	}
	t.Fatal("no problem with a server text was found")
}
