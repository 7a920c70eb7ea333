package webtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/api"
)

// CheckProblem checks the shape of RFC 9457.
func CheckProblem(t *testing.T, w *httptest.ResponseRecorder, address string) {
	t.Helper()
	var p map[string]any
	path, _, _ := strings.Cut(address, "?")
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != api.ProblemType {
		t.Errorf("%.80s is no problem: %v %s", address, err, w.Header().Get("Content-Type"))
	}
	if p["type"] != "about:blank" || p["title"] != http.StatusText(w.Code) || p["status"] != float64(w.Code) || p["instance"] != path ||
		p["detail"] == "" || p["request"] != w.Header().Get("X-Request-ID") ||
		len(p) != 6 {
		t.Errorf("%.80s: %v", address, p)
	}
}
