package site_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/static"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// TestConcurrentRequestsOfAPageRenderItOnce is the moment after a live
// update: every browser of a page re-reads it.
func TestConcurrentRequestsOfAPageRenderItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := webtest.New(t)
		var made atomic.Int64
		gate := make(chan struct{})
		mux := chi.NewRouter()
		mux.Get(
			"/page",
			s.Endpoint(
				site.Route{Method: "GET", Pattern: "/page", Tagged: true, Handler: func(_ *site.Site, w http.ResponseWriter, r *http.Request) error {
					made.Add(1)
					<-gate
					if err := r.Context().Err(); err != nil {
						return err
					}
					if r.URL.Query().Has("fail") {
						return fault.New(fault.NotFound, "gone")
					}
					w.Header().Set("Content-Type", "text/html")
					_, err := w.Write([]byte(strings.Repeat("x", 5000)))
					return err
				}},
			),
		)
		ask := func(target string, ctx context.Context) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", target, nil).WithContext(ctx)
			r.Header.Set("Accept-Encoding", "gzip")
			mux.ServeHTTP(w, r)
			return w
		}
		first, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { ask("/page?a", first) })
		synctest.Wait()
		for range 50 {
			all.Go(func() {
				if w := ask("/page?a", t.Context()); w.Code != 200 || w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() == 0 {
					t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
				}
			})
			all.Go(func() {
				expect.Equal(t, ask("/page?fail", t.Context()).Code, 404, "fail")
			})
		}
		synctest.Wait()
		leave() // the one who came first
		close(gate)
		all.Wait()
		n := made.Load()
		expect.That(t, n == 2, "made %d times for two addresses", n)
	})
}

func TestStaticFilesAreKeptForEver(t *testing.T) {
	s := webtest.New(t)
	assets := static.Assets()
	must.That(t, len(assets) != 0, "no assets")
	for _, a := range assets {
		w := s.Do("GET", a.URL, webtest.Header("Accept-Encoding", "gzip"))
		h := w.Header()
		expect.That(t, w.Code == 200 && h.Get("Cache-Control") == "public, max-age=31536000, immutable" && h.Get("Content-Type") == a.Type &&
			h.Get("X-Content-Type-Options") == "nosniff", "%s: %d %v", a.URL, w.Code, h)
		expect.Equal(t, h.Get("Content-Encoding") == "gzip", a.Gzip != nil, "%s: encoding %q", a.URL, h.Get("Content-Encoding"))
		expect.Equal(t, s.Do("GET", "/static/"+a.Name).Code, 404, "without its hash %s", a.Name)
	}
}
