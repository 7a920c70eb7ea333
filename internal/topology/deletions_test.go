package topology

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// fakeCursors is a fake that also has open cursors.
type fakeCursors struct {
	*fake
	open    []OpenCursor
	orphans int64 // on shard a; negative: not counted
}

func (f *fakeCursors) Sizes(ctx context.Context, ns Namespace) (Sizes, error) {
	return answer(ctx, f.fake, "Sizes", func() Sizes {
		orphans := Figure{Known: f.orphans >= 0, Value: f.orphans, At: time.Now()}
		return Sizes{NS: ns, At: time.Now(), Shards: map[string]Size{"a": {Orphans: orphans}}}
	})
}

func (f *fakeCursors) OpenCursors(ctx context.Context) ([]OpenCursor, time.Time, error) {
	at := time.Now()
	open, err := answer(ctx, f.fake, "OpenCursors", func() []OpenCursor { return slices.Clone(f.open) })
	return open, at, err
}

// leave logs that a range with some documents has left shard a.
func (f *fakeCursors) leave(ns Namespace, documents int64) {
	f.change(func() {
		details := must.Get(bson.Marshal(bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: 0}}},
			{Key: "max", Value: bson.D{{Key: "k", Value: 1}}}, {Key: "from", Value: "a"}, {Key: "to", Value: "b"},
			{Key: "counts", Value: bson.D{{Key: "cloned", Value: documents}}}}))
		e := Event{ID: time.Now().String(), Time: time.Now(), What: "moveChunk.commit", NS: string(ns), Details: details}
		f.events = append([]Event{e}, f.events...)
	})
}

// Open cursors are looked at while something is to be deleted, and a look that finds none which is old enough is the
// last one.
func TestCursorsThatHoldUpADeletionAreWatchedWhileItWaits(t *testing.T) {
	f := &fakeCursors{fake: newFake(t), orphans: -1}
	f.add("db.x", 1, 0, 100)
	watch(t, f, Options{}, func(w *Watcher) {
		old := time.Now().Add(-time.Hour)
		cursor := func(id int64, ns Namespace, shard string, opened time.Time) OpenCursor {
			return OpenCursor{ID: id, NS: ns, Shard: shard, App: "report-job", Opened: opened}
		}
		f.change(func() { f.open = []OpenCursor{cursor(1, "db.x", "b", old), cursor(2, "db.other", "a", old)} })
		looks := func() int { return f.count("OpenCursors") }
		if time.Sleep(5 * time.Minute); looks() != 0 {
			t.Errorf("%d looks while nothing was to be deleted", looks())
		}
		f.leave("db.x", 0)
		if time.Sleep(time.Minute); looks() != 0 {
			t.Errorf("%d looks for a range without documents", looks())
		}
		f.leave("db.x", 10)
		if time.Sleep(5 * time.Minute); looks() != 1 || len(w.Table().Deletions.Held) != 0 {
			t.Errorf("%d looks, want 1; held up: %+v", looks(), w.Table().Deletions)
		}

		f.change(func() { f.open = append(f.open, cursor(4, "db.x", "a", time.Now()), cursor(3, "db.x", "a", old)) })
		time.Sleep(time.Minute)
		f.leave("db.x", 10)
		time.Sleep(time.Second)
		f.change(func() { f.open = append(f.open, cursor(5, "db.x", "a", time.Now())) })
		before := looks()
		time.Sleep(40 * time.Second)
		held := w.Table().HeldOn("a", "db.x")
		if len(held) != 1 || held[0].Count != 2 || held[0].Oldest() != old || held[0].Cursors[1].ID != 4 || held[0].Unsure {
			t.Fatalf("held up: %+v", held)
		}
		time.Sleep(time.Hour)
		if n := looks() - before; n < 10 || n > 40 {
			t.Errorf("%d looks in an hour", n)
		}
		f.leave("db.x", 10)
		refused := fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "inprog on the cluster"}, "refused")
		f.change(func() { f.fail["OpenCursors"] = refused })
		time.Sleep(6 * time.Minute)
		if d := w.Table().Deletions; d.Reason != "notPermitted" || d.Privilege != "inprog on the cluster" || len(d.Held) != 0 {
			t.Errorf("without the privilege: %+v", d)
		}
		seq := w.Table().Seq
		f.change(func() { delete(f.fail, "OpenCursors"); f.open = f.open[:2] })
		time.Sleep(6 * time.Minute)
		if d := w.Table().Deletions; d.Reason != "" || len(d.Held) != 0 || w.Table().Seq == seq {
			t.Errorf("after the cursors were closed: %+v", d)
		}
		before = looks()
		if time.Sleep(time.Hour); looks() != before {
			t.Errorf("%d looks after that", looks()-before)
		}
	})
}

