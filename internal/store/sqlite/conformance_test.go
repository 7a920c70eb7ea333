package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"shardboard/internal/store"
	"shardboard/internal/store/storetest"
)

func TestSQLiteConformsToStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, t.TempDir()) })
}

func TestSQLiteStoresOfOneDirectoryShareTheirData(t *testing.T) {
	storetest.RunInPlace(t, func(t *testing.T) storetest.Place {
		dir := t.TempDir()
		return storetest.Place{Open: func(t *testing.T) store.Store { return open(t, dir) }}
	})
}

func TestAccountsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	if err := first.CreateUser(t.Context(), store.User{ID: "1", Name: "anna", Role: "admin"},
		store.AuditEntry{What: "user.created"}); err != nil {
		t.Fatal(err)
	}
	if err := first.CreateSession(t.Context(), store.Session{ID: "s", Hash: []byte{1}, Subject: "user:1"}, "",
		store.AuditEntry{What: "login.ok"}); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir)
	if _, err := second.UserByName(t.Context(), "anna"); err != nil {
		t.Error(err)
	}
	if _, err := second.SessionByHash(t.Context(), []byte{1}); err != nil {
		t.Error(err)
	}
}

func TestFilesArePrivateEvenInAPublicDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir)
	if err := db.SetSetting(t.Context(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(dir + "/*")
	if err != nil || len(files) < 3 { // data, journal, lock
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %s, %v", filepath.Base(f), info.Mode(), err)
		}
	}
}
