package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with the data is the first line of a failed start; the technical cause
// comes after it, in the log.
func TestAFailedStartNamesTheDamagedDatabaseInItsFirstLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "shardboard.db")
	if err := os.WriteFile(path, []byte("this was a database once"), 0o600); err != nil {
		t.Fatal(err)
	}
	const unavailable, found = 6, 1 // damage is what audit verify looks for
	for _, args := range [][]string{
		{"serve", "--uri", "mongodb://127.0.0.1:1/", "--listen", "127.0.0.1:0", "--audit-key", filepath.Join(t.TempDir(), "k"),
			"--data-dir", dir},
		{"user", "list", "--data-dir", dir},
		{"audit", "verify", "--data-dir", dir},
	} {
		code, _, errs := shardboard(t, args...)
		first, rest, _ := strings.Cut(errs, "\n")
		want, begins := unavailable, "shardboard: "
		if args[0] == "audit" {
			want, begins = found, "shardboard: The audit record is damaged. "
		}
		if code != want || !strings.HasPrefix(first, begins+path+" is not a database") || !strings.Contains(first, "mv "+path) ||
			!strings.Contains(first, "backup") {
			t.Errorf("%s: exit %d: %s", args[0], code, first)
		}
		if served := args[0] == "serve"; served != strings.Contains(rest, "level=ERROR") {
			t.Errorf("%s: then comes %q", args[0], rest)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "this was a database once" {
		t.Errorf("the file was changed: %q %v", text, err)
	}
}
