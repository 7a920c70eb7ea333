package sqlite

import (
	"context"
	"database/sql"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Dismiss stores a decision to hide a piece of advice.
func (db *DB) Dismiss(ctx context.Context, cluster string, d store.Dismissal, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO dismissals VALUES (?, ?, ?, ?, ?)`, cluster, d.ID, d.By, d.Reason, d.At.UnixMilli())
		return unavailable(err)
	})
}

// Restore deletes such a decision.
func (db *DB) Restore(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(tx *sql.Tx) error {
		return deleted(tx.ExecContext(ctx, `DELETE FROM dismissals WHERE cluster = ? AND id = ?`, cluster, id))
	})
}

// Dismissals returns all decisions, newest first.
func (db *DB) Dismissals(ctx context.Context, cluster string) ([]store.Dismissal, error) {
	return listed(ctx, db, "dismissals", func(scan func(...any) error) (d store.Dismissal, err error) {
		var at int64
		err = scan(&d.ID, &d.By, &d.Reason, &at)
		d.At = stamped(at)
		return d, err
	}, `SELECT id, by, reason, at FROM dismissals WHERE cluster = ? ORDER BY at DESC, id`, cluster)
}

// Take stores who deals with a problem.
func (db *DB) Take(ctx context.Context, cluster string, t store.Take, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO takes VALUES (?, ?, ?, ?, ?)`, cluster, t.ID, t.By, t.Note, t.At.UnixMilli())
		return unavailable(err)
	})
}

// Leave deletes that.
func (db *DB) Leave(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(tx *sql.Tx) error {
		return deleted(tx.ExecContext(ctx, `DELETE FROM takes WHERE cluster = ? AND id = ?`, cluster, id))
	})
}

// Takes returns who deals with which problem, newest first.
func (db *DB) Takes(ctx context.Context, cluster string) ([]store.Take, error) {
	return listed(ctx, db, "takes", func(scan func(...any) error) (t store.Take, err error) {
		var at int64
		err = scan(&t.ID, &t.By, &t.Note, &at)
		t.At = stamped(at)
		return t, err
	}, `SELECT id, by, note, at FROM takes WHERE cluster = ? ORDER BY at DESC, id`, cluster)
}

// AddSilence starts a silence and deletes expired ones.
func (db *DB) AddSilence(ctx context.Context, cluster string, s store.Silence, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM silences WHERE cluster = ? AND until <= ?`, cluster, s.At.UnixMilli()); err != nil {
			return unavailable(err)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO silences VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			cluster, s.ID, s.Alert, s.Rule, s.By, s.Reason, s.At.UnixMilli(), s.Until.UnixMilli())
		return unavailable(err)
	})
}

// EndSilence ends a silence early.
func (db *DB) EndSilence(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(tx *sql.Tx) error {
		return deleted(tx.ExecContext(ctx, `DELETE FROM silences WHERE cluster = ? AND id = ?`, cluster, id))
	})
}

// Silences returns those in force.
func (db *DB) Silences(ctx context.Context, cluster string, now time.Time) ([]store.Silence, error) {
	return listed(ctx, db, "silences", func(scan func(...any) error) (s store.Silence, err error) {
		var at, until int64
		err = scan(&s.ID, &s.Alert, &s.Rule, &s.By, &s.Reason, &at, &until)
		s.At, s.Until = stamped(at), stamped(until)
		return s, err
	}, `SELECT id, alert, rule, by, reason, at, until FROM silences WHERE cluster = ? AND until > ? ORDER BY until, id`, cluster, now.UnixMilli())
}

// AddWatch stores a watch.
func (db *DB) AddWatch(ctx context.Context, cluster string, w store.Watch) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO watches VALUES (?, ?, ?, ?, ?)`, cluster, w.By, w.Kind, w.Subject, w.At.UnixMilli())
		return unavailable(err)
	})
}

// EndWatch deletes a watch.
func (db *DB) EndWatch(ctx context.Context, cluster string, w store.Watch) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(
			ctx,
			`DELETE FROM watches WHERE cluster = ? AND by = ? AND kind = ? AND subject = ?`,
			cluster,
			w.By,
			w.Kind,
			w.Subject,
		)
		return unavailable(err)
	})
}

// Watches returns one person's watches.
func (db *DB) Watches(ctx context.Context, cluster, by string) ([]store.Watch, error) {
	return listed(ctx, db, "watches", func(scan func(...any) error) (w store.Watch, err error) {
		var at int64
		err = scan(&w.Kind, &w.Subject, &w.By, &at)
		w.At = stamped(at)
		return w, err
	}, `SELECT kind, subject, by, at FROM watches WHERE cluster = ? AND by = ? ORDER BY at, kind, subject`, cluster, by)
}

// changeAudited makes a change together with its audit entry, both or neither.
func (db *DB) changeAudited(ctx context.Context, e store.AuditEntry, f func(*sql.Tx) error) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		_, err := db.appendAudit(ctx, tx, e)
		return err
	})
}

// deleted is the result of a deletion: NotFound when there was nothing.
func deleted(done sql.Result, err error) error {
	if err != nil {
		return unavailable(err)
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "It no longer exists: somebody may have removed it already.")
	}
	return unavailable(err)
}
