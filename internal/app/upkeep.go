package app

import (
	"context"
	"log/slog"
	"time"

	"shardboard/internal/store"
)

const (
	upkeepEvery = 24 * time.Hour
	// planBatch is how many plans one transaction removes. It takes a few milliseconds, so other
	// writers do not wait for long.
	planBatch = 200
	planPause = 50 * time.Millisecond // between batches
)

// upkeep is the maintenance that the leader does at start and once a day: it
// checks the pages of the database and removes plans that were never run.
type upkeep struct {
	db interface {
		store.Journal
		store.Leadership
		Trouble() *store.Trouble
		Unreadable() []store.UnreadableRows
		Checked() bool
		Check(ctx context.Context) error
	}
	log *slog.Logger
}

// run works until the context ends. Problems with the data are reported by the store; the next day
// tries again.
func (u upkeep) run(ctx context.Context) error { return u.db.Lead(ctx, u.lead) }

func (u upkeep) lead(ctx context.Context) error {
	day := time.NewTicker(upkeepEvery)
	defer day.Stop()
	for first := true; ; first = false {
		if !first || !u.db.Checked() { // at start the store has checked what it had time for
			if err := u.db.Check(ctx); err != nil && ctx.Err() == nil {
				u.log.Error("check the database", "err", err)
			}
		}
		if err := u.dropPlans(ctx); err != nil && ctx.Err() == nil {
			u.log.Warn("remove plans that were never run", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-day.C:
		}
	}
}

// dropPlans removes plans in batches, by the time stored with each plan. A clock that is set
// forward removes plans early; they could not be run any more by then.
func (u upkeep) dropPlans(ctx context.Context) error {
	before, total := time.Now().Add(-store.PlanKept), 0
	for {
		n, err := u.db.DropPlans(ctx, before, planBatch)
		if total += n; err != nil {
			return err
		}
		if n < planBatch {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(planPause):
		}
	}
	if total > 0 {
		u.log.Info("removed plans that were never run", "plans", total, "madeBefore", before.UTC().Format(time.RFC3339))
	}
	return nil
}
