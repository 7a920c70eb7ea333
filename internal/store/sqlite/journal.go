package sqlite

import (
	"context"
	"database/sql"
	"errors"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// isDuplicate reports whether a row with that key exists.
func isDuplicate(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && (e.Code() == code.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == code.SQLITE_CONSTRAINT_UNIQUE)
}

// insert runs one statement whose row must be new.
func (db *DB) insert(ctx context.Context, what, statement string, args ...any) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		if isDuplicate(err) {
			return fault.Wrap(fault.Conflict, err, "There is already %s.", what)
		}
		return unavailable(err)
	})
}

// SavePlan stores a plan.
func (db *DB) SavePlan(ctx context.Context, p store.PlanRecord) error {
	return db.insert(ctx, "a plan", `INSERT INTO plans VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, p.Cluster, p.By, p.Kind, p.Hash, p.Made.UnixMilli(), p.Expires.UnixMilli(), p.Body)
}

const planColumns = `id, cluster, by, kind, hash, made, expires, body`

// PlanRecord returns a plan.
func (db *DB) PlanRecord(ctx context.Context, id string) (store.PlanRecord, error) {
	p, err := scanPlan(db.read.QueryRowContext(ctx, `SELECT `+planColumns+` FROM plans WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return p, db.noPlan(ctx, id)
	}
	return p, unavailable(err)
}

// AddRun stores a new run.
func (db *DB) AddRun(ctx context.Context, r store.RunRecord) error {
	err := db.insert(
		ctx,
		"a run of this plan",
		`INSERT INTO runs (id, plan, cluster, by, state, open, started, ended, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID,
		r.Plan,
		r.Cluster,
		r.By,
		r.State,
		r.Open,
		r.Started.UnixMilli(),
		ended(r),
		r.Body,
	)
	var e *driver.Error
	if errors.As(err, &e) && e.Code() == code.SQLITE_CONSTRAINT_FOREIGNKEY {
		return db.noPlan(ctx, r.Plan)
	}
	return err
}

// ended is a run's end as stored.
func ended(r store.RunRecord) sql.NullInt64 {
	return sql.NullInt64{Int64: r.Ended.UnixMilli(), Valid: !r.Ended.IsZero()}
}

// SaveRun replaces state, end and body of a run.
func (db *DB) SaveRun(ctx context.Context, r store.RunRecord) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(
			ctx,
			`UPDATE runs SET state = ?, open = ?, ended = ?, body = ? WHERE id = ?`,
			r.State,
			r.Open,
			ended(r),
			r.Body,
			r.ID,
		)
		if err != nil {
			return unavailable(err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(unavailable(err), errNoRun)
		}
		return nil
	})
}

var errNoRun = fault.New(fault.NotFound, "There is no such run.")

const runColumns = `SELECT seq, id, plan, cluster, by, state, open, started, ended, body FROM runs `

// RunRecord returns a run.
func (db *DB) RunRecord(ctx context.Context, id string) (store.RunRecord, error) {
	return scanRun(db.read.QueryRowContext(ctx, runColumns+`WHERE id = ?`, id))
}

// PlanRun returns the run of a plan.
func (db *DB) PlanRun(ctx context.Context, plan string) (store.RunRecord, error) {
	return scanRun(db.read.QueryRowContext(ctx, runColumns+`WHERE plan = ?`, plan))
}

func scanRun(row interface{ Scan(...any) error }) (r store.RunRecord, err error) {
	var started int64
	var end sql.NullInt64
	err = row.Scan(&r.Seq, &r.ID, &r.Plan, &r.Cluster, &r.By, &r.State, (*flag)(&r.Open), &started, &end, &r.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return r, errNoRun
	}
	r.Started = stamped(started)
	if end.Valid {
		r.Ended = stamped(end.Int64)
	}
	return r, unavailable(err)
}

// RunRecords returns runs of a cluster, newest first.
func (db *DB) RunRecords(ctx context.Context, cluster string, before int64, limit int) ([]store.RunRecord, error) {
	return db.runs(ctx, `WHERE cluster = ?1 AND (?2 = 0 OR seq < ?2) ORDER BY seq DESC LIMIT ?3`, cluster, before, limit)
}

// OpenRuns returns the runs of a cluster that have not ended.
func (db *DB) OpenRuns(ctx context.Context, cluster string) ([]store.RunRecord, error) {
	return db.runs(ctx, `WHERE cluster = ? AND open = 1 ORDER BY seq`, cluster)
}

func (db *DB) runs(ctx context.Context, where string, args ...any) ([]store.RunRecord, error) {
	rows, err := db.read.QueryContext(ctx, runColumns+where, args...)
	return readable(db, "runs", rows, err, func(row scanner) (store.RunRecord, error) { return scanRun(row) })
}

// AddIntent stores an intent.
func (db *DB) AddIntent(ctx context.Context, i store.IntentRecord) error {
	return db.insert(
		ctx,
		"an intent of this step",
		`INSERT INTO intents VALUES (?, ?, ?, ?, ?)`,
		i.Run,
		i.Step,
		i.At.UnixMilli(),
		i.DB,
		i.Command,
	)
}

// Intents returns a run's intents.
func (db *DB) Intents(ctx context.Context, run string) ([]store.IntentRecord, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT run, step, at, db, command FROM intents WHERE run = ? ORDER BY step`, run)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []store.IntentRecord
	for rows.Next() {
		var i store.IntentRecord
		var at int64
		if err := rows.Scan(&i.Run, &i.Step, &at, &i.DB, &i.Command); err != nil {
			return nil, unavailable(err)
		}
		i.At = stamped(at)
		out = append(out, i)
	}
	return out, unavailable(rows.Err())
}
