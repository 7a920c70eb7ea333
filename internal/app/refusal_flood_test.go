package app

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
)

// Refused requests behind a proxy, and as many cross-site ones, are counted in a few records, which are written and
// signed at the latest at shutdown.
func TestAFloodOfRefusedRequestsMakesFewSignedRecords(t *testing.T) {
	away := t.TempDir()
	c := Config{Listen: "127.0.0.1:0", DataDir: filepath.Join(away, "data"), AuditKey: filepath.Join(away, "config", "audit.key"),
		Auth: Auth{Mode: "local", ProxyCIDRs: []string{"127.0.0.1"}}}
	a := stillDemo().startBeside(t, c)
	handler := a.current().only.now().web.Handler()
	const addresses, each = 20, 31
	for i := range addresses * each * 2 {
		r := httptest.NewRequest("POST", "http://localhost/api/v1/tokens", strings.NewReader("{}"))
		r.RemoteAddr = "127.0.0.1:9"
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.100.%d", i/2%addresses+1))
		r.Header.Set("Authorization", "Bearer sb_wrong")
		if i%2 == 1 {
			r.Header.Set("Origin", "https://evil.example")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		must.That(t, w.Code == 401 || w.Code == 403 || w.Code == 429, "%v %v", w.Code, w.Body)
	}
	must.Do(t, a.Stop(t.Context()))
	db := must.Get(sqlite.Open(t.Context(), c.DataDir))
	defer db.Close()
	rows, err := db.AuditRecords(t.Context(), 0, 10_000)
	must.Do(t, err)
	counts := map[string]int{}
	for _, r := range rows {
		n := 1
		if text := r.Details["count"]; text != "" {
			n = must.Get(strconv.Atoi(text))
			expect.That(t, r.Details["addresses"] != "", "unexpected record: %+v", r)
		}
		counts[r.What] += n
	}
	expect.That(t, len(rows) <= 10 && counts["login.refused"] == addresses*(each-1) && counts["login.limited"] == addresses &&
		counts["access.refused"] == addresses*each, "%d records: %v", len(rows), counts)
	var head *store.AuditHead
	head, err = db.LastHead(t.Context())
	expect.That(t, err == nil && head != nil && head.Seq == rows[len(rows)-1].Seq, "the end is not signed: %+v, %v", head, err)
}
