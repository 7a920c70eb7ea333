package main

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
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
		if _, err := db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1", Subject: "\x1b[31m"}); err != nil {
			t.Fatal(err)
		}
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
	if code != 0 || !strings.Contains(out, "in order. Records: 12;") || !strings.Contains(out, "No signed head was compared") {
		t.Errorf("exit %d %s%s", code, out, errs)
	}
	fits := writeTemp(t, `level=INFO msg="audit head" seq=12 hash=`+hash)
	if code, out, errs := shardboard(t, "audit", "verify", "--data-dir", dir, "--head", fits); code != 0 ||
		!strings.Contains(out, "The head that was given is in it") {
		t.Errorf("exit %d %s%s", code, out, errs)
	}
	later := writeTemp(t, `{"seq":13,"hash":"`+hash+`"}`)
	if code, _, errs := shardboard(t, "audit", "verify", "--data-dir", dir, "--head", later); code != 1 ||
		!strings.Contains(errs, "the last records were deleted") {
		t.Errorf("exit %d %s", code, errs)
	}
	other := writeTemp(t, `{"seq":12,"hash":"`+strings.Repeat("ab", 32)+`"}`)
	if code, _, errs := shardboard(t, "audit", "verify", "--data-dir", dir, "--head", other); code != 1 ||
		!strings.Contains(errs, "the records were rewritten") {
		t.Errorf("exit %d %s", code, errs)
	}
	for _, args := range [][]string{{"--head", "/no/such"}, {"--file", "-", "--head", "-"}, {"--file", fits},
		{"--file", fits, "--data-dir", dir}, {"--head", writeTemp(t, "x")}} {
		if code, _, errs := shardboard(t, append([]string{"audit", "verify"}, args...)...); code != 2 {
			t.Errorf("%v: exit %d %s", args, code, errs)
		}
	}
	if code, _, errs := shardboard(t, "audit", "verify", "--data-dir", filepath.Join(dir, "none")); code != 3 ||
		!strings.Contains(errs, "no shardboard data") {
		t.Errorf("exit %d %s", code, errs)
	}
	if code, _, errs := shardboard(t, "audit", "verify", "--server", "http://127.0.0.1:1"); code != 6 ||
		!strings.Contains(errs, "No server answers") {
		t.Errorf("exit %d %s", code, errs)
	}
}

func TestAuditExportIsJSONLinesThatVerify(t *testing.T) {
	dir, _, _ := recordedDir(t, 12)
	code, out, errs := shardboard(t, "audit", "export", "--data-dir", dir)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 12 {
		t.Fatalf("exit %d, %d lines %s", code, len(lines), errs)
	}
	for _, line := range lines {
		var l api.AuditLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Record == nil || strings.ContainsAny(line, "\x1b") {
			t.Errorf("unexpected line %q, error %v", line, err)
		}
	}
	if code, out, errs := shardboard(t, "audit", "verify", "--file", writeTemp(t, out)); code != 0 || !strings.Contains(out, "Records: 12;") {
		t.Errorf("exit %d %s%s", code, out, errs)
	}
	edited := strings.Replace(out, `"user:1"`, `"user:2"`, 1)
	if code, _, errs := shardboard(t, "audit", "verify", "--file", writeTemp(t, edited)); code != 1 ||
		!strings.Contains(errs, "record 1 was edited") {
		t.Errorf("exit %d %s", code, errs)
	}
}
