package main

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
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
		all := out.String() + said.String()
		expect.That(t, code == exit && strings.Contains(all, want), "%v: exit %d, want %d and %q\n%s", args, code, exit, want, all)
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
	expect.That(t, must.Err(os.Lstat(path("fourth"))) != nil, "a refused restore made the directory")
	third := must.Get(sqlite.Open(t.Context(), path("third")))
	defer third.Close()
	u, err := third.Users(t.Context())
	expect.That(t, err == nil && len(u) == 2, "%v, %v", u, err)
}

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
		expect.Equal(t, args[0] == "serve", strings.Contains(rest, "level=ERROR"), "%s: the next lines are %q", args[0], rest)
	}
	text, err := os.ReadFile(path)
	expect.That(t, err == nil && string(text) == "this was a database once", "the file was changed: %q %v", text, err)
}

func readManifest(t *testing.T, path string) (m manifest) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	must.Do(t, err)
	return m
}

func TestAnExportHasEveryListOfTheCluster(t *testing.T) {
	uri := startCluster(t)
	dir := filepath.Join(t.TempDir(), "out")
	code, out, errs := shardboard(t, "export", "--to", dir, "--uri", uri)
	if code != 0 || !strings.Contains(errs, "not exported: heat: Writes are counted over time, so only a running server knows this.") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	m := readManifest(t, filepath.Join(dir, "manifest.json"))
	expect.That(t, m.Source == "cluster" && m.Cluster != nil && m.Cluster.Shards == 3 && len(m.Missing) == 3, "%+v", m)
	for _, p := range m.Parts {
		for _, name := range p.Files {
			text := must.Get(os.ReadFile(filepath.Join(dir, name)))
			expect.That(t, !strings.HasSuffix(name, ".json") || json.Valid(text), "%s is no JSON", name)
			rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
			expect.That(t, !strings.HasSuffix(name, ".csv") || err == nil && len(rows) > p.Rows,
				"%s: %d lines of %d rows, %v", name, len(rows), p.Rows, err)
			info, err := os.Stat(filepath.Join(dir, name))
			expect.That(t, err == nil && info.Mode().Perm() == 0o600, "%s: %v", name, info.Mode())
		}
	}
	says(t, 4, "is not empty", "export", "--to", dir, "--uri", uri)
	file := dir + ".zip"
	code, _, errs = shardboard(t, "export", "--to", file, "--uri", uri)
	must.That(t, code == 0, "exit %d: %s", code, errs)
	z, err := zip.OpenReader(file)
	must.Do(t, err)
	defer z.Close()
	files := 1
	for _, p := range m.Parts {
		files += len(p.Files)
	}
	if len(z.File) != files || z.File[0].Name != "manifest.json" {
		t.Errorf("%d files of %d, the first %s", len(z.File), files, z.File[0].Name)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	expect.That(t, err == nil && len(entries) == 2, "left behind: %v %v", entries, err)
}

// A collection's name can be anything: files stay in their directory. What a server does not answer is
// named, and everything else is there.
func TestAnExportNamesWhatCouldNotBeRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/zones"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.HasSuffix(r.URL.Path, "/runs"):
			w.WriteHeader(http.StatusNotFound)
		case strings.HasSuffix(r.URL.Path, "/collections"):
			fmt.Fprint(w, `{"items":[{"ns":"../../../evil.x","sharded":true,"chunks":1},{"ns":"..|..|..|evil.x","sharded":true,"chunks":1}],"next":null}`)
		case strings.HasSuffix(r.URL.Path, "/cluster"):
			fmt.Fprint(w, `{"clusterId":"c"}`)
		default:
			fmt.Fprint(w, `{"items":[],"bands":[],"next":null}`)
		}
	}))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "a", "out")
	must.Do(t, os.Mkdir(filepath.Dir(dir), 0o700))
	code, _, errs := shardboard(t, "export", "--to", dir, "--server", s.URL)
	m := readManifest(t, filepath.Join(dir, "manifest.json"))
	if code != 6 || len(m.Missing) != 2 || m.Missing[0].Name != "zones" || m.Missing[0].Kind != "unavailable" || m.Missing[1].Name != "runs" {
		t.Errorf("exit %d, %+v\n%s", code, m.Missing, errs)
	}
	files, err := os.ReadDir(filepath.Join(dir, "chunks"))
	expect.That(t, err == nil && len(files) == 4, "files of chunks: %v, %v", files, err)
}
