package app

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// 6,200 requests from 200 addresses behind a proxy, and as many cross-site requests, are
// counted in a few records, which are written and signed at the latest at shutdown.
func TestAFloodOfRefusedRequestsMakesFewSignedRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, simcluster.Options{Projects: 2, Documents: 20, Still: true}, topology.Options{})
	d.stop(t)
	away := t.TempDir()
	d.config.DataDir, d.config.AuditKey = filepath.Join(away, "data"), filepath.Join(away, "config", "audit.key")
	d.config.Demo, d.config.Auth.Mode, d.config.Auth.ProxyCIDRs = false, "local", []string{"127.0.0.1"}
	d.serve(t)
	handler := d.app.current().cluster.web.Handler()
	const addresses, each = 200, 31
	for range each {
		for i := range addresses {
			from := fmt.Sprintf("198.51.100.%d", i+1)
			for _, foreign := range []bool{false, true} {
				r := httptest.NewRequest("POST", "http://localhost/api/v1/tokens", strings.NewReader("{}"))
				r.RemoteAddr = "127.0.0.1:9"
				r.Header.Set("X-Forwarded-For", from)
				r.Header.Set("Authorization", "Bearer sb_wrong")
				if foreign {
					r.Header.Set("Origin", "https://evil.example")
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != 401 && w.Code != 403 && w.Code != 429 {
					t.Fatal(w.Code, w.Body)
				}
			}
		}
	}
	d.stop(t)

	db, err := sqlite.Open(t.Context(), d.config.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.AuditRecords(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, r := range rows {
		n := 1
		if text := r.Details["count"]; text != "" {
			if n, err = strconv.Atoi(text); err != nil {
				t.Fatal(err)
			}
			if r.Details["addresses"] == "" {
				t.Errorf("unexpected record: %+v", r)
			}
		}
		counts[r.What] += n
	}
	if len(rows) > 10 || counts["login.refused"] != addresses*(each-1) || counts["login.limited"] != addresses ||
		counts["access.refused"] != addresses*each {
		t.Errorf("%d records: %v", len(rows), counts)
	}
	var head *store.AuditHead
	if head, err = db.LastHead(t.Context()); err != nil || head == nil || head.Seq != rows[len(rows)-1].Seq {
		t.Errorf("the end is not signed: %+v, %v", head, err)
	}
}
