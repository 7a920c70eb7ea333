package records

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

type setting struct {
	Name, Value string
	At          time.Time
}

var (
	settings  = tableOf("settings", func(_ *string, s *setting) []any { return []any{&s.Name, &s.Value, &s.At} })
	approvals = tableOf("plan_approvals", func(_ *string, a *store.ApprovalRecord) []any {
		return []any{&a.Plan, &a.Cluster, &a.State, &a.Until, &a.Body, &a.Seal}
	})
)

// Setting returns a value.
func (r Records) Setting(ctx context.Context, name string) (string, error) {
	s, err := one(ctx, r.db, settings, settings.is("name", name))
	return s.Value, or(err, fault.New(fault.NotFound, "The setting %s was never set.", name))
}

// SetSetting replaces a value.
func (r Records) SetSetting(ctx context.Context, name, value string) error {
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		return tx.Put(ctx, settings.Table, settings.row("", setting{name, value, time.Now()}))
	})
}

// ResetSeals ends what was sealed by another key. Of several replicas that start at once, one does so.
func (r Records) ResetSeals(ctx context.Context, reset store.SealReset) (done bool, err error) {
	err = r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		done = false
		same, err := exists(ctx, tx, settings, settings.is("name", reset.Setting, "value", reset.Value))
		if err != nil || same {
			return err
		}
		if _, err := tx.Append(ctx, reset.Entry); err != nil { // first, because that is where replicas meet
			return err
		}
		done = true
		if _, err := tx.Delete(ctx, sessions.Table, nil); err != nil {
			return err
		}
		if err := tx.DropRequests(ctx); err != nil {
			return err
		}
		asked, err := list(ctx, tx, approvals, nil, 0)
		if err != nil {
			return err
		}
		for _, a := range asked {
			if seal, keep := reset.Approval(a); keep {
				_, err = tx.Update(ctx, approvals.Table, approvals.is("plan", a.Plan), approvals.is("seal", seal))
			} else {
				_, err = tx.Delete(ctx, approvals.Table, approvals.is("plan", a.Plan))
			}
			if err != nil {
				return err
			}
		}
		return tx.Put(ctx, settings.Table, settings.row("", setting{reset.Setting, reset.Value, time.Now()}))
	})
	return done && err == nil, err
}

// AddApproval stores the first record of a plan.
func (r Records) AddApproval(ctx context.Context, a store.ApprovalRecord) error {
	return r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		if err := hasPlan(ctx, tx, a.Plan); err != nil {
			return err
		}
		of := approvals.is("plan", a.Plan)
		if err := missing(ctx, tx, approvals, of, "There is already a request to approve this plan."); err != nil {
			return err
		}
		return tx.Insert(ctx, approvals.Table, approvals.row("", a))
	})
}

// SaveApproval adds the record of a plan or replaces it.
func (r Records) SaveApproval(ctx context.Context, a store.ApprovalRecord) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		if err := hasPlan(ctx, tx, a.Plan); err != nil {
			return err
		}
		return tx.Put(ctx, approvals.Table, approvals.row("", a))
	})
}

// Approval returns the record of a plan.
func (r Records) Approval(ctx context.Context, plan string) (store.ApprovalRecord, error) {
	a, err := one(ctx, r.db, approvals, approvals.is("plan", plan))
	return a, or(err, fault.New(fault.NotFound, "Nobody was asked to approve this plan."))
}

// ApprovalsAsked returns requests that nobody has answered.
func (r Records) ApprovalsAsked(ctx context.Context, cluster string, after time.Time, limit int) ([]store.ApprovalRecord, error) {
	if limit <= 0 {
		return nil, nil
	}
	where := approvals.and(approvals.is("cluster", cluster, "state", store.ApprovalAsked), "until", ">", after)
	return list(ctx, r.db, approvals, where, limit, "until", "plan")
}
