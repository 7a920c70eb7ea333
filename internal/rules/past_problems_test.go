package rules

import (
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
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
	must.Do(w.t, w.h.observe(w.t.Context(), "c", Report{At: pastAt(seconds), Items: items, Unsure: w.unsure}))
}

func (w *pastWorld) all() []PastProblem {
	w.t.Helper()
	out, err := w.h.Between(w.t.Context(), "c", time.Time{}, time.Time{})
	must.Do(w.t, err)
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
	must.That(t, len(got) == 2, "%+v", got)
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
		expect.That(t, !judged || len(v.Passed)+len(v.Unsure)+c.items == len(Rules()),
			"at %d s: %d rules passed", c.seconds, len(v.Passed))
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
	must.That(t, err == nil && len(v.Items) == 2, "%v %v", v, err)
	if got := v.Items[0].Text.String(); got != "It is so; at its worst at 06:00 UTC." {
		t.Error(got)
	}
	expect.Equal(t, v.Items[1].Text.String(), "It is off.", "without a figure")
	expect.That(t, slices.Contains(v.Passed, Orphans) && !slices.Contains(v.Passed, Jumbo), "passed: %v", v.Passed)
}

func TestProblemsOfOneCauseAreOneIncident(t *testing.T) {
	problem := func(r Rule, shard, project string, perSecond float64, s Severity) Problem {
		p := Problem{Rule: r, Subject: shard + project, NS: "y.changes", Shard: shard, Project: project, PerSecond: perSecond, Weight: perSecond,
			Severity: s, Remedy: Remedy{Plans: []Plan{{Kind: "move", Args: map[string]string{"to": shard}}, {Kind: string(r)}}}}
		p.ID = idOf(r, p.Subject)
		return p
	}
	over := func(p Problem) Problem { p.Until = now; return p }
	many := func(p Problem) Problem { p.Count = 9; return p }
	for name, c := range map[string]struct {
		in   []Problem
		want [][]Rule // the rules of each incident, the cause first
	}{
		"a hot project heats a chunk and its shard": {[]Problem{problem(HotShard, "a", "p", 90, Warn), problem(HotProject, "a", "p", 80, Info),
			problem(HotChunk, "a", "p", 60, Info)}, [][]Rule{{HotProject, HotShard, HotChunk}}},
		"a document is the cause of all": {[]Problem{problem(HotProject, "a", "p", 90, Warn), problem(HotDocument, "a", "p", 80, Warn),
			problem(HotShard, "a", "p", 95, Warn)}, [][]Rule{{HotDocument, HotProject, HotShard}}},
		"a document is a small part of its project": {[]Problem{problem(HotProject, "a", "p", 90, Warn),
			problem(HotDocument, "a", "p", 30, Warn)}, [][]Rule{{HotProject, HotDocument}}},
		"two hot projects on two shards": {[]Problem{problem(HotProject, "a", "p", 90, Warn), problem(HotProject, "b", "q", 80, Warn),
			problem(HotShard, "a", "", 95, Warn)}, [][]Rule{{HotProject, HotShard}, {HotProject}}},
		"the shard is hot for another reason": {[]Problem{problem(HotShard, "a", "", 200, Warn), problem(HotProject, "a", "p", 80, Info)},
			[][]Rule{{HotShard, HotProject}}},
		"a project makes half of a hot shard's": {[]Problem{problem(HotShard, "a", "p", 100, Warn), problem(HotProject, "a", "p", 55, Info),
			problem(HotChunk, "a", "p", 70, Info)}, [][]Rule{{HotChunk, HotShard, HotProject}}},
		"a growing key": {[]Problem{problem(HotShard, "a", "", 100, Warn), problem(HotChunk, "a", "p", 99, Warn),
			problem(MonotonicKey, "a", "", 99, Warn)}, [][]Rule{{MonotonicKey, HotShard, HotChunk}}},
		"one is over": {[]Problem{problem(HotShard, "a", "p", 90, Warn), over(problem(HotProject, "a", "p", 80, Info))},
			[][]Rule{{HotShard}, {HotProject}}},
		"many objects": {[]Problem{many(problem(HotChunk, "a", "p", 90, Warn)), problem(HotProject, "a", "p", 80, Info)},
			[][]Rule{{HotChunk}, {HotProject}}},
		"nothing of writes": {[]Problem{problem(Jumbo, "a", "", 0, Critical), problem(HotShard, "a", "", 90, Warn)},
			[][]Rule{{Jumbo}, {HotShard}}},
	} {
		got := Incidents(c.in)
		var rules [][]Rule
		for _, p := range got {
			one := []Rule{p.Rule}
			worst := p.Severity
			for _, x := range p.Consequences {
				one = append(one, x.Rule)
				expect.That(t, x.Severity.Level() <= worst.Level(),
					"%s: the incident is %s, its consequence %s", name, worst, x.Severity)
				if y, ok := (Report{Items: got}).Find(x.ID); !ok || y.Rule != x.Rule {
					t.Errorf("%s: %s is not found by its id", name, x.Rule)
				}
			}
			rules = append(rules, one)
			if n := len(p.Remedy.Plans); n != 1+len(one) {
				t.Errorf("%s: %d plans of %v", name, n, one)
			}
		}
		same := func(a, b []Rule) bool {
			return slices.Equal(slices.Sorted(slices.Values(a[1:])),
				slices.Sorted(slices.Values(b[1:]))) && a[0] == b[0]
		}
		expect.That(t, slices.EqualFunc(rules, c.want, same), "%s: %v, want %v", name, rules, c.want)
		if all := (Report{Items: got}).All(); len(all) != len(c.in) {
			t.Errorf("%s: %d of %d problems are left", name, len(all), len(c.in))
		}
	}
}

// The rules find what an incident is made of in one situation.
func TestAHotDocumentIsOneIncident(t *testing.T) {
	s := healthy(withCollection("y.changes", "{doc_id: hashed}", "abcabcabcabc"),
		withHotChunk(4, 300, 0.95, heat.Splitting{Can: true, Code: "document", Share: 0.93, DocumentText: oid(9).Hex()}))
	flat := Evaluate(s).Items
	got := Incidents(flat)
	if len(flat) != 2 || len(got) != 1 || got[0].Rule != HotDocument || len(got[0].Consequences) != 1 ||
		got[0].Consequences[0].Rule != HotShard {
		t.Errorf("%d problems: %+v", len(flat), got)
	}
}
