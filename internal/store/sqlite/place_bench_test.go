package sqlite

import (
	"path/filepath"
	"testing"
)

// BenchmarkLook measures the directory checks of a write.
func BenchmarkLook(b *testing.B) {
	db, err := Open(b.Context(), filepath.Join(b.TempDir(), "data"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for b.Loop() {
		if err := db.Writable(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen measures opening a directory that already has the schema.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	for b.Loop() {
		db, err := Open(b.Context(), dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
