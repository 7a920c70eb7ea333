package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"shardboard/internal/store"
)

// AddApproval stores the first record of a plan.
func (db *DB) AddApproval(ctx context.Context, a store.ApprovalRecord) error {
	return db.ofPlan(ctx, a.Plan, db.insert(ctx, "a request to approve this plan", `INSERT INTO plan_approvals VALUES (?, ?, ?, ?, ?, ?)`,
		a.Plan, a.Cluster, a.State, a.Until.UnixMilli(), a.Body, a.Seal))
}

// SaveApproval adds the record of a plan or replaces it.
func (db *DB) SaveApproval(ctx context.Context, a store.ApprovalRecord) error {
	return db.ofPlan(ctx, a.Plan, db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO plan_approvals VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (plan) DO UPDATE SET state = excluded.state, until = excluded.until, body = excluded.body, seal = excluded.seal`,
			a.Plan, a.Cluster, a.State, a.Until.UnixMilli(), a.Body, a.Seal)
		return unavailable(err)
	}))
}

// ofPlan turns the failure of a row whose plan does not exist into what became of the plan.
func (db *DB) ofPlan(ctx context.Context, plan string, err error) error {
	var e *driver.Error
	if errors.As(err, &e) && e.Code() == code.SQLITE_CONSTRAINT_FOREIGNKEY {
		return db.noPlan(ctx, plan)
	}
	return err
}

const approvalColumns = `SELECT plan, cluster, state, until, body, seal FROM plan_approvals `

// Approval returns the record of a plan.
func (db *DB) Approval(ctx context.Context, plan string) (store.ApprovalRecord, error) {
	a, err := scanApproval(db.read.QueryRowContext(ctx, approvalColumns+`WHERE plan = ?`, plan))
	if err != nil {
		return store.ApprovalRecord{}, missing(err, "Nobody was asked to approve this plan.")
	}
	return a, nil
}

// ApprovalsAsked returns requests that nobody has answered.
func (db *DB) ApprovalsAsked(ctx context.Context, cluster string, after time.Time, limit int) ([]store.ApprovalRecord, error) {
	rows, err := db.read.QueryContext(ctx, approvalColumns+`WHERE cluster = ? AND state = 'asked' AND until > ? ORDER BY until, plan LIMIT ?`,
		cluster, after.UnixMilli(), limit)
	return readable(db, "plan_approvals", rows, err, scanApproval)
}

func scanApproval(row scanner) (a store.ApprovalRecord, err error) {
	var until int64
	err = row.Scan(&a.Plan, &a.Cluster, &a.State, &until, &a.Body, &a.Seal)
	a.Until = stamped(until)
	return a, err
}
