package topology

import (
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestUnknownPartsOfAMigrationHaveAReason(t *testing.T) {
	denied := func(privilege string) error {
		return fault.Wrap(fault.Forbidden, &DeniedError{Privilege: privilege}, "no")
	}
	for want, change := range map[string]func(f *fakeMigrations){
		"notPermitted":      func(f *fakeMigrations) { f.fail["Counts"] = denied("collStats on db.x") },
		"recipientNotAsked": func(f *fakeMigrations) { delete(f.counts, "c") },
		"countFell":         func(f *fakeMigrations) {},
	} {
		t.Run(want, func(t *testing.T) {
			f := newFakeMigrations(t)
			change(f)
			watchMigrations(t, f, func(w *Watcher) {
				f.begin(time.Now())
				wait(4 * time.Second)
				if want == "countFell" {
					f.change(func() { f.counts["c"] = 5 })
					wait(4 * time.Second)
				}
				x := w.Table().Moves.List[0]
				if x.Copied.Known || x.Copied.Reason != want || x.Left.Known || want == "notPermitted" && x.Left.Reason != want {
					t.Errorf("%+v", x)
				}
			})
		})
	}
	t.Run("operations", func(t *testing.T) {
		f := newFakeMigrations(t)
		f.fail["MoveOperations"] = denied("inprog on the cluster")
		watchMigrations(t, f, func(w *Watcher) {
			f.begin(time.Now())
			wait(30 * time.Second)
			m := w.Table().Moves
			if m.StepsReason != "notPermitted" || m.StepsPrivilege != "inprog on the cluster" || m.List[0].By != "" {
				t.Errorf("%+v", m)
			}
			f.change(func() { f.list = nil })
			wait(4 * time.Second)
			f.begin(time.Now())
			wait(10 * time.Second)
			expect.Equal(t, f.count("MoveOperations"), 1, "forbidden reads")
		})
	})
	t.Run("frozen shard", func(t *testing.T) {
		f := newFakeMigrations(t)
		f.hang["MoveOperations"], f.hang["Counts"] = true, true
		watchMigrations(t, f, func(w *Watcher) {
			f.begin(time.Now())
			for range 30 {
				wait(2 * time.Second)
				if w.Table().Stale(PartMoves, time.Now().Add(-4*time.Second)) {
					t.Fatalf("a hanging shard delays the list: read at %s, now %s", w.Table().Health[PartMoves].At, time.Now())
				}
			}
			m := w.Table().Moves
			if m.StepsReason != "unreachable" || m.List[0].Copied.Reason != "unreachable" || m.List[0].Left.Known {
				t.Errorf("%+v", m)
			}
			f.change(func() { clear(f.hang) })
			wait(20 * time.Second)
			if m = w.Table().Moves; m.StepsReason != "" || !m.List[0].Copied.Known {
				t.Errorf("not recovered: %+v", m)
			}
		})
	})
	t.Run("frozen config server", func(t *testing.T) {
		f := newFakeMigrations(t)
		watchMigrations(t, f, func(w *Watcher) {
			f.begin(time.Now())
			wait(4 * time.Second)
			f.change(func() { f.hang["all"] = true })
			wait(time.Minute)
			table := w.Table()
			if len(table.Moves.List) != 1 || !table.Stale(PartMoves, time.Now()) {
				t.Errorf("the known list is gone or not stale: %+v %+v", table.Moves, table.Health[PartMoves])
			}
			f.change(func() { f.hang["all"] = false })
			wait(time.Minute)
			if table = w.Table(); table.Stale(PartMoves, time.Now()) {
				t.Errorf("not recovered: %+v", table.Health[PartMoves])
			}
		})
	})
}

// Old releases have no list of migrations, and not every user may read it.
func TestChangelogShowsMigrationsWhenTheListIsUnavailable(t *testing.T) {
	for name, err := range map[string]error{
		"no list":       nil,
		"not permitted": fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "find on config.migrations"}, "no"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeMigrations(t)
			f.fail["Migrations"], f.partial = err, true
			watchMigrations(t, f, func(w *Watcher) {
				begun := time.Now()
				f.change(func() {
					f.events = []Event{f.logEntry("1", "moveChunk.start", begun)}
					f.ops = []MoveOperation{{Shard: "b", Command: true, NS: "db.x", From: "b", To: "c", Step: 3, Steps: 6}}
				})
				wait(2 * time.Second)
				m := w.Table().Moves
				expect.Equal(t, m.ListPrivilege != "", err != nil, "lacking %q", m.ListPrivilege)
				if len(m.List) != 1 || !m.FromLog || !m.List[0].Since.Equal(begun) || m.List[0].By != MoveByBalancer || m.List[0].Step != 3 {
					t.Fatalf("%+v", m)
				}
				wait(time.Hour) // the donor still reports the migration
				expect.Equal(t, len(w.Table().Moves.List), 1, "a long move was given up")
				f.change(func() { f.events = append([]Event{f.logEntry("2", "moveChunk.commit", time.Now())}, f.events...) })
				wait(2 * time.Second)
				expect.Equal(t, len(w.Table().Moves.List), 0, "after the commit: %+v", w.Table().Moves)
			})
		})
	}
}

func TestLoggedMigrationThatNoDonorShowsHasEnded(t *testing.T) {
	f := newFakeMigrations(t)
	f.partial = true
	watchMigrations(t, f, func(w *Watcher) {
		f.change(func() { f.events = []Event{f.logEntry("1", "moveChunk.start", time.Now())} })
		wait(2 * time.Second)
		must.That(t, len(w.Table().Moves.List) == 1, "not seen")
		wait(4 * time.Second)
		expect.Equal(t, len(w.Table().Moves.List), 0, "the migration counts as running although its donor is idle")
		wait(time.Minute)
		expect.Equal(t, len(w.Table().Moves.List), 0, "the migration reappeared")
	})
}

// Some releases list only part of the migrations but log all of them.
func TestMigrationThatIsListedAndLoggedAppearsOnce(t *testing.T) {
	f := newFakeMigrations(t)
	f.partial = true
	watchMigrations(t, f, func(w *Watcher) {
		begun := time.Now()
		f.change(func() { f.events = []Event{f.logEntry("1", "moveChunk.start", begun)} })
		wait(2 * time.Second)
		f.begin(begun.Truncate(time.Second))
		wait(4 * time.Second)
		if list := w.Table().Moves.List; len(list) != 1 || !list[0].Since.Equal(begun) {
			t.Errorf("%+v", list)
		}
		wait(time.Hour) // no donor reports the migration, but the config server lists it
		expect.Equal(t, len(w.Table().Moves.List), 1, "a listed move was given up")
	})
}

// From 6.0 on the config server asks the donor, whoever asked for the migration.
func TestRelayedMigrationNamesNobodyButWhereTheBalancerIsOff(t *testing.T) {
	relayed := MoveOperation{Command: true, Relayed: true}
	on := Balancer{Known: true, StatusKnown: true, Mode: "full"}
	off, ending, unread := on, on, Balancer{}
	off.Mode, off.Stopped = "off", true
	ending.Mode, ending.Stopped, ending.InRound = "off", true, true
	for i, b := range []Balancer{on, off, ending, unread} {
		if got, want := relayed.requester(b), []MoveBy{"", MoveByClient, "", ""}[i]; got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
	relayed.App = "mongosh"
	expect.Equal(t, relayed.requester(on), MoveByClient, "a program with a name")
}
