package sqlite

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

// countedWidths are widths of bars: of minutes, hours, days and a week.
var countedWidths = []time.Duration{time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

func TestEntriesAreCountedAlikeByMinutesHoursAndDays(t *testing.T) {
	db := open(t, t.TempDir())
	begin := time.Date(2026, 3, 1, 17, 23, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	var events []store.HistoryEvent
	for i := range 600 {
		events = append(events, store.HistoryEvent{ID: fmt.Sprint(i), At: begin.Add(time.Duration(random.Int64N(int64(12 * 24 * time.Hour)))),
			What: []string{"split", "merge"}[i%2], NS: fmt.Sprint("app.c", i%3), Failed: i%5 == 0})
	}
	must(t, db.AppendHistory(t.Context(), "c", nil, events))
	check := func() {
		t.Helper()
		for _, width := range countedWidths {
			for _, span := range [][2]time.Duration{{0, 12 * 24 * time.Hour}, {37 * time.Minute, 3 * time.Hour}, {25 * time.Hour, 200 * time.Hour},
				{time.Hour, time.Hour}} {
				from, to := begin.Add(span[0]), begin.Add(span[1])
				counts, err := db.EventCounts(t.Context(), "c", from, to, width)
				must(t, err)
				want := map[store.EventCount]int{}
				for _, e := range events {
					if !e.At.Before(from) && e.At.Before(to) {
						want[store.EventCount{At: e.At.Add(-time.Duration(e.At.UnixNano() % int64(width))), What: e.What, NS: e.NS, Failed: e.Failed}]++
					}
				}
				for _, c := range counts {
					key := c
					if key.N = 0; want[key] != c.N {
						t.Fatalf("by %s, %v: %+v, want %d", width, span, c, want[key])
					}
				}
				if len(counts) != len(want) {
					t.Fatalf("by %s, %v: %d counts, want %d", width, span, len(counts), len(want))
				}
			}
		}
	}
	check()
	before := begin.Add(77*time.Hour + 11*time.Minute)
	must(t, db.TrimHistory(t.Context(), "c", before))
	events = slices.DeleteFunc(events, func(e store.HistoryEvent) bool { return e.At.Before(before) })
	check()
}

func TestAnUpgradeCountsTheHoursOfKeptMinutes(t *testing.T) {
	old, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "old.db"))
	must(t, err)
	defer old.Close()
	do := func(statement string, args ...any) {
		t.Helper()
		_, err := old.Exec(statement, args...)
		must(t, err)
	}
	do(`CREATE TABLE migrations (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT`)
	for _, name := range steps() {
		if name < "0095" {
			must(t, apply(t.Context(), old, name))
		}
	}
	at := time.Date(2026, 3, 1, 22, 59, 0, 0, time.UTC)
	for i, n := range []int{3, 4, 5} {
		do(`INSERT INTO history_event_minutes VALUES ('c', ?, 'split', 'a.b', 0, ?)`,
			at.Add(time.Duration(i)*45*time.Minute).Unix()/60, n)
	}
	must(t, migrate(t.Context(), old))
	db := &DB{}
	db.Records = records.On(tables{reader{db, old}})
	for _, x := range []struct {
		width time.Duration
		want  []int
	}{{time.Hour, []int{3, 4, 5}}, {24 * time.Hour, []int{7, 5}}} {
		counts, err := db.EventCounts(t.Context(), "c", at.Truncate(24*time.Hour), at.Add(48*time.Hour).Truncate(24*time.Hour), x.width)
		must(t, err)
		var got []int
		for _, c := range counts {
			got = append(got, c.N)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("by %s: %v, want %v", x.width, got, x.want)
		}
	}
}
