package rules

import (
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/store/sqlite"
)

// pastWorld is a history on disk.
type pastWorld struct {
	t *testing.T
	h *ProblemHistory
	// unsure is what the next reports cannot check.
	unsure []Unsure
}

var pastBegin = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)

func newPastWorld(t *testing.T) *pastWorld {
	db := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	t.Cleanup(func() { _ = db.Close() })
	return &pastWorld{t: t, h: NewProblemHistory(db, nil, nil)}
}

// restart forgets what is only in memory, as another process would.
func (w *pastWorld) restart() { w.h = NewProblemHistory(w.h.store, nil, nil) }

func pastAt(seconds int) time.Time { return pastBegin.Add(time.Duration(seconds) * time.Second) }

// report makes one of so many seconds after the begin.
func (w *pastWorld) report(seconds int, items ...Problem) {
	w.t.Helper()
	if err := w.h.observe(w.t.Context(), "c", Report{At: pastAt(seconds), Items: items, Unsure: w.unsure}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *pastWorld) all() []PastProblem {
	w.t.Helper()
	out, err := w.h.Between(w.t.Context(), "c", time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func pastProblem(r Rule, subject string, s Severity, weight float64) Problem {
	return Problem{ID: idOf(r, subject), Rule: r, Subject: subject, Severity: s, Weight: weight, Text: message.New("x", "It is so."),
		Evidence: []Evidence{{Name: message.New("n", "Rows"), Unit: "count", Known: true, Value: weight}}}
}

func TestProblemsAreStoredWithBeginEndAndWorstFigure(t *testing.T) {
	w := newPastWorld(t)
	w.report(0)
	w.report(30, pastProblem(Jumbo, "a", Info, 3))
	w.report(60, pastProblem(Jumbo, "a", Warn, 9))
	w.restart()
	w.report(90, pastProblem(Jumbo, "a", Warn, 4))
	w.report(120)
	w.report(150, pastProblem(Jumbo, "a", Info, 1))
	got := w.all()
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	first := got[1]
	if !first.Began.Equal(pastAt(30)) || !first.Ended.Equal(pastAt(120)) || first.BeganBefore || first.EndedUnseen ||
		first.Severity != Warn || !first.WorstAt.Equal(pastAt(60)) || first.Evidence[0].Value != 9 {
		t.Errorf("%+v", first)
	}
	if again := got[0]; !again.Began.Equal(pastAt(150)) || !again.Ended.IsZero() || again.Evidence[0].Value != 1 {
		t.Errorf("it came again: %+v", again)
	}
}

func TestWhatCannotBeCheckedDoesNotEnd(t *testing.T) {
	for _, c := range []struct {
		name    string
		subject string
		ended   bool
	}{{"everything", "", false}, {"its subject", "a", false}, {"another subject", "b", true}} {
		w := newPastWorld(t)
		w.report(0, pastProblem(Jumbo, "a", Info, 1))
		w.unsure = []Unsure{{Rule: Jumbo, Subject: c.subject}}
		w.report(30)
		if got := w.all(); len(got) != 1 || got[0].Ended.IsZero() == c.ended {
			t.Errorf("%s could not be checked: %+v", c.name, got)
		}
	}
}

func TestWhatEndedWhileNobodyJudgedEndedUnseen(t *testing.T) {
	w := newPastWorld(t)
	w.report(0, pastProblem(Jumbo, "a", Info, 1), pastProblem(Jumbo, "b", Info, 1))
	w.report(30, pastProblem(Jumbo, "a", Info, 1), pastProblem(Jumbo, "b", Info, 1))
	w.restart()
	w.report(3600, pastProblem(Jumbo, "b", Info, 1), pastProblem(Jumbo, "c", Info, 1))
	got := map[string]PastProblem{}
	for _, p := range w.all() {
		got[p.Subject] = p
	}
	if a := got["a"]; !a.EndedUnseen || !a.Ended.Equal(pastAt(30)) || !a.BeganBefore {
		t.Errorf("a: %+v", a)
	}
	if b := got["b"]; !b.Ended.IsZero() || !b.Began.Equal(pastAt(0)) {
		t.Errorf("b lasts: %+v", b)
	}
	if c := got["c"]; !c.BeganBefore {
		t.Errorf("c may have begun while nobody judged: %+v", c)
	}
}

func TestAProblemOfWritesEndsWithItsMinute(t *testing.T) {
	w := newPastWorld(t)
	p := pastProblem(HotShard, "shard-rs-1", Warn, 50)
	p.Since = pastAt(-120)
	w.report(0)
	w.report(30, p)
	p.Until = pastAt(60)
	w.report(90, p)
	w.report(120, p)
	if got := w.all(); len(got) != 1 || !got[0].Began.Equal(pastAt(-120)) || !got[0].Ended.Equal(pastAt(60)) {
		t.Errorf("%+v", got)
	}
}

func TestProblemsOfOneCauseAreOneInThePast(t *testing.T) {
	w := newPastWorld(t)
	project, shard := pastProblem(HotProject, "p", Info, 60), pastProblem(HotShard, "shard-rs-1", Warn, 61)
	for _, p := range []*Problem{&project, &shard} {
		p.Shard, p.Project, p.PerSecond = "shard-rs-1", "p", p.Weight
	}
	w.report(0, shard, project)
	w.report(30)
	got := w.all()
	if len(got) != 1 || got[0].Rule != HotProject || got[0].Severity != Warn || len(got[0].Followed) != 1 ||
		got[0].Followed[0].Rule != HotShard {
		t.Errorf("%+v", got)
	}
}

func TestATimeIsJudgedOnlyWhereSomebodyLooked(t *testing.T) {
	w := newPastWorld(t)
	w.report(0, pastProblem(Jumbo, "a", Info, 1))
	w.unsure = []Unsure{{Rule: Orphans}, {Rule: Drift, Never: true}}
	w.report(30)
	w.report(60)
	w.unsure = nil
	w.report(600)
	for _, c := range []struct {
		seconds       int
		judged        bool
		items, unsure int
		clear         bool
	}{
		{-10, false, 0, 0, false},
		{0, true, 1, 0, false}, {29, true, 1, 0, false},
		{30, true, 0, 2, false}, {89, true, 0, 2, false},
		{300, false, 0, 0, false},
		{600, true, 0, 0, true}, {640, false, 0, 0, false},
	} {
		v, judged, err := w.h.At(t.Context(), "c", pastAt(c.seconds))
		must.Do(t, err)
		if judged != c.judged || len(v.Items) != c.items || len(v.Unsure) != c.unsure || judged && v.Summary().Clear() != c.clear {
			t.Errorf("at %d s: judged %v, %d problems, unsure %+v", c.seconds, judged, len(v.Items), v.Unsure)
		}
		if judged && len(v.Passed)+len(v.Unsure)+c.items != len(Rules()) {
			t.Errorf("at %d s: %d rules passed", c.seconds, len(v.Passed))
		}
	}
	everything := []Unsure{}
	for _, r := range Rules() {
		everything = append(everything, Unsure{Rule: r})
	}
	w.unsure = everything
	w.report(1200)
	if _, judged, _ := w.h.At(t.Context(), "c", pastAt(1200)); judged {
		t.Error("nothing could be checked, and that counts as judged")
	}
}

func TestTheProblemsOfAPastTimeSayWhenTheyWereWorst(t *testing.T) {
	w := newPastWorld(t)
	w.report(0, pastProblem(Jumbo, "a", Info, 1))
	w.report(30, pastProblem(Jumbo, "a", Warn, 2), Problem{ID: "off", Rule: BalancerOff, Severity: Info, Text: message.New("x", "It is off.")})
	v, _, err := w.h.At(t.Context(), "c", pastAt(31))
	if err != nil || len(v.Items) != 2 {
		t.Fatal(v, err)
	}
	if got := v.Items[0].Text.String(); got != "It is so; at its worst at 06:00 UTC." {
		t.Error(got)
	}
	expect.Equal(t, v.Items[1].Text.String(), "It is off.", "without a figure")
	if !slices.Contains(v.Passed, Orphans) || slices.Contains(v.Passed, Jumbo) {
		t.Errorf("passed: %v", v.Passed)
	}
}
