package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
)

// The first line of a failed start explains the damage; the technical cause follows in
// the log.
func TestAFailedStartNamesTheDamagedDatabaseInItsFirstLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "shardboard.db")
	must.Do(t, os.WriteFile(path, []byte("this was a database once"), 0o600))
	const unavailable, found = 6, 1 // audit verify reports damage as a finding
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
			t.Errorf("%s: the next lines are %q", args[0], rest)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "this was a database once" {
		t.Errorf("the file was changed: %q %v", text, err)
	}
}
