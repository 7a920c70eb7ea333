package topology

import (
	"slices"
	"strings"
	"testing"
	"time"
)

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
			if e.OnShard != strings.Contains(e.Text, "killCursors") || e.Explanation().IsZero() {
				t.Errorf("%+v", e)
			}
		}
		if c.commands != nil && !slices.Equal(commands, c.commands) {
			t.Errorf("%q\nwant %q", commands, c.commands)
		}
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
