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

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/keyfile"
	"shardboard/internal/store/sqlite"
)

// signedDirectory returns a data directory with n records and a signed head.
func signedDirectory(t *testing.T, n int) (dir string, db *sqlite.DB, trail auditTrail, log *bytes.Buffer) {
	t.Helper()
	dir = t.TempDir()
	db, err := sqlite.Open(t.Context(), dir)
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for i := range n {
		_, err := db.Append(t.Context(),
			store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1", Subject: strings.Repeat("\xff<", i%3)})
		must.Do(t, err)
	}
	log = &bytes.Buffer{}
	trail, err = keepAudit(db, Config{DataDir: dir, AuditKey: filepath.Join(t.TempDir(), "audit.key"),
		Log: slog.New(slog.NewTextHandler(log, nil))})
	must.Do(t, err)
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
	b, err := json.Marshal(auditing.AuditHead(*h))
	must.Do(t, err)
	return bytes.NewReader(b)
}

func TestTheAuditRecordIsVerifiedFromDirectoryAndExport(t *testing.T) {
	ctx := t.Context()
	dir, _, trail, log := signedDirectory(t, 120)
	st := trail.State()
	var export bytes.Buffer
	must.Do(t, ExportAudit(ctx, AuditSource{DataDir: dir}, &export))
	for name, from := range map[string]func() AuditSource{
		"directory": func() AuditSource { return AuditSource{DataDir: dir} },
		"file":      func() AuditSource { return AuditSource{File: bytes.NewReader(export.Bytes())} },
	} {
		v, err := VerifyAudit(ctx, from(), nil, "")
		expect.That(t, err == nil && v.Records == 120 && v.Head != nil && v.Head.Seq == 120 && v.Noted == 0,
			"%s: unexpected result %+v, error %v", name, v, err)
		for form, head := range map[string]io.Reader{"json": headFile(t, st.Head), "log": bytes.NewReader(log.Bytes())} {
			v, err := VerifyAudit(ctx, from(), head, st.Key)
			expect.That(t, err == nil && v.Noted == 1, "%s with the head as %s: %+v %v", name, form, v, err)
		}
		_, err = VerifyAudit(ctx, from(), nil, "SHA256:other")
		refused.With(t, err, fault.Internal, "another key", "%s: a wrong key is accepted", name)
	}
	lines := bytes.SplitAfter(export.Bytes(), []byte("\n"))
	for name, text := range map[string][]byte{
		"edited":  bytes.Replace(export.Bytes(), []byte(`"by":"user:1"`), []byte(`"by":"user:2"`), 1),
		"deleted": bytes.Join(append(append([][]byte{}, lines[:50]...), lines[51:]...), nil),
		"cut":     bytes.Join(lines[:70], nil),
	} {
		_, err := VerifyAudit(ctx, AuditSource{File: bytes.NewReader(text)}, nil, "")
		refused.With(t, err, fault.Internal, "was changed", "%s", name)
	}
	for name, text := range map[string]string{"no JSON": "x\n", "both": `{"record":{},"head":{}}`, "neither": `{}`,
		"half": string(export.Bytes()[:export.Len()-20]), "late head": string(lines[1]) + string(lines[0])} {
		refused.As(t, must.Err(VerifyAudit(ctx, AuditSource{File: strings.NewReader(text)}, nil, "")), fault.Invalid, "%s", name)
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
	refused.As(t, must.Err(VerifyAudit(ctx, AuditSource{DataDir: shorter}, note, "")), fault.Internal, "VerifyAudit")
	for _, text := range []string{"", "nothing", "{}", `{"seq":1,"hash":"zz"}`, "seq=x hash=" + strings.Repeat("ab", 32),
		`{"seq":0,"hash":"` + strings.Repeat("ab", 32) + `"}`} {
		refused.As(t, must.Err(VerifyAudit(ctx, AuditSource{DataDir: shorter}, strings.NewReader(text), "")), fault.Invalid, "%q", text)
	}
}

func TestVerificationDoesNotCreateADataDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nothing")
	refused.As(t, must.Err(VerifyAudit(t.Context(), AuditSource{DataDir: dir}, nil, "")), fault.NotFound, "VerifyAudit")
	expect.That(t, must.Err(os.Stat(dir)) != nil, "the verification created the directory")
}

func TestAReadOnlyProcessCreatesNoSigningKey(t *testing.T) {
	dir, _, _, _ := signedDirectory(t, 3)
	second, err := sqlite.Open(t.Context(), dir)
	must.That(t, err == nil && !second.Owner(), "%v", err)
	defer second.Close()
	path := filepath.Join(t.TempDir(), "audit.key")
	trail, err := keepAudit(second, Config{DataDir: dir, AuditKey: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil || trail.State().Key != "" || trail.witness == "" { // it compares with the witness all the same
		t.Fatal(trail.witness, err)
	}
	expect.That(t, must.Err(os.Stat(path)) != nil, "a read-only process created a key")
	if _, err := keepAudit(newDatabase(t), Config{AuditKey: filepath.Join(dir, "audit.key"), Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Error("a key outside of another directory is refused:", err)
	}
}

func newDatabase(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// servedRecord is a server whose audit record is made anew for each request, in pages of ten.
func servedRecord(t *testing.T, token string, records func() []api.AuditRecord, head func() *api.AuditHead) Remote {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = api.AuditState{Head: head()}
		if r.URL.Path == "/api/v1/audit" {
			all, after := records(), len(r.URL.Query().Get("cursor")) // its length is the number of records read
			list := api.List[api.AuditRecord]{Items: all[after:min(after+10, len(all))]}
			if after+10 < len(all) {
				list.Next = api.Cursor(strings.Repeat("x", after+10))
			}
			answer = list
			expect.Equal(t, r.URL.Query().Get("order"), "oldest", "%v", r.URL)
		}
		expect.That(t, token == "" || r.Header.Get("Authorization") == "Bearer "+token, "the token is %q", r.Header.Get("Authorization"))
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(srv.Close)
	remote, err := ReadRemote(srv.URL, token, "")
	must.Do(t, err)
	return remote
}

func recordsOf(t *testing.T, trail auditTrail) (list []api.AuditRecord) {
	t.Helper()
	rows, err := trail.AuditRecords(t.Context(), 0, 1000)
	expect.That(t, err == nil, "%v", err)
	for _, rec := range rows {
		list = append(list, auditing.AuditRecord(rec))
	}
	return list
}

func TestTheAuditRecordIsVerifiedOverTheAPI(t *testing.T) {
	_, _, trail, _ := signedDirectory(t, 25)
	remote := servedRecord(t, "sb_secret", func() []api.AuditRecord { return recordsOf(t, trail) },
		func() *api.AuditHead { h := auditing.AuditHead(*trail.State().Head); return &h })
	v, err := VerifyAudit(t.Context(), AuditSource{Server: remote}, nil, "")
	expect.That(t, err == nil && v.Records == 25 && v.Head != nil, "unexpected result %+v, error %v", v, err)
}

// Entries of other clusters keep their hashes for an operator, but not what was hashed: to verify such a record is
// refused with a sentence, and is neither a success nor a finding.
func TestARecordWithWithheldEntriesIsNotVerified(t *testing.T) {
	_, _, trail, _ := signedDirectory(t, 2)
	remote := servedRecord(t, "", func() []api.AuditRecord {
		list := recordsOf(t, trail)
		list[1] = api.AuditRecord{Seq: 2, What: audit.Withheld, Prev: list[1].Prev, Hash: list[1].Hash}
		return list
	}, func() *api.AuditHead { return nil })
	for name, verify := range map[string]func() error{
		"verify": func() error { _, err := VerifyAudit(t.Context(), AuditSource{Server: remote}, nil, ""); return err },
		"export": func() error { return ExportAudit(t.Context(), AuditSource{Server: remote}, io.Discard) },
	} {
		err := verify()
		refused.With(t, err, fault.Forbidden,
			"Record 2 is about a cluster of which you may not read. "+"Only an admin of the server", "%s", name)
	}
}

// callBeforeRead calls a function once, before the first byte is read.
type callBeforeRead struct {
	io.Reader
	first func()
}

func (r *callBeforeRead) Read(p []byte) (int, error) {
	if r.first != nil {
		r.first()
		r.first = nil
	}
	return r.Reader.Read(p)
}

// A running server writes records first and its witness second. A verification reads
// them in the opposite order, so that records written meanwhile do not look like a cut.
// Here the witness is saved at the moment when the record is first read.
func TestAWitnessSavedDuringVerificationIsNotReportedAsACut(t *testing.T) {
	ctx := t.Context()
	dir, db, trail, _ := signedDirectory(t, 5)
	witness := AuditWitness{File: trail.witness}
	// more is what the server does meanwhile: it adds a record and signs like the keeper.
	more := func() {
		r, err := db.Append(ctx, store.AuditEntry{At: time.Now(), What: "login.ok"})
		must.Do(t, err)
		runKeeper(t, trail)
		if h, err := audit.Witness(trail.witness).Head(); err != nil || h.Seq != r.Seq {
			t.Fatal("the witness was not saved again:", h, err)
		}
	}
	var export bytes.Buffer
	must.Do(t, ExportAudit(ctx, AuditSource{DataDir: dir}, &export))
	remote := servedRecord(t, "", func() []api.AuditRecord { list := recordsOf(t, trail); more(); return list },
		func() *api.AuditHead { return nil })
	for _, tc := range []struct {
		name string
		from AuditSource
		want int64
	}{
		{"an export that was made before", AuditSource{File: &callBeforeRead{&export, more}, Witness: witness}, 5},
		{"the directory afterwards", AuditSource{DataDir: dir, Witness: witness}, 6},
		{"over the API, which continues while it answers", AuditSource{Server: remote, Witness: witness}, 6},
		{"over the API again", AuditSource{Server: remote, Witness: witness}, 7},
	} {
		v, err := VerifyAudit(ctx, tc.from, nil, "")
		expect.That(t, err == nil && v.Records == tc.want && v.Witness != nil && v.Witness.Seq == tc.want, "%s: %+v %v", tc.name, v, err)
	}
}

func TestTokensAreSentOnlyOverTLSOrLoopbackAndNotToRedirects(t *testing.T) {
	for server, ok := range map[string]bool{
		"http://shardboard.example": false, "http://127.0.0.1.example": false, "http://192.0.2.1:8090": false, "ftp://localhost": false,
		"http://user@localhost": false, "": false,
		"https://shardboard.example": true, "http://127.0.0.1:8090": true, "http://[::1]:8090/": true, "http://localhost": true,
	} {
		_, err := ReadRemote(server, "sb_x", "")
		expect.Equal(t, err == nil, ok, "%q: unexpected error: %v", server, err)
	}
	expect.NoError(t, must.Err(ReadRemote("http://shardboard.example", "", "")), "plain HTTP without a token is refused")
	refused.As(t, must.Err(ReadRemote("http://localhost", "a\nb", "")), fault.Invalid, "ReadRemote")
	hit := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit = true }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusSeeOther))
	defer srv.Close()
	remote, err := ReadRemote(srv.URL, "sb_x", "")
	must.Do(t, err)
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
	must.Do(t, err)
	if err := remote.Get(t.Context(), "/x", nil); fault.Of(err) != fault.Forbidden || fault.Text(err) != "You are a viewer." {
		t.Error(err)
	}
	status, body = 401, `{"title":"Unauthorized","status":401,"detail":"Sign in."}`
	refused.With(t, remote.Get(t.Context(), "/x", nil), fault.Forbidden, "SHARDBOARD_TOKEN", "Get")
	status, body = 200, "<html>"
	var v any
	refused.As(t, remote.Get(t.Context(), "/x", &v), fault.Unavailable, "Get")
}

// The keys of replicas are mounted secrets; each keeps the last head beside a path of its own.
func TestReplicasSignWithTheKeyThatAllOfThemGet(t *testing.T) {
	given := filepath.Join(t.TempDir(), "audit.key")
	must.Do(t, must.Err(keyfile.Audit.Open(given, "")))
	keys := map[string]bool{}
	for range 2 {
		own := filepath.Join(t.TempDir(), "audit.key")
		trail, err := keepAudit(newDatabase(t), Config{AuditKey: own, AuditKeyFrom: given, Log: slog.New(slog.DiscardHandler)})
		must.Do(t, err)
		keys[trail.State().Key] = true
		expect.That(t, must.Err(os.Stat(own)) != nil, "another key was made")
	}
	expect.That(t, len(keys) == 1 && !keys[""], "keys %v", keys)
	must.Do(t, os.Chmod(given, 0o644))
	_, err := keepAudit(newDatabase(t), Config{AuditKey: given, AuditKeyFrom: given})
	refused.As(t, err, fault.Invalid, "a key that everybody can read")
}