// Documents that the shards count as orphaned wait for a deletion, too, also when the log tells no move. Once none are
// counted, nothing is looked at.
func TestCountedOrphansAreToBeDeleted(t *testing.T) {
	f := &fakeCursors{fake: newFake(t)}
	f.add("db.x", 1, 0, 100)
	watch(t, f, Options{}, func(w *Watcher) {
		f.change(func() {
			f.open, f.orphans = []OpenCursor{{ID: 1, NS: "db.x", Shard: "a", Opened: time.Now().Add(-time.Hour)}}, 7
		})
		time.Sleep(3 * time.Minute)
		if held := w.Table().HeldOn("a", ""); len(held) != 1 || !held[0].Unsure {
			t.Fatalf("held up: %+v", held)
		}
		f.change(func() { f.orphans = 0 })
		time.Sleep(3 * time.Minute)
		before := f.count("OpenCursors")
		if time.Sleep(time.Hour); f.count("OpenCursors") != before || len(w.Table().Deletions.Held) != 0 {
			t.Errorf("%d looks, held up: %+v", f.count("OpenCursors")-before, w.Table().Deletions)
		}
	})
}

// The sentence names number, programs, shard and age, whatever their number; the commands end exactly these cursors.
func TestHeldDeletionSaysWhoHoldsItUpAndHowToEndIt(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 3, 0, 0, time.UTC)
	cursor := func(n int, app, user string) OpenCursor {
		k := OpenCursor{ID: int64(n), App: app, Client: "10.0.0.7", Opened: at.Add(time.Duration(n) * time.Minute)}
		if user != "none" {
			k.Session = SessionID{ID: strings.Repeat(string(rune('0'+n)), 16), User: user}
		}
		return k
	}
	held := func(cursors ...OpenCursor) HeldDeletion {
		return HeldDeletion{NS: "db.x", Shard: "shard-rs-1", Cursors: cursors, Count: len(cursors)}
	}
	for _, c := range []struct {
		h        HeldDeletion
		text     string
		commands []string
	}{
		{held(cursor(0, "report-job", "")),
			"The old documents of db.x wait for 1 open cursor of report-job on shard-rs-1, of ",
			[]string{`db.adminCommand({killSessions: [{id: UUID("30303030-3030-3030-3030-303030303030")}]})`}},
		{held(cursor(0, "report-job", string(nobody[:])), cursor(1, "", "none"), cursor(2, "report-job", "none")),
			"The old documents of db.x wait for 3 open cursors of report-job and a program without a name on shard-rs-1, the oldest of ",
			[]string{`db.adminCommand({killSessions: [{id: UUID("30303030-3030-3030-3030-303030303030")}]})`,
				`db.getSiblingDB("db").runCommand({killCursors: "x", cursors: [Long("1"), Long("2")]})`}},
		{held(cursor(0, "a", "\x01\x02"), cursor(1, "b\n", "\x01\x02"), cursor(2, "c", "\x01\x02"), cursor(3, "d", "\x01\x02"),
			cursor(4, "e", "\x01\x02")),
			"The old documents of db.x wait for 5 open cursors of a, b\\n, c and 2 more on shard-rs-1, the oldest of ", nil},
	} {
		if got := c.h.Text().String(); !strings.HasPrefix(got, c.text) || !strings.Contains(got, "09:03") {
			t.Errorf("%s\nwant %s", got, c.text)
		}
		var commands []string
		for _, e := range c.h.EndCommands() {
			commands = append(commands, e.Text)
			expect.That(t, e.OnShard == strings.Contains(e.Text, "killCursors") && !e.Explanation().IsZero(), "%+v", e)
		}
		expect.That(t, c.commands == nil || slices.Equal(commands, c.commands), "%q\nwant %q", commands, c.commands)
		if c.commands == nil && (len(commands) != 1 || !strings.Contains(commands[0], `uid: BinData(0, "AQI=")`)) {
			t.Errorf("%q", commands)
		}
	}
	h := held(cursor(0, "a", ""), cursor(1, "a", ""), cursor(2, "b", ""))
	if older, ok := h.OlderThan(at.Add(time.Minute)); !ok || older.Count != 2 || len(h.Cursors) != 3 {
		t.Errorf("older: %+v", older)
	}
	if _, ok := h.OlderThan(at.Add(-time.Minute)); ok {
		t.Error("none is older")
	}
	if holders := h.Holders(); len(holders) != 2 || holders[0] != (CursorHolder{"a", "10.0.0.7", 2, at}) {
		t.Errorf("%+v", holders)
	}
}
