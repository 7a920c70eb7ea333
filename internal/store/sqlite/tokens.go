package sqlite

import (
	"context"
	"database/sql"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const tokenColumns = `id, hash, name, role, owner, created, expires, used, revoked, clusters, owner_role, owner_groups`

// CreateToken stores an API key.
func (db *DB) CreateToken(ctx context.Context, t store.Token, e store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO tokens (`+tokenColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.ID, t.Hash, t.Name, t.Role, t.Owner, millis(t.Created), millis(t.Expires), millis(t.Used), millis(t.Revoked),
			store.TextOf(t.Clusters), t.OwnerRole, store.TextOf(t.OwnerGroups))
		if err != nil {
			return unavailable(err)
		}
		_, err = db.appendAudit(ctx, tx, e)
		return err
	})
}

// Token returns a token by its id.
func (db *DB) Token(ctx context.Context, id string) (store.Token, error) {
	return oneToken(db.read.QueryRowContext(ctx, `SELECT `+tokenColumns+` FROM tokens WHERE id = ?`, id))
}

// TokenByHash returns the token of a secret.
func (db *DB) TokenByHash(ctx context.Context, hash []byte) (store.Token, error) {
	return oneToken(db.read.QueryRowContext(ctx, `SELECT `+tokenColumns+` FROM tokens WHERE hash = ?`, hash))
}

// Tokens returns those of an owner, or all.
func (db *DB) Tokens(ctx context.Context, owner string) ([]store.Token, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT `+tokenColumns+` FROM tokens
		WHERE ? IN ('', owner) ORDER BY created DESC, id`, owner)
	return readable(db, "tokens", rows, err, scanToken)
}

// TouchToken stores the time of a use.
func (db *DB) TouchToken(ctx context.Context, id string, used time.Time) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tokens SET used = ? WHERE id = ?`, millis(used), id)
		return unavailable(err)
	})
}

// RevokeToken permanently ends a token.
func (db *DB) RevokeToken(ctx context.Context, id string, at time.Time, e store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		var revoked int64
		err := tx.QueryRowContext(ctx, `SELECT revoked FROM tokens WHERE id = ?`, id).Scan(&revoked)
		if err != nil {
			return missing(err, "There is no such token.")
		}
		if revoked != 0 {
			return fault.New(fault.Conflict, "This token is already revoked.")
		}
		if _, err := tx.ExecContext(ctx, `UPDATE tokens SET revoked = ? WHERE id = ?`, millis(at), id); err != nil {
			return unavailable(err)
		}
		_, err = db.appendAudit(ctx, tx, e)
		return err
	})
}

func oneToken(row *sql.Row) (store.Token, error) {
	t, err := scanToken(row)
	return t, missing(err, "There is no such token.")
}

func scanToken(row scanner) (t store.Token, err error) {
	var created, expires, used, revoked int64
	var clusters, groups string
	err = row.Scan(&t.ID, &t.Hash, &t.Name, &t.Role, &t.Owner, &created, &expires, &used, &revoked, &clusters, &t.OwnerRole, &groups)
	t.Clusters, t.OwnerGroups = store.ClustersOf(clusters), store.ListOf(groups)
	t.Created, t.Expires, t.Used, t.Revoked = instant(created), instant(expires), instant(used), instant(revoked)
	return t, err
}
