package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"shardboard/internal/memory"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// Pages say what was given up, past times are the first to be refused of what they show, and the newest stays.
func TestPagesSayWhatIsGivenUpForMemory(t *testing.T) {
	heap := int64(0)
	guard := memory.NewGuard(memory.Limit{Bytes: 1000 << 20, From: "--memory-limit"}, func() int64 { return heap }, func() {}, time.Now)
	s := webtest.New(t, webtest.WithHistory(t), func(d *site.Deps) { d.Store.Memory = guard })
	past := "/collections?at=" + webtest.Epoch.Add(-30*time.Minute).UTC().Format(time.RFC3339)
	for _, tc := range []struct {
		heap int64
		past int
		says string
	}{{100, http.StatusOK, ""}, {620, http.StatusOK, "no rows are read"}, {700, http.StatusServiceUnavailable, "past times are not shown"},
		{760, http.StatusServiceUnavailable, "pages are slower"}, {900, http.StatusServiceUnavailable, "routing tables do not grow"},
		{100, http.StatusOK, ""}} {
		heap = tc.heap << 20
		if w := s.Do("GET", past); w.Code != tc.past {
			t.Errorf("%d MiB: %d for the past", tc.heap, w.Code)
		}
		for _, path := range []string{"/collections", "/readyz"} {
			w := s.Do("GET", path)
			text := w.Body.String()
			if w.Code != http.StatusOK || !strings.Contains(text, tc.says) || strings.Contains(text, "Memory is short") != (tc.says != "") {
				t.Errorf("%d MiB: %s: %d %.300s", tc.heap, path, w.Code, text)
			}
		}
	}
}
