package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
)

func TestStoresAreCopiedBackedUpAndRestored(t *testing.T) {
	at := t.TempDir()
	path := func(name string) string { return filepath.Join(at, name) }
	db := must.Get(sqlite.Open(t.Context(), path("first")))
	for _, name := range []string{"anna", "ben"} {
		must.Do(t, db.CreateUser(t.Context(), store.User{ID: name, Name: name, Role: "viewer"},
			store.AuditEntry{What: "user.created"}))
	}
	does := func(exit int, want string, args ...string) {
		t.Helper()
		var out, said strings.Builder
		code := run(t.Context(), append([]string{"store"}, args...), &out, &said)
		if all := out.String() + said.String(); code != exit || !strings.Contains(all, want) {
			t.Errorf("%v: exit %d, want %d and %q\n%s", args, code, exit, want, all)
		}
	}
	conflict, invalid, missing := fault.Conflict.ExitCode(), fault.Invalid.ExitCode(), fault.NotFound.ExitCode()
	does(conflict, "owns", "copy", "--from", path("first"), "--to", path("second"))
	does(0, "2  users", "backup", "--data-dir", path("first"), "--to", path("running.backup"))
	must.Do(t, db.Close())
	does(0, "2  users", "copy", "--from", path("first"), "--to", path("second"))
	does(conflict, "holds data already", "copy", "--from", path("first"), "--to", path("second"))
	does(invalid, "the same store", "copy", "--from", path("first"), "--to", path("first"))
	does(missing, "no shardboard data", "copy", "--from", path("nothing"), "--to", path("third"))
	does(invalid, "belongs to MongoDB", "copy", "--from", path("first"), "--to", "mongodb://127.0.0.1:1/admin")
	does(invalid, "--from-file", "copy", "--to", path("third"))
	does(0, "Restored", "restore", "--data-dir", path("third"), "--from", path("running.backup"))
	does(conflict, "exists already", "backup", "--data-dir", path("first"), "--to", path("running.backup"))
	must.Do(t, os.WriteFile(path("other"), []byte("hello"), 0o600))
	does(invalid, "not a whole backup", "restore", "--data-dir", path("fourth"), "--from", path("other"))
	if _, err := os.Lstat(path("fourth")); err == nil {
		t.Error("a refused restore made the directory")
	}
	third := must.Get(sqlite.Open(t.Context(), path("third")))
	defer third.Close()
	if u, err := third.Users(t.Context()); err != nil || len(u) != 2 {
		t.Errorf("%v, %v", u, err)
	}
}
