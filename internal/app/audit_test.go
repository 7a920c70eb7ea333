package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	answers "shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/sqlite"
)

// signedDirectory returns a data directory with n records and a signed head.
func signedDirectory(t *testing.T, n int) (dir string, db *sqlite.DB, trail auditTrail, log *bytes.Buffer) {
	t.Helper()
	dir = t.TempDir()
	db, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for i := range n {
		if _, err := db.Append(t.Context(),
			store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1", Subject: strings.Repeat("\xff<", i%3)}); err != nil {
			t.Fatal(err)
		}
	}
	log = &bytes.Buffer{}
	trail, err = keepAudit(db, Config{DataDir: dir, AuditKey: filepath.Join(t.TempDir(), "audit.key"),
		Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	runKeeper(t, trail)
	return dir, db, trail, log
}

// runKeeper starts and stops the keeper, which signs the record.
func runKeeper(t *testing.T, trail auditTrail) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := trail.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func headFile(t *testing.T, h *store.AuditHead) io.Reader {
	t.Helper()
	b, err := json.Marshal(answers.AuditHead(*h))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

func TestTheAuditRecordIsVerifiedFromDirectoryAndExport(t *testing.T) {
	ctx := t.Context()
	dir, _, trail, log := signedDirectory(t, 120)
	st := trail.State()
	var export bytes.Buffer
	if err := ExportAudit(ctx, AuditSource{DataDir: dir}, &export); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]func() AuditSource{
		"directory": func() AuditSource { return AuditSource{DataDir: dir} },
		"file":      func() AuditSource { return AuditSource{File: bytes.NewReader(export.Bytes())} },
	} {
		v, err := VerifyAudit(ctx, from(), nil, "")
		if err != nil || v.Records != 120 || v.Head == nil || v.Head.Seq != 120 || v.Noted != 0 {
			t.Errorf("%s: unexpected result %+v, error %v", name, v, err)
		}
		for form, head := range map[string]io.Reader{"json": headFile(t, st.Head), "log": bytes.NewReader(log.Bytes())} {
			if v, err := VerifyAudit(ctx, from(), head, st.Key); err != nil || v.Noted != 1 {
				t.Errorf("%s with the head as %s: %+v %v", name, form, v, err)
			}
		}
		if _, err := VerifyAudit(ctx, from(), nil, "SHA256:other"); fault.Of(err) != fault.Internal ||
			!strings.Contains(fault.Text(err), "another key") {
			t.Errorf("%s: a wrong key is accepted: %v", name, err)
		}
	}
	lines := bytes.SplitAfter(export.Bytes(), []byte("\n"))
	for name, text := range map[string][]byte{
		"edited":  bytes.Replace(export.Bytes(), []byte(`"by":"user:1"`), []byte(`"by":"user:2"`), 1),
		"deleted": bytes.Join(append(append([][]byte{}, lines[:50]...), lines[51:]...), nil),
		"cut":     bytes.Join(lines[:70], nil),
	} {
		if _, err := VerifyAudit(ctx, AuditSource{File: bytes.NewReader(text)}, nil, ""); fault.Of(err) != fault.Internal ||
			!strings.Contains(fault.Text(err), "was changed") {
			t.Errorf("%s: unexpected error: %v", name, err)
		}
	}
	for name, text := range map[string]string{"no JSON": "x\n", "both": `{"record":{},"head":{}}`, "neither": `{}`,
		"half": string(export.Bytes()[:export.Len()-20]), "late head": string(lines[1]) + string(lines[0])} {
		if _, err := VerifyAudit(ctx, AuditSource{File: strings.NewReader(text)}, nil, ""); fault.Of(err) != fault.Invalid {
			t.Errorf("%s: unexpected error: %v", name, err)
		}
	}
}

func TestAKeptHeadDetectsACutAuditRecord(t *testing.T) {
	ctx := t.Context()
	_, _, trail, _ := signedDirectory(t, 20)
	shorter, _, _, _ := signedDirectory(t, 12)
	_, err := VerifyAudit(ctx, AuditSource{DataDir: shorter}, headFile(t, trail.State().Head), "")
	if fault.Of(err) != fault.Internal || fault.Of(err).ExitCode() != 1 || !strings.Contains(fault.Text(err), "was changed") {
		t.Error(err)
	}
	note := strings.NewReader(`msg="audit head" seq=20 hash=` + strings.Repeat("ab", 32))
	if _, err := VerifyAudit(ctx, AuditSource{DataDir: shorter}, note, ""); fault.Of(err) != fault.Internal {
		t.Error(err)
	}
	for _, text := range []string{"", "nothing", "{}", `{"seq":1,"hash":"zz"}`, "seq=x hash=" + strings.Repeat("ab", 32),
		`{"seq":0,"hash":"` + strings.Repeat("ab", 32) + `"}`} {
		if _, err := VerifyAudit(ctx, AuditSource{DataDir: shorter}, strings.NewReader(text), ""); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: unexpected error: %v", text, err)
		}
	}
}

// The file is changed without the program, as an attacker would.
func TestAnEditedDatabaseIsDetectedAtTheNextStart(t *testing.T) {
	dir, db, _, _ := signedDirectory(t, 30)
	_ = db.Close()
	path := filepath.Join(dir, "shardboard.db")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(text, []byte(`"by":"user:1"`))
	if at < 0 {
		t.Fatal("no audit record found in the file")
	}
	text[at+len(`"by":"user:`)] = '2'
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	trail := auditTrail{again, audit.NewKeeper(again, audit.Options{}), ""}
	runKeeper(t, trail)
	if st := trail.State(); st.Break == nil || st.Break.Code != audit.Changed {
		t.Errorf("unexpected state: %+v", st)
	}
}

func TestVerificationDoesNotCreateADataDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nothing")
	if _, err := VerifyAudit(t.Context(), AuditSource{DataDir: dir}, nil, ""); fault.Of(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the verification created the directory")
	}
}

