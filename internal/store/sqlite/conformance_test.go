package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/storetest"
)

func TestSQLiteConformsToStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		dir, _ := directoryOf(t, emptyFile)
		return open(t, dir)
	})
}

func TestSQLiteStoresOfOneDirectoryShareTheirData(t *testing.T) {
	storetest.RunInPlace(t, func(t *testing.T) storetest.Place {
		dir := t.TempDir()
		return storetest.Place{Open: func(t *testing.T) store.Store { return open(t, dir) }}
	})
}

func TestFilesArePrivateEvenInAPublicDirectory(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o755))
	db := open(t, dir)
	must.Do(t, db.SetSetting(t.Context(), "a", "1"))
	files, err := filepath.Glob(dir + "/*")
	if err != nil || len(files) < 3 { // data, journal, lock
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: unexpected mode %s, error %v", filepath.Base(f), info.Mode(), err)
		}
	}
}
