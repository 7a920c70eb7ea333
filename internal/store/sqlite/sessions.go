package sqlite

import (
	"context"
	"database/sql"
	"time"

	"shardboard/internal/store"
)

const sessionColumns = `id, hash, subject, name, role, method, origin, created, used, expires, stale, former_until, issuer_groups, seal, former_hash`

// CreateSession stores a new session.
func (db *DB) CreateSession(ctx context.Context, s store.Session, replaces string, e store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		if replaces != "" {
			if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, replaces); err != nil {
				return unavailable(err)
			}
		}
		if err := insertSession(ctx, tx, s, nil); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE users SET last_login = ? WHERE 'user:' || id = ?`, millis(s.Created), s.Subject); err != nil {
			return unavailable(err)
		}
		_, err := db.appendAudit(ctx, tx, e)
		return err
	})
}

// RotateSession replaces a session by another. Of many concurrent callers the one that deletes the
// row succeeds.
func (db *DB) RotateSession(ctx context.Context, old string, s store.Session, e store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		var former []byte
		if err := tx.QueryRowContext(ctx, `DELETE FROM sessions WHERE id = ? RETURNING hash`, old).Scan(&former); err != nil {
			return missing(err, "There is no such session; it may have ended.")
		}
		if err := insertSession(ctx, tx, s, former); err != nil {
			return err
		}
		_, err := db.appendAudit(ctx, tx, e)
		return err
	})
}

func insertSession(ctx context.Context, tx *sql.Tx, s store.Session, former []byte) error {
	_, err := tx.ExecContext(
		ctx,
		`INSERT INTO sessions (`+sessionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.ID,
		s.Hash,
		s.Subject,
		s.Name,
		s.Role,
		s.Method,
		s.From,
		millis(s.Created),
		millis(s.Used),
		millis(s.Expires),
		s.Stale,
		millis(s.Former),
		store.TextOf(s.Groups),
		s.Seal,
		former,
	)
	return unavailable(err)
}

// Session returns a session by its id.
func (db *DB) Session(ctx context.Context, id string) (store.Session, error) {
	return oneSession(db.read.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions WHERE id = ?`, id))
}

// SessionByHash returns the session of a secret.
func (db *DB) SessionByHash(ctx context.Context, hash []byte) (store.Session, error) {
	return oneSession(db.read.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions WHERE hash = ?`, hash))
}

// SessionByFormer returns the session that replaced the one of a secret.
func (db *DB) SessionByFormer(ctx context.Context, hash []byte) (store.Session, error) {
	return oneSession(db.read.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions WHERE former_hash = ?`, hash))
}

// Sessions returns those of a subject, or all.
func (db *DB) Sessions(ctx context.Context, subject string) ([]store.Session, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT `+sessionColumns+` FROM sessions
		WHERE ? IN ('', subject) ORDER BY created DESC, id`, subject)
	return readable(db, "sessions", rows, err, scanSession)
}

// TouchSession stores the time of a use. It could be written with less durability, but the one
// writing connection is fast enough for a write a minute per session.
func (db *DB) TouchSession(ctx context.Context, id string, used time.Time) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE sessions SET used = ? WHERE id = ?`, millis(used), id)
		return unavailable(err)
	})
}

// EndSession deletes a session.
func (db *DB) EndSession(ctx context.Context, id string, e store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, id)
		if err := found(res, err, "There is no such session; it may have ended."); err != nil {
			return err
		}
		_, err = db.appendAudit(ctx, tx, e)
		return err
	})
}

// DropSessions deletes expired sessions and those from a time in the future.
func (db *DB) DropSessions(ctx context.Context, now, idle, ahead time.Time) (ids []string, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `DELETE FROM sessions WHERE expires <= ? OR used <= ? OR used > ? OR created > ? RETURNING id`,
			millis(now), millis(idle), millis(ahead), millis(ahead))
		ids, err = all(rows, err, scanText)
		return err
	})
	return ids, err
}

func oneSession(row *sql.Row) (store.Session, error) {
	s, err := scanSession(row)
	return s, missing(err, "There is no such session; it may have ended.")
}

func scanSession(row scanner) (s store.Session, err error) {
	var created, used, expires, former int64
	var groups string
	err = row.Scan(&s.ID, &s.Hash, &s.Subject, &s.Name, &s.Role, &s.Method, &s.From, &created, &used, &expires, (*flag)(&s.Stale), &former,
		&groups, &s.Seal, &s.FormerHash)
	s.Groups = store.ListOf(groups)
	s.Created, s.Used, s.Expires, s.Former = instant(created), instant(used), instant(expires), instant(former)
	return s, err
}
