package webtest

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/web/site"
)

// described holds a site to its own description: every answer that a test gets
// has a status and a media type that /api/openapi.json gives for its route.
type described struct {
	t    testing.TB
	mux  *chi.Mux
	once sync.Once
	raw  []byte
	doc  struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]any
			}
		}
	}
}

func describedBy(t testing.TB, s *site.Site) *described {
	return &described{t: t, mux: s.Mux, raw: s.OpenAPI}
}

func (d *described) check(r *http.Request, w *httptest.ResponseRecorder) {
	d.once.Do(func() {
		if err := json.Unmarshal(d.raw, &d.doc); err != nil {
			d.t.Error(err)
		}
	})
	match := chi.NewRouteContext()
	if !d.mux.Match(match, r.Method, r.URL.EscapedPath()) {
		return
	}
	method := strings.ToLower(r.Method)
	if method == "head" {
		method = "get"
	}
	op := d.doc.Paths[match.RoutePattern()][method]
	answer, ok := op.Responses[strconv.Itoa(w.Code)]
	if !ok && w.Code >= 400 {
		answer, ok = op.Responses["default"]
	}
	if !ok {
		d.t.Errorf("%s %s answers %d, which its description does not have", r.Method, match.RoutePattern(), w.Code)
		return
	}
	media, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if _, known := answer.Content[media]; !known && (len(answer.Content) > 0 || media != "") {
		d.t.Errorf("%s %s answers %d with %q, which its description does not have", r.Method, match.RoutePattern(), w.Code, media)
	}
}
