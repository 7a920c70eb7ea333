package rules

import (
	"context"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

var blockedSetting = SettingOf{"y.documents", SettingMigrations}

func blockedTable(is bool) *topology.Table {
	s := healthy(inCollection("y.documents", func(c *topology.Collection) { c.MigrationsBlocked = is }))
	return s.Table
}

func TestSettingsAreFollowedWhileTheyAreNotAsUsual(t *testing.T) {
	balancerTable := func(is bool) *topology.Table {
		if is {
			return healthy(off).Table
		}
		return healthy().Table
	}
	for setting, table := range map[SettingOf]func(is bool) *topology.Table{blockedSetting: blockedTable, ofBalancer: balancerTable} {
		var w settingWatch
		w.observe(table(true), now)
		s := w.all()[setting]
		expect.That(t, s.AtLeast && s.At.Equal(now), "at the first observation: %+v, want a lower bound", s)
		of, value, known, ok := w.unsettled()
		expect.That(t, ok && of == setting && value == SettingOff && known.Equal(now),
			"history is not asked: %v %q %v %v", of, value, known, ok)
		w.found(of, value, SettingSince{At: now.Add(-time.Hour), Method: "history"})
		w.observe(table(true), now.Add(time.Minute))
		s = w.all()[setting]
		expect.That(t, !s.AtLeast && s.At.Equal(now.Add(-time.Hour)) && s.Method == "history", "after history answered: %+v", s)
		unread := *table(true)
		unread.Balancer.Known = false
		w.observe(&unread, now.Add(90*time.Second))
		expect.Equal(t, w.all()[setting], s, "while the balancer's settings are not known")
		w.observe(table(false), now.Add(2*time.Minute))
		expect.Equal(t, len(w.all()), 0, "as usual again")
		w.observe(table(true), now.Add(3*time.Minute))
		s = w.all()[setting]
		expect.That(t, !s.AtLeast && s.At.Equal(now.Add(3*time.Minute)), "changed between two observations: %+v", s)
		_, _, _, ok = w.unsettled()
		expect.That(t, !ok, "history is asked for a change that was observed")
	}
}

func TestRunThatSetASettingIsNamed(t *testing.T) {
	run := func(id, value string, ago time.Duration) SettingByRun {
		return SettingByRun{SettingOf: blockedSetting, Value: value, Run: id, At: now.Add(-ago)}
	}
	for name, x := range map[string]struct {
		observed bool // as it changed, three seconds ago
		runs     []SettingByRun
		want     string
	}{
		"it was so at the first observation":   {false, []SettingByRun{run("a", SettingOff, time.Hour)}, "a"},
		"it was observed":                      {true, []SettingByRun{run("a", SettingOff, 5*time.Second)}, "a"},
		"somebody else has blocked it since":   {true, []SettingByRun{run("a", SettingOff, time.Hour)}, ""},
		"a later run has allowed it":           {false, []SettingByRun{run("b", SettingOn, time.Hour), run("a", SettingOff, 2*time.Hour)}, ""},
		"the newest of two":                    {false, []SettingByRun{run("b", SettingOff, time.Hour), run("a", SettingOff, 2*time.Hour)}, "b"},
		"no run":                               {false, nil, ""},
		"a run on another setting of the same": {false, []SettingByRun{{SettingOf{"y.documents", SettingAutoMerge}, SettingOff, "a", now}}, ""},
	} {
		var w settingWatch
		if x.observed {
			w.observe(blockedTable(false), now.Add(-10*time.Second))
		}
		w.observe(blockedTable(true), now.Add(-3*time.Second))
		w.runs = x.runs
		if got := w.all()[blockedSetting]; got.Run != x.want {
			t.Errorf("%s: %+v, want the run %q", name, got, x.want)
		}
	}
}

// blockHistory is a past in which moves were blocked at a time.
type blockHistory struct{ blocked, first time.Time }

func (h *blockHistory) Begin(context.Context, string) (time.Time, error) { return h.first, nil }

func (h *blockHistory) At(_ context.Context, _ string, at time.Time) (history.Moment, error) {
	return history.Moment{At: at, Table: blockedTable(!at.Before(h.blocked)), Watched: true}, nil
}

func TestAdvisorSaysSinceWhenMovesAreBlockedAndByWhichRun(t *testing.T) {
	w := &world{s: healthy(inCollection("y.documents", blocked)), now: now}
	a := w.advisor()
	a.from.Past = &blockHistory{blocked: now.Add(-190 * time.Minute), first: now.Add(-999 * time.Hour)}
	a.readBackground(t.Context())
	text := func() string {
		for _, p := range a.Refresh().Items {
			if p.Rule == MigrationsBlocked {
				return p.Text.At(now)
			}
		}
		return ""
	}
	expect.Equal(t, text(), "Moves of y.documents have been blocked for 3 h.", "by history")
	a.from.SetByRuns = func(context.Context) ([]SettingByRun, error) {
		return []SettingByRun{{blockedSetting, SettingOff, "run-7", now.Add(-190 * time.Minute)}}, nil
	}
	a.readBackground(t.Context())
	expect.Equal(t, text(), "Moves of y.documents have been blocked for 3 h, by the run run-7.", "by a run")
}
