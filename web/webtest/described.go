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
	t   testing.TB
	mux *chi.Mux
	doc func() description
}

// description is what is read of /api/openapi.json.
type description struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]any
		}
	}
}

// descriptions keeps what was read. The servers of a test program have one of a few tables of
// routes, with changes and without, of a cluster alone and with the server's own, and there are hundreds of servers.
var descriptions sync.Map

func describedBy(t testing.TB, s *site.Site) *described {
	return &described{t: t, mux: s.Mux, doc: sync.OnceValue(func() (out description) {
		table := [3]bool{s.Deps.Changes.Actions != nil, s.Deps.Place.Base.Prefix != "", s.Deps.Place.Clusters != nil}
		if known, ok := descriptions.Load(table); ok {
			return known.(description)
		}
		if err := json.Unmarshal(s.OpenAPI(), &out); err != nil {
			t.Error(err)
		}
		descriptions.Store(table, out)
		return out
	})}
}

func (d *described) check(r *http.Request, w *httptest.ResponseRecorder) {
	match := chi.NewRouteContext()
	if !d.mux.Match(match, r.Method, r.URL.EscapedPath()) {
		return
	}
	method := strings.ToLower(r.Method)
	if method == "head" {
		method = "get"
	}
	op := d.doc().Paths[match.RoutePattern()][method]
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
