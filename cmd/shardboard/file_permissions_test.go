package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
)

func TestFilesOpenToOthersAreRefusedWithTheCommandThatFixesThem(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		must.Do(t, os.Chmod(path, mode))
		return path
	}
	const uri = "mongodb://dash:s3cr3t@127.0.0.1:1/"
	secret, wide := file("open secret", "s3cr3t\n", 0o644), file("wide", "tenants: []\n", 0o666)
	address := file("uri", uri, 0o644)
	good := passwordFile(t, "correct horse battery")
	data := filepath.Join(dir, "data")
	must.Do(t, os.Mkdir(data, 0o700))
	must.Do(t, os.Chmod(data, 0o777))
	serve := []string{"serve", "--uri", "mongodb://127.0.0.1:1", "--listen", "127.0.0.1:0",
		"--audit-key", filepath.Join(dir, "keys", "audit.key"), "--data-dir", filepath.Join(dir, "own")}
	mend := "chmod 600 '" + secret + "'"
	for _, c := range []struct {
		says string
		env  string
		args []string
	}{
		{"chmod 600 " + address, "", []string{"doctor", "--uri-file", address}},
		{"chmod 600 " + address, "SHARDBOARD_URI_FILE=" + address, []string{"locate", "x"}},
		{"chmod go-w " + wide, "", []string{"locate", "x", "--uri", "mongodb://127.0.0.1:1", "--profile", wide}},
		{mend, "SHARDBOARD_TOKEN_FILE=" + secret, []string{"runs"}},
		{mend, "", []string{"user", "add", "anna", "--password-file", secret, "--data-dir", filepath.Join(dir, "own")}},
		{mend, "", []string{"simcluster", "--auth", "--user-file", secret}},
		{"chmod go-w " + wide, "",
			[]string{"user", "add", "anna", "--password-file", good, "--leaked-passwords", wide, "--data-dir", filepath.Join(dir, "own")}},
		{"chmod go-w " + wide, "", append(serve[:len(serve):len(serve)], "--alerts", wide)},
		{"chmod 700 " + data, "", []string{"user", "list", "--data-dir", data}},
		{"chmod 700 " + data, "", []string{"audit", "verify", "--data-dir", data}},
	} {
		t.Run(c.says+" "+c.args[0], func(t *testing.T) {
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			code, out, errs := shardboard(t, c.args...)
			if code != 2 || !strings.Contains(errs, c.says) || strings.Contains(out+errs, "s3cr3t") {
				t.Errorf("exit %d, %q; expected exit 2 and %q", code, errs, c.says)
			}
		})
	}
}

// For example --uri-file <(pass show mongodb).
func TestAURIIsReadFromAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	if _, err := w.WriteString("http://not-mongodb/\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	path := "/dev/fd/" + strconv.Itoa(int(r.Fd()))
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /dev/fd")
	}
	if code, _, errs := shardboard(t, "doctor", "--uri-file", path); code != 2 || !strings.Contains(errs, "must begin with mongodb://") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
