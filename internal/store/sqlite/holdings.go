package sqlite

import (
	"context"
	"database/sql"

	"shardboard/internal/store"
)

// SaveHolding adds or replaces the sample of a collection.
func (db *DB) SaveHolding(ctx context.Context, cluster string, h store.Holding) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO holdings VALUES (?, ?, ?, ?)`, cluster, h.NS, h.At.UnixMilli(), h.Body)
		return unavailable(err)
	})
}

// LoadHoldings returns the samples of a cluster, by name of the collection.
func (db *DB) LoadHoldings(ctx context.Context, cluster string) ([]store.Holding, error) {
	return listed(ctx, db, "holdings", func(scan func(...any) error) (store.Holding, error) {
		var h store.Holding
		var at int64
		err := scan(&h.NS, &at, &h.Body)
		h.At = stamped(at)
		return h, err
	}, `SELECT ns, at, body FROM holdings WHERE cluster = ? ORDER BY ns`, cluster)
}

// DropHolding deletes the sample of a collection.
func (db *DB) DropHolding(ctx context.Context, cluster, ns string) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM holdings WHERE cluster = ? AND ns = ?`, cluster, ns)
		return unavailable(err)
	})
}
