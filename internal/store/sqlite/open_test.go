package sqlite

import (
	"context"
	"testing"

	"shardboard/internal/fixture/must"
)

func open(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(context.Background(), dir)
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