func TestAReadOnlyProcessCreatesNoSigningKey(t *testing.T) {
	dir, _, _, _ := signedDirectory(t, 3)
	second, err := sqlite.Open(t.Context(), dir)
	if err != nil || second.Owner() {
		t.Fatal(err)
	}
	defer second.Close()
	path := filepath.Join(t.TempDir(), "audit.key")
	trail, err := keepAudit(second, Config{DataDir: dir, AuditKey: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil || trail.State().Key != "" {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a read-only process created a key")
	}
	if _, err := keepAudit(newDatabase(t), Config{AuditKey: filepath.Join(dir, "audit.key"), Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Error("a key outside of another directory is refused:", err)
	}
}

func newDatabase(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestTheAuditRecordIsVerifiedOverTheAPI(t *testing.T) {
	_, _, trail, _ := signedDirectory(t, 25)
	var token string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("Authorization")
		var answer any
		switch r.URL.Path {
		case "/api/v1/audit/head":
			h := answers.AuditHead(*trail.State().Head)
			answer = api.AuditState{Head: &h}
		case "/api/v1/audit":
			after := int64(len(r.URL.Query().Get("cursor"))) // its length is the number of records read
			rows, _ := trail.AuditRecords(r.Context(), after, 10)
			list := api.List[api.AuditRecord]{}
			for _, rec := range rows {
				list.Items = append(list.Items, answers.AuditRecord(rec))
			}
			if after+10 < 25 {
				list.Next = api.Cursor(strings.Repeat("x", int(after)+10))
			}
			if r.URL.Query().Get("order") != "oldest" {
				t.Error(r.URL)
			}
			answer = list
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer srv.Close()
	remote, err := ReadRemote(srv.URL, "sb_secret", "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := VerifyAudit(t.Context(), AuditSource{Server: remote}, nil, "")
	if err != nil || v.Records != 25 || v.Head == nil || token != "Bearer sb_secret" {
		t.Errorf("unexpected result %+v, error %v, token %q", v, err, token)
	}
}

func TestTokensAreSentOnlyOverTLSOrLoopbackAndNotToRedirects(t *testing.T) {
	for server, ok := range map[string]bool{
		"http://shardboard.example": false, "http://127.0.0.1.example": false, "http://192.0.2.1:8090": false, "ftp://localhost": false,
		"http://user@localhost": false, "": false,
		"https://shardboard.example": true, "http://127.0.0.1:8090": true, "http://[::1]:8090/": true, "http://localhost": true,
	} {
		if _, err := ReadRemote(server, "sb_x", ""); (err == nil) != ok {
			t.Errorf("%q: unexpected error: %v", server, err)
		}
	}
	if _, err := ReadRemote("http://shardboard.example", "", ""); err != nil {
		t.Error("plain HTTP without a token is refused:", err)
	}
	if _, err := ReadRemote("http://localhost", "a\nb", ""); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
	hit := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit = true }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusSeeOther))
	defer srv.Close()
	remote, err := ReadRemote(srv.URL, "sb_x", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Get(t.Context(), "/", nil); err == nil || hit {
		t.Error("a redirect was followed", err)
	}
}

func TestErrorsOfTheServerBecomeErrorsOfTheCommand(t *testing.T) {
	status, body := 403, `{"title":"Forbidden","status":403,"detail":"You are a viewer."}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer srv.Close()
	remote, err := ReadRemote(srv.URL, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Get(t.Context(), "/x", nil); fault.Of(err) != fault.Forbidden || fault.Text(err) != "You are a viewer." {
		t.Error(err)
	}
	status, body = 401, `{"title":"Unauthorized","status":401,"detail":"Sign in."}`
	if err := remote.Get(t.Context(), "/x", nil); fault.Of(err) != fault.Forbidden || !strings.Contains(fault.Text(err), "SHARDBOARD_TOKEN") {
		t.Error(err)
	}
	status, body = 200, "<html>"
	var v any
	if err := remote.Get(t.Context(), "/x", &v); fault.Of(err) != fault.Unavailable {
		t.Error(err)
	}
}

// The keys of replicas are mounted secrets; each keeps the last head beside a path of its own.
func TestReplicasSignWithTheKeyThatAllOfThemGet(t *testing.T) {
	given := filepath.Join(t.TempDir(), "audit.key")
	if _, err := audit.OpenKey(given, ""); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for range 2 {
		own := filepath.Join(t.TempDir(), "audit.key")
		trail, err := keepAudit(newDatabase(t), Config{AuditKey: own, AuditKeyFrom: given, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		keys[trail.State().Key] = true
		if _, err := os.Stat(own); err == nil {
			t.Error("another key was made")
		}
	}
	if len(keys) != 1 || keys[""] {
		t.Errorf("keys %v", keys)
	}
	if err := os.Chmod(given, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := keepAudit(newDatabase(t), Config{AuditKey: given, AuditKeyFrom: given}); fault.Of(err) != fault.Invalid {
		t.Errorf("a key that everybody can read: %v", err)
	}
}
