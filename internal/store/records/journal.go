package records

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

type removedPlan struct {
	ID   string
	Made time.Time
}

func removedPlanFields(_ *string, p *removedPlan) []any { return []any{&p.ID, &p.Made} }

var (
	plans = tableOf("plans", func(_ *string, p *store.PlanRecord) []any {
		return []any{&p.ID, &p.Cluster, &p.By, &p.Kind, &p.Hash, &p.Made, &p.Expires, &p.Body}
	})
	oldPlans     = tableOf("plans", removedPlanFields, "id", "made")
	removedPlans = tableOf("removed_plans", removedPlanFields)
	runs         = tableOf("runs", func(_ *string, r *store.RunRecord) []any {
		return []any{&r.ID, &r.Seq, &r.Plan, &r.Cluster, &r.By, &r.State, &r.Open, &r.Started, &r.Ended, &r.Body}
	})
	intents = tableOf("intents", func(_ *string, i *store.IntentRecord) []any {
		return []any{&i.Run, &i.Step, &i.At, &i.DB, &i.Command}
	})
)

var errNoRun = fault.New(fault.NotFound, "There is no such run.")

// missing is a Conflict with a sentence when there is a row already.
func missing[T any](ctx context.Context, tx Tx, t table[T], where Where, sentence string) error {
	found, err := exists(ctx, tx, t, where)
	if err == nil && found {
		err = fault.New(fault.Conflict, "%s", sentence)
	}
	return err
}

// SavePlan stores a plan.
func (r Records) SavePlan(ctx context.Context, p store.PlanRecord) error {
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		if err := missing(ctx, tx, plans, plans.is("id", p.ID), "There is already a plan."); err != nil {
			return err
		}
		return tx.Insert(ctx, plans.Table, plans.row("", p))
	})
}

// PlanRecord returns a plan.
func (r Records) PlanRecord(ctx context.Context, id string) (store.PlanRecord, error) {
	p, err := one(ctx, r.db, plans, plans.is("id", id))
	if errors.Is(err, ErrNone) {
		err = noPlan(ctx, r.db, id)
	}
	return p, err
}

// noPlan explains why a plan does not exist.
func noPlan(ctx context.Context, from Reader, id string) error {
	removed, err := exists(ctx, from, removedPlans, removedPlans.is("id", id))
	switch {
	case err != nil:
		return err
	case removed:
		return store.ErrPlanRemoved
	}
	return fault.New(fault.NotFound, "There is no such plan.")
}

func hasPlan(ctx context.Context, tx Tx, id string) error {
	found, err := exists(ctx, tx, plans, plans.is("id", id))
	if err == nil && !found {
		err = noPlan(ctx, tx, id)
	}
	return err
}

// UnrunPlans returns plans that were never run, newest first.
func (r Records) UnrunPlans(ctx context.Context, cluster string, since time.Time, limit int) ([]store.PlanRecord, error) {
	if limit <= 0 {
		return nil, nil
	}
	return find(ctx, r.db, plans, unrun(plans.all(plans.and(plans.is("cluster", cluster), "made", ">=", since), "-made"), limit))
}

// unrun is a query for plans without those that were run.
func unrun(q Query, limit int) Query {
	q.Limit, q.NotIn = limit, &Reference{runs.Table, "plan"}
	return q
}

// DropPlans deletes old plans that were never run.
func (r Records) DropPlans(ctx context.Context, before time.Time, limit int) (dropped int, err error) {
	err = r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		dropped = 0
		forget := before.Add(store.PlanKept - store.PlanRemembered)
		if _, err := tx.Delete(ctx, removedPlans.Table, removedPlans.and(nil, "made", "<", forget)); err != nil {
			return err
		}
		old, err := find(ctx, tx, oldPlans, unrun(oldPlans.all(oldPlans.and(nil, "made", "<", before), "made"), limit))
		if err != nil || len(old) == 0 {
			return err
		}
		if err := tx.Put(ctx, removedPlans.Table, removedPlans.rows("", old)...); err != nil {
			return err
		}
		var ids []string
		for _, p := range old {
			ids = append(ids, p.ID)
		}
		if _, err := tx.Delete(ctx, approvals.Table, approvals.and(nil, "plan", "in", ids)); err != nil {
			return err
		}
		dropped = len(ids)
		_, err = tx.Delete(ctx, plans.Table, plans.and(nil, "id", "in", ids))
		return err
	})
	if err != nil {
		return 0, err
	}
	return dropped, nil
}

// AddRun stores a new run.
func (r Records) AddRun(ctx context.Context, run store.RunRecord) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		for _, where := range []Where{runs.is("id", run.ID), runs.is("plan", run.Plan)} {
			if err := missing(ctx, tx, runs, where, "There is already a run of this plan."); err != nil {
				return err
			}
		}
		if err := hasPlan(ctx, tx, run.Plan); err != nil {
			return err
		}
		var err error
		if run.Seq, err = tx.Number(ctx, runs.Table, "seq", 1); err != nil {
			return err
		}
		return tx.Insert(ctx, runs.Table, runs.row("", run))
	})
}

// SaveRun replaces state, end and body of a run.
func (r Records) SaveRun(ctx context.Context, run store.RunRecord) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		n, err := tx.Update(ctx, runs.Table, runs.is("id", run.ID),
			runs.is("state", run.State, "open", run.Open, "ended", run.Ended, "body", run.Body))
		return found(n, err, errNoRun)
	})
}

// RunRecord returns a run.
func (r Records) RunRecord(ctx context.Context, id string) (store.RunRecord, error) {
	run, err := one(ctx, r.db, runs, runs.is("id", id))
	return run, or(err, errNoRun)
}

// PlanRun returns the run of a plan.
func (r Records) PlanRun(ctx context.Context, plan string) (store.RunRecord, error) {
	run, err := one(ctx, r.db, runs, runs.is("plan", plan))
	return run, or(err, errNoRun)
}

// RunRecords returns runs of a cluster, newest first.
func (r Records) RunRecords(ctx context.Context, cluster string, before int64, limit int) ([]store.RunRecord, error) {
	where := runs.is("cluster", cluster)
	if before != 0 {
		where = runs.and(where, "seq", "<", before)
	}
	return list(ctx, r.db, runs, where, limit, "-seq")
}

// OpenRuns returns the runs of a cluster that have not ended.
func (r Records) OpenRuns(ctx context.Context, cluster string) ([]store.RunRecord, error) {
	return list(ctx, r.db, runs, runs.is("cluster", cluster, "open", true), 0, "seq")
}

// AddIntent stores an intent.
func (r Records) AddIntent(ctx context.Context, i store.IntentRecord) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		if known, err := exists(ctx, tx, runs, runs.is("id", i.Run)); err != nil || !known {
			return found(0, err, errNoRun)
		}
		of := intents.is("run", i.Run, "step", int64(i.Step))
		if err := missing(ctx, tx, intents, of, "There is already an intent of this step."); err != nil {
			return err
		}
		return tx.Insert(ctx, intents.Table, intents.row("", i))
	})
}

// Intents returns a run's intents.
func (r Records) Intents(ctx context.Context, run string) ([]store.IntentRecord, error) {
	return list(ctx, r.db, intents, intents.is("run", run), 0, "step")
}
