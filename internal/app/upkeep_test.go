package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
)

// Old plans are removed at start and every day, in batches. Plans that were run and all
// entries of the audit record are kept.
func TestUnusedPlansAreRemovedAfterThirtyDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		db := must.Get(sqlite.Open(ctx, t.TempDir()))
		defer db.Close()
		save := func(id string) {
			t.Helper()
			now := time.Now()
			err := db.SavePlan(ctx,
				store.PlanRecord{ID: id, Cluster: "c", Made: now, Expires: now.Add(15 * time.Minute), Body: []byte("{}")})
			must.Do(t, err)
		}
		const many = 2*planBatch + 10
		for i := range many {
			save(fmt.Sprint("old", i))
		}
		err := db.AddRun(ctx,
			store.RunRecord{ID: "r", Plan: "old7", Cluster: "c", State: "succeeded", Started: time.Now(), Body: []byte("{}")})
		must.Do(t, err)
		must.Do(t, must.Err(db.Append(ctx, store.AuditEntry{At: time.Now(), What: "plan.made", Subject: "old3"})))
		time.Sleep(24 * time.Hour)
		save("young")
		left := func() (n int) {
			t.Helper()
			for i := range many {
				switch _, err := db.PlanRecord(ctx, fmt.Sprint("old", i)); {
				case err == nil:
					n++
				case !errors.Is(err, store.ErrPlanRemoved):
					t.Fatal(err)
				}
			}
			return n
		}
		done := make(chan error)
		go func() { done <- upkeep{db: db, log: slog.New(slog.DiscardHandler)}.run(ctx) }()
		time.Sleep(28*24*time.Hour + time.Hour)
		n := left()
		must.That(t, n == many, "%d of %d plans are left before the thirty days are over", n, many)
		time.Sleep(48 * time.Hour) // the daily round after the thirtieth day
		expect.Equal(t, left(), 1, "plans are left after thirty days, expected the one that was run")
		expect.NoError(t, must.Err(db.PlanRecord(ctx, "young")), "reading the newer plan")
		list, err := db.AuditRecords(ctx, 0, 10)
		expect.That(t, err == nil && len(list) == 1 && list[0].Subject == "old3", "the audit record has %v, %v", list, err)
		end()
		expect.NoError(t, <-done, "the end")
	})
}
