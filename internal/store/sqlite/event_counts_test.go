package sqlite

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/records"
)

func TestAnUpgradeCountsTheHoursOfKeptMinutes(t *testing.T) {
	old := must.Get(sql.Open("sqlite", filepath.Join(t.TempDir(), "old.db")))
	defer old.Close()
	do := func(statement string, args ...any) {
		t.Helper()
		must.Do(t, must.Err(old.Exec(statement, args...)))
	}
	do(`CREATE TABLE migrations (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT`)
	for _, name := range steps() {
		if name < "0095" {
			must.Do(t, apply(t.Context(), old, name))
		}
	}
	at := time.Date(2026, 3, 1, 22, 59, 0, 0, time.UTC)
	for i, n := range []int{3, 4, 5} {
		do(`INSERT INTO history_event_minutes VALUES ('c', ?, 'split', 'a.b', 0, ?)`,
			at.Add(time.Duration(i)*45*time.Minute).Unix()/60, n)
	}
	must.Do(t, migrate(t.Context(), old))
	db := &DB{}
	db.Records = records.On(tables{reader{db, old}})
	for _, x := range []struct {
		width time.Duration
		want  []int
	}{{time.Hour, []int{3, 4, 5}}, {24 * time.Hour, []int{7, 5}}} {
		counts, err := db.EventCounts(t.Context(), "c", at.Truncate(24*time.Hour), at.Add(48*time.Hour).Truncate(24*time.Hour), x.width)
		must.Do(t, err)
		var got []int
		for _, c := range counts {
			got = append(got, c.N)
		}
		expect.That(t, slices.Equal(got, x.want), "by %s: %v, want %v", x.width, got, x.want)
	}
}
