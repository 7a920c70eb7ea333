package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const userColumns = `id, name, role, password, break_glass, disabled, created, last_login`

// CreateUser adds an account.
func (db *DB) CreateUser(ctx context.Context, u store.User, e store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error { return db.createUser(ctx, tx, u, e) })
}

// CreateFirstUser adds an account if there is none.
func (db *DB) CreateFirstUser(ctx context.Context, u store.User, e store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM users WHERE break_glass = 0`).Scan(&n); err != nil {
			return unavailable(err)
		}
		if n > 0 {
			return fault.New(fault.Conflict, "Users exist already, so the first admin cannot be created.")
		}
		return db.createUser(ctx, tx, u, e)
	})
}

func (db *DB) createUser(ctx context.Context, tx *sql.Tx, u store.User, e store.AuditEntry) error {
	var taken bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM users WHERE name = ?)`, u.Name).Scan(&taken)
	if err != nil {
		return unavailable(err)
	}
	if taken {
		return fault.New(fault.Conflict, "The user %s already exists. Accounts are never removed, so names cannot be reused.", u.Name)
	}
	if u.BreakGlass {
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM users WHERE break_glass = 1)`).Scan(&taken); err != nil {
			return unavailable(err)
		}
		if taken {
			return fault.New(fault.Conflict, "A break-glass account already exists; set its password instead.")
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO users (`+userColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		u.ID, u.Name, u.Role, u.Password, u.BreakGlass, u.Disabled, millis(u.Created), millis(u.LastLogin))
	if err != nil {
		return unavailable(err)
	}
	_, err = db.appendAudit(ctx, tx, e)
	return err
}

// User returns an account by its id.
func (db *DB) User(ctx context.Context, id string) (store.User, error) {
	return oneUser(db.read.QueryRowContext(ctx, `SELECT `+userColumns+` FROM users WHERE id = ?`, id))
}

// UserByName returns an account by its name.
func (db *DB) UserByName(ctx context.Context, name string) (store.User, error) {
	return oneUser(db.read.QueryRowContext(ctx, `SELECT `+userColumns+` FROM users WHERE name = ?`, name))
}

// Users returns all accounts by name.
func (db *DB) Users(ctx context.Context) ([]store.User, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT `+userColumns+` FROM users ORDER BY name`)
	return readable(db, "users", rows, err, scanUser)
}

// ChangeUser changes an account, ends sessions and records it, all or nothing.
func (db *DB) ChangeUser(ctx context.Context, id string, c store.UserChange, e store.AuditEntry) (ended []string, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		ended, err = db.changeUser(ctx, tx, id, c, e)
		return err
	})
	return ended, err
}

func (db *DB) changeUser(ctx context.Context, tx *sql.Tx, id string, c store.UserChange, e store.AuditEntry) ([]string, error) {
	var columns []string
	var args []any
	add := func(column string, value any) {
		columns, args = append(columns, column+" = ?"), append(args, value)
	}
	if c.Role != nil {
		add("role", *c.Role)
	}
	if c.Password != nil {
		add("password", *c.Password)
	}
	if c.Disabled != nil {
		add("disabled", *c.Disabled)
	}
	if len(columns) == 0 {
		return nil, errors.New("change user: nothing to change")
	}
	res, err := tx.ExecContext(ctx, `UPDATE users SET `+strings.Join(columns, ", ")+` WHERE id = ?`, append(args, id)...)
	if err := found(res, err, "There is no such user."); err != nil {
		return nil, err
	}
	if err := keepOne(ctx, tx, c.Keep); err != nil {
		return nil, err
	}
	var ended []string
	if c.End != "" {
		rows, err := tx.QueryContext(ctx, `DELETE FROM sessions WHERE subject = ? RETURNING id`, c.End)
		if ended, err = all(rows, err, scanText); err != nil {
			return nil, err
		}
	}
	if c.Instead != nil {
		if err := insertSession(ctx, tx, *c.Instead, nil); err != nil {
			return nil, err
		}
	}
	if c.Revoke != "" {
		if _, err := tx.ExecContext(ctx, `UPDATE tokens SET revoked = ? WHERE owner = ? AND revoked = 0`, millis(c.RevokeAt), c.Revoke); err != nil {
			return nil, unavailable(err)
		}
	}
	if c.Rotate != "" {
		rows, err := tx.QueryContext(ctx, `UPDATE sessions SET stale = 1 WHERE subject = ? RETURNING id`, c.Rotate)
		stale, err := all(rows, err, scanText)
		if err != nil {
			return nil, err
		}
		ended = append(ended, stale...)
	}
	_, err = db.appendAudit(ctx, tx, e)
	return ended, err
}

func keepOne(ctx context.Context, tx *sql.Tx, role string) error {
	if role == "" {
		return nil
	}
	var left bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM users WHERE role = ? AND disabled = 0 AND break_glass = 0)`, role).Scan(&left)
	if err == nil && !left {
		return fault.New(fault.Conflict, "This is the last enabled %s, so nobody could undo the change. Create another one first.", role)
	}
	return unavailable(err)
}

func oneUser(row *sql.Row) (store.User, error) {
	u, err := scanUser(row)
	return u, missing(err, "There is no such user.")
}

func scanUser(row scanner) (u store.User, err error) {
	var created, login int64
	err = row.Scan(&u.ID, &u.Name, &u.Role, &u.Password, (*flag)(&u.BreakGlass), (*flag)(&u.Disabled), &created, &login)
	u.Created, u.LastLogin = instant(created), instant(login)
	return u, err
}

// millis is a time as stored; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return stamped(ms)
}
