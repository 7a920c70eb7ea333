package sqlite

import (
	"context"
	"testing"
)

func open(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(context.Background(), dir)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// must ends the test at an error of its set-up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
