package sqlite

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// What is deleted makes room for what comes: a file that is never vacuumed stays as large as it was once.
func TestTrimmedHistoryMakesRoom(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), t.TempDir())
	must.Do(t, err)
	defer db.Close()
	var sizes []int
	for round := range 4 {
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, round, 0)
		var events []store.HistoryEvent
		for i := range 5000 {
			events = append(events, store.HistoryEvent{ID: fmt.Sprint(i), At: begin.Add(time.Duration(i) * time.Minute), What: "split",
				NS: fmt.Sprint("app.c", i%5), Details: make([]byte, 100)})
		}
		whole := store.HistoryEntry{At: begin, Stream: "s", Whole: true, Body: make([]byte, 50_000)}
		must.Do(t, db.AppendHistory(t.Context(), "c", []store.HistoryEntry{whole}, events))
		must.Do(t, db.TrimHistory(t.Context(), "c", begin))
		var pages int
		must.Do(t, db.read.QueryRow(`PRAGMA page_count`).Scan(&pages))
		sizes = append(sizes, pages)
	}
	expect.That(t, sizes[3] <= sizes[1]*105/100, "pages after each month: %d", sizes)
}
