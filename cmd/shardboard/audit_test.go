package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/keyfile"
	"shardboard/internal/store/sqlite"
)

// recordedDir returns a data directory with n records, and the number and hash of the
// last one.
func recordedDir(t *testing.T, n int) (dir string, seq int64, hash string) {
	t.Helper()
	dir = t.TempDir()
	db := must.Get(sqlite.Open(t.Context(), dir))
	defer db.Close()
	for range n {
		must.Do(t, must.Err(db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1", Subject: "\x1b[31m"})))
	}
	seq, end, err := db.AuditEnd(t.Context())
	must.Do(t, err)
	return dir, seq, hex.EncodeToString(end)
}

func writeTemp(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kept")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestAuditVerifyExitsWith0Or1AndAnExplanation(t *testing.T) {
	dir, _, hash := recordedDir(t, 12)
	code, out, errs := shardboard(t, "audit", "verify", "--data-dir", dir)
	expect.That(t, code == 0 && strings.Contains(out, "in order. Records: 12;") && strings.Contains(out, "No signed head was compared"),
		"exit %d %s%s", code, out, errs)
	fits := writeTemp(t, `level=INFO msg="audit head" seq=12 hash=`+hash)
	says(t, 0, "The head that was given is in it", "audit", "verify", "--data-dir", dir, "--head", fits)
	later := writeTemp(t, `{"seq":13,"hash":"`+hash+`"}`)
	says(t, 1, "the last records were deleted", "audit", "verify", "--data-dir", dir, "--head", later)
	other := writeTemp(t, `{"seq":12,"hash":"`+strings.Repeat("ab", 32)+`"}`)
	says(t, 1, "the records were rewritten", "audit", "verify", "--data-dir", dir, "--head", other)
	for _, args := range [][]string{{"--head", "/no/such"}, {"--file", "-", "--head", "-"}, {"--file", fits},
		{"--file", fits, "--data-dir", dir}, {"--head", writeTemp(t, "x")}} {
		code, _, errs := shardboard(t, append([]string{"audit", "verify"}, args...)...)
		expect.That(t, code == 2, "%v: exit %d %s", args, code, errs)
	}
	says(t, 3, "no shardboard data", "audit", "verify", "--data-dir", filepath.Join(dir, "none"))
	says(t, 6, "No server answers", "audit", "verify", "--server", "http://127.0.0.1:1")
}

func TestAuditExportIsJSONLinesThatVerify(t *testing.T) {
	dir, _, _ := recordedDir(t, 12)
	code, out, errs := shardboard(t, "audit", "export", "--data-dir", dir)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	must.That(t, code == 0 && len(lines) == 12, "exit %d, %d lines %s", code, len(lines), errs)
	for _, line := range lines {
		var l api.AuditLine
		err := json.Unmarshal([]byte(line), &l)
		expect.That(t, err == nil && l.Record != nil && !strings.ContainsAny(line, "\x1b"), "unexpected line %q, error %v", line, err)
	}
	says(t, 0, "Records: 12;", "audit", "verify", "--file", writeTemp(t, out))
	edited := strings.Replace(out, `"user:1"`, `"user:2"`, 1)
	says(t, 1, "record 1 was edited", "audit", "verify", "--file", writeTemp(t, edited))
}

// signedDir adds n records to a data directory and signs the last one with the key, in
// the data and in the witness file, like a server.
func signedDir(t *testing.T, dir, key string, n int) (witness string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dir)
	must.Do(t, err)
	defer db.Close()
	for range n {
		must.Do(t, must.Err(db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1"})))
	}
	o := audit.Options{}
	o.Key, err = keyfile.Audit.Open(key, dir)
	must.Do(t, err)
	o.Witness, err = audit.WitnessOf(key, dir)
	must.Do(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	k := audit.NewKeeper(db, o)
	_ = k.Run(ended)
	must.That(t, k.State().Head != nil, "unexpected state: %+v", k.State())
	return string(o.Witness)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	must.Do(t, err)
}

// An older copy of the directory is consistent, including its heads. Only the witness
// shows that it is older.
func TestAuditVerifyDetectsARestoredDirectoryByTheWitness(t *testing.T) {
	dir := t.TempDir()
	data, key, db := filepath.Join(dir, "data"), filepath.Join(dir, "config", "audit.key"), filepath.Join(dir, "data", "shardboard.db")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "elsewhere"))
	signedDir(t, data, key, 5)
	copyFile(t, db, filepath.Join(dir, "old.db"))
	witness := signedDir(t, data, key, 3)
	verify := func(args ...string) (int, string) {
		code, out, errs := shardboard(t, append([]string{"audit", "verify", "--data-dir", data}, args...)...)
		return code, out + errs
	}
	for _, args := range [][]string{{"--audit-key", key}, {"--witness", witness}} {
		if code, text := verify(args...); code != 0 || !strings.Contains(text, "The witness file "+witness+" agrees: its head of record 8") {
			t.Errorf("%v: exit %d %s", args, code, text)
		}
	}
	t.Setenv("SHARDBOARD_AUDIT_KEY", key)
	code, text := verify()
	expect.That(t, code == 0 && strings.Contains(text, witness+" agrees"), "exit %d %s", code, text)
	_, export, _ := shardboard(t, "audit", "export", "--data-dir", data)

	copyFile(t, filepath.Join(dir, "old.db"), db)
	for _, args := range [][]string{{}, {"--audit-key", key}, {"--witness", witness}} {
		code, text := verify(args...)
		expect.That(t, code == 1 && strings.Contains(text, "the records end at 5, but there was a record 8") &&
			strings.Contains(text, "in the witness file") &&
			strings.Contains(text, witness), "%v: exit %d %s", args, code, text)
	}
	_, older, _ := shardboard(t, "audit", "export", "--data-dir", data)
	for text, want := range map[string]int{export: 0, older: 1} {
		for _, args := range [][]string{{"--audit-key", key}, {"--witness", witness}} {
			code, out, errs := shardboard(t, append([]string{"audit", "verify", "--file", writeTemp(t, text)}, args...)...)
			expect.That(t, code == want, "%v: exit %d, want %d: %s%s", args, code, want, out, errs)
		}
	}
	t.Setenv("SHARDBOARD_AUDIT_KEY", "")
	if code, text := verify(); code != 0 || !strings.Contains(text, "No witness file was found at "+filepath.Join(dir, "elsewhere")) ||
		!strings.Contains(text, "does not show whether the record was cut or replaced") {
		t.Errorf("the output does not say that the check is incomplete without the witness: exit %d %s", code, text)
	}
	says(t, 0, "No witness file was compared", "audit", "verify", "--file", writeTemp(t, older))
}

func TestAuditVerifyExplainsProblemsOfAWitness(t *testing.T) {
	dir := t.TempDir()
	data, key := filepath.Join(dir, "data"), filepath.Join(dir, "audit.key")
	good := signedDir(t, data, key, 5)
	other := signedDir(t, filepath.Join(dir, "other"), filepath.Join(dir, "other.key"), 9)
	text := must.Get(os.ReadFile(good))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"missing":   {[]string{"--witness", filepath.Join(dir, "none")}, 2, "There is no witness file " + dir},
		"directory": {[]string{"--witness", dir}, 2, "cannot be read"},
		"empty":     {[]string{"--witness", writeTemp(t, "")}, 2, "is damaged"},
		"no JSON":   {[]string{"--witness", writeTemp(t, "seq=5")}, 2, "is damaged"},
		"half":      {[]string{"--witness", writeTemp(t, string(text[:len(text)/2]))}, 2, "is damaged"},
		"no head":   {[]string{"--witness", writeTemp(t, "{}")}, 2, "is damaged"},
		"forged": {[]string{"--witness", writeTemp(t, strings.Replace(string(text), `"seq":5`, `"seq":4`, 1))}, 1,
			"was changed: the signature"},
		"another chain's": {[]string{"--witness", other}, 1, "the records end at 5, but there was a record 9"},
		"another key":     {[]string{"--witness", good, "--key", "SHA256:other"}, 1, "signed by another key"},
		"no key there":    {[]string{"--audit-key", filepath.Join(dir, "none.key")}, 2, "There is no audit key at"},
		"both":            {[]string{"--audit-key", key, "--witness", good}, 2, "not both"},
		"key of another":  {[]string{"--audit-key", filepath.Join(dir, "other.key")}, 0, "No witness file was found at"},
		"good":            {[]string{"--witness", good}, 0, "agrees"},
	} {
		code, out, errs := shardboard(t, append([]string{"audit", "verify", "--data-dir", data}, c.args...)...)
		expect.That(t, code == c.code && strings.Contains(out+errs, c.says), "%s: exit %d %s%s", name, code, out, errs)
	}
	_, export, _ := shardboard(t, "audit", "export", "--data-dir", data)
	file := writeTemp(t, export)
	copyFile(t, good, key+".00000000.head")
	says(t, 2, "There are 2 witness files", "audit", "verify", "--file", file, "--audit-key", key)
	bare := filepath.Join(dir, "bare.key")
	copyFile(t, key, bare)
	says(t, 2, "There is no witness file beside", "audit", "verify", "--file", file, "--audit-key", bare)
	if os.Getuid() == 0 {
		return // root can read everything
	}
	must.Do(t, os.Chmod(good, 0))
	says(t, 2, "cannot be read", "audit", "verify", "--data-dir", data, "--witness", good)
}
