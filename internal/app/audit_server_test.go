package app

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/topology"
)

// A server signs its record at the latest when it stops. The next server serves it,
// anybody can verify it, and a directory restored from a backup is detected.
func TestAServerSignsItsAuditRecordAndComparesItWithTheWitness(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, simcluster.Options{Projects: 2, Documents: 20, Still: true}, topology.Options{})
	d.stop(t)
	away := t.TempDir()
	d.config.DataDir, d.config.AuditKey = filepath.Join(away, "data"), filepath.Join(away, "config", "audit.key")
	say := func(n int) {
		d.serve(t)
		for range n {
			if _, err := d.app.current().store.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1"}); err != nil {
				t.Fatal(err)
			}
		}
		d.stop(t)
	}
	say(3)
	old, err := os.ReadFile(filepath.Join(d.config.DataDir, "shardboard.db"))
	if err != nil {
		t.Fatal(err)
	}
	say(2)

	d.serve(t)
	d.waitReady(t)
	if !eventually(30*time.Second, func() bool { return d.app.current().trail.State().Head != nil }) {
		t.Fatal("the server did not verify its record")
	}
	remote, err := ReadRemote(strings.TrimRight(d.app.URL(), "/"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := VerifyAudit(t.Context(), AuditSource{Server: remote}, nil, d.app.current().trail.State().Key)
	if err != nil || v.Records != 5 || v.Head == nil || v.Head.Seq != 5 {
		t.Errorf("unexpected result %+v, error %v", v, err)
	}
	if res, body := d.get(t, "audit"); res.StatusCode != http.StatusOK || !strings.Contains(string(body), "Signed in") {
		t.Errorf("unexpected status %d, body %s", res.StatusCode, body)
	}
	d.stop(t)

	for _, name := range []string{"shardboard.db-wal", "shardboard.db-shm"} {
		_ = os.Remove(filepath.Join(d.config.DataDir, name))
	}
	if err := os.WriteFile(filepath.Join(d.config.DataDir, "shardboard.db"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	d.serve(t)
	d.stop(t) // the check at shutdown is as thorough as the one at start
	if st := d.app.current().trail.State(); st.Break == nil || st.Break.Code != "cut" {
		t.Errorf("unexpected state: %+v", st)
	}
	d.config.AuditKey = filepath.Join(d.config.DataDir, "audit.key")
	if _, err := New(t.Context(), d.config); fault.Of(err) != fault.Invalid ||
		!strings.Contains(fault.Text(err), "inside the data directory") {
		t.Error(err)
	}
	d.config.AuditKey = filepath.Join(away, "config", "audit.key")
}

// Entries of other clusters keep their hashes for an operator, but not what was hashed: to verify such a record is
// refused with a sentence, and is neither a success nor a finding.
func TestARecordWithWithheldEntriesIsNotVerified(t *testing.T) {
	list := []api.AuditRecord{{Seq: 1, What: "login.ok"}, {Seq: 2, What: audit.Withheld}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var body any = api.AuditState{}
		if strings.HasSuffix(r.URL.Path, "/audit") {
			for i := range list {
				e, err := recordOf(api.AuditRecord{Seq: int64(i + 1), What: "login.ok"})
				if err != nil {
					t.Error(err)
				}
				canonical, err := audit.Canonical(e.AuditEntry)
				if err != nil {
					t.Error(err)
				}
				prev := audit.Begin()
				list[i].Prev, list[i].Hash = hex.EncodeToString(prev), hex.EncodeToString(audit.Hash(prev, int64(i+1), canonical))
			}
			body = api.List[api.AuditRecord]{Items: list}
		}
		_ = json.NewEncoder(w).Encode(body)
	}))
	defer server.Close()
	remote, err := ReadRemote(server.URL, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, verify := range map[string]func() error{
		"verify": func() error { _, err := VerifyAudit(t.Context(), AuditSource{Server: remote}, nil, ""); return err },
		"export": func() error { return ExportAudit(t.Context(), AuditSource{Server: remote}, io.Discard) },
	} {
		err := verify()
		if fault.Of(err) != fault.Forbidden || !strings.Contains(fault.Text(err), "Record 2 is about a cluster of which you may not read. "+
			"Only an admin of the server") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
