package app

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	answers "shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/sqlite"
)

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
	dir, db, trail, _ := signedDirectory(t, 20)
	witness := trail.witness
	if witness == "" {
		t.Fatal("no witness")
	}
	// more is what the server does meanwhile: it adds a record and signs like the keeper.
	more := func() {
		r, err := db.Append(ctx, store.AuditEntry{At: time.Now(), What: "login.ok"})
		if err != nil {
			t.Fatal(err)
		}
		runKeeper(t, trail)
		if h, err := audit.Witness(witness).Head(); err != nil || h.Seq != r.Seq {
			t.Fatal("the witness was not saved again:", h, err)
		}
	}
	var export bytes.Buffer
	if err := ExportAudit(ctx, AuditSource{DataDir: dir}, &export); err != nil {
		t.Fatal(err)
	}
	file := AuditSource{File: &callBeforeRead{&export, more}, Witness: AuditWitness{File: witness}}
	if v, err := VerifyAudit(ctx, file, nil, ""); err != nil || v.Records != 20 || v.Witness == nil || v.Witness.Seq != 20 {
		t.Errorf("an export that was made before: %+v %v", v, err)
	}
	again := AuditSource{DataDir: dir, Witness: AuditWitness{File: witness}}
	if v, err := VerifyAudit(ctx, again, nil, ""); err != nil || v.Records != 21 || v.Witness.Seq != 21 {
		t.Errorf("the directory afterwards: %+v %v", v, err)
	}

	// The answer is determined, then the server continues, then the answer is sent.
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = api.AuditState{}
		if r.URL.Path == "/api/v1/audit" {
			rows, err := db.AuditRecords(r.Context(), 0, 1000)
			if err != nil {
				t.Error(err)
			}
			list := api.List[api.AuditRecord]{}
			for _, rec := range rows {
				list.Items = append(list.Items, answers.AuditRecord(rec))
			}
			answer = list
			more()
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer srv.Close()
	remote, err := ReadRemote(srv.URL, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := VerifyAudit(ctx, AuditSource{Server: remote, Witness: AuditWitness{File: witness}}, nil, ""); err != nil || v.Records != 21 ||
		v.Witness.Seq != 21 {
		t.Errorf("over the API: %+v %v", v, err)
	}
	if v, err := VerifyAudit(ctx, AuditSource{Server: remote, Witness: AuditWitness{File: witness}}, nil, ""); err != nil ||
		v.Witness.Seq != 22 {
		t.Errorf("over the API again: %+v %v", v, err)
	}
}

// A read-only process also compares with the witness, but signs nothing.
func TestAReadOnlyProcessComparesWithTheWitness(t *testing.T) {
	dir, db, trail, _ := signedDirectory(t, 12)
	second := readOnlyTrail(t, dir, trail)
	runKeeper(t, second)
	if st := second.State(); st.Trouble() != nil || st.End.Seq != 12 || st.Key != "" {
		t.Fatalf("unexpected state %+v, trouble %v", st, st.Trouble())
	}
	if _, err := db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil {
		t.Fatal(err)
	}
	runKeeper(t, trail)
	runKeeper(t, second)
	if st := second.State(); st.Trouble() != nil || st.End.Seq != 13 || st.Head.Seq != 13 {
		t.Fatalf("unexpected state %+v, trouble %v", st, st.Trouble())
	}
	runSQL(t, dir, `DELETE FROM audit WHERE seq > 11`, `DELETE FROM audit_heads`)
	third := readOnlyTrail(t, dir, trail)
	runKeeper(t, third)
	if st := third.State(); st.Break == nil || st.Break.Code != audit.Cut || !st.Break.Witness {
		t.Errorf("unexpected state: %+v", st)
	}
	runKeeper(t, second)
	if st := second.State(); st.Break == nil || st.Break.Code != audit.Cut || st.Break.Found != 11 {
		t.Errorf("unexpected finding: %+v", st.Break)
	}
}

// readOnlyTrail is the audit trail of another process, which reads the same data.
func readOnlyTrail(t *testing.T, dir string, first auditTrail) auditTrail {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dir)
	if err != nil || db.Owner() {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	key := first.witness[:strings.Index(first.witness, "audit.key")+len("audit.key")]
	trail, err := keepAudit(db, Config{DataDir: dir, AuditKey: key, Log: slog.New(slog.DiscardHandler)})
	if err != nil || trail.witness != first.witness {
		t.Fatal(trail.witness, err)
	}
	return trail
}

// runSQL changes the data without the program.
func runSQL(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "shardboard.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
}
