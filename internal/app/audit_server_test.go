package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// A server signs its record at the latest when it stops. The next server serves it,
// anybody can verify it, and a directory restored from a backup is detected.
func TestAServerSignsItsAuditRecordAndComparesItWithTheWitness(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d := startDemo(t, simcluster.Options{Projects: 2, Documents: 20, Still: true}, topology.Options{})
	d.stop(t)
	away := t.TempDir()
	d.config.DataDir, d.config.AuditKey = filepath.Join(away, "data"), filepath.Join(away, "config", "audit.key")
	say := func(n int) {
		d.serve(t)
		for range n {
			must.Do(t, must.Err(d.app.current().store.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1"})))
		}
		d.stop(t)
	}
	say(3)
	old := must.Get(os.ReadFile(filepath.Join(d.config.DataDir, "shardboard.db")))
	say(2)

	d.serve(t)
	d.waitReady(t)
	must.That(t, eventually(settledWithin, func() bool { return d.app.current().trail.State().Head != nil }),
		"the server did not verify its record")
	remote, err := ReadRemote(strings.TrimRight(d.app.URL(), "/"), "", "")
	must.Do(t, err)
	v, err := VerifyAudit(t.Context(), AuditSource{Server: remote}, nil, d.app.current().trail.State().Key)
	expect.That(t, err == nil && v.Records == 6 && v.Head != nil && v.Head.Seq == 6, "unexpected result %+v, error %v", v, err)
	if res, body := d.get(t, "audit"); res.StatusCode != http.StatusOK || !strings.Contains(string(body), "Signed in") {
		t.Errorf("unexpected status %d, body %s", res.StatusCode, body)
	}
	d.stop(t)

	for _, name := range []string{"shardboard.db-wal", "shardboard.db-shm"} {
		_ = os.Remove(filepath.Join(d.config.DataDir, name))
	}
	must.Do(t, os.WriteFile(filepath.Join(d.config.DataDir, "shardboard.db"), old, 0o600))
	d.serve(t)
	d.stop(t) // the check at shutdown is as thorough as the one at start
	st := d.app.current().trail.State()
	expect.That(t, st.Break != nil && st.Break.Code == "cut", "unexpected state: %+v", st)
	d.config.AuditKey = filepath.Join(d.config.DataDir, "audit.key")
	refused.With(t, must.Err(New(t.Context(), d.config)), fault.Invalid, "inside the data directory", "New")
	d.config.AuditKey = filepath.Join(away, "config", "audit.key")
}
