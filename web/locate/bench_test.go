package locate_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/web/locate"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// locateSite is a site over canned tables with the real locator, and beside
// its own routes /api/v1/constant, which always answers as to the first key: no
// address under the same router, with the same checks, log line and metrics,
// can say the same for less. It logs as the program does, to nowhere.
func locateSite(tb testing.TB) http.Handler {
	s := webtest.New(tb, func(d *site.Deps) {
		d.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
		d.Now = time.Now
	})
	s.Deps.Locate.Locator = realLocator(s)
	mux := s.Router(site.Complete(locate.Routes))
	same := s.Do("GET", keyAddress(0)).Body.Bytes()
	constant := func(_ *site.Site, w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, err := w.Write(same)
		return err
	}
	mux.Method("GET", "/api/v1/constant", s.Endpoint(site.Route{Method: "GET", Pattern: "/api/v1/constant", Handler: constant}))
	return s.Outside(mux)
}

// realLocator answers from the site's canned table and has no cluster to ask.
func realLocator(s *webtest.Server) *placement.Locator {
	return placement.NewLocator(nil, s.Watcher, s.Keeper, profile.Yorkie())
}

// keyAddress asks for the n-th key of the hashed collection.
func keyAddress(n int) string {
	return "/api/v1/locate?ns=yorkie-meta.changes&key=" + url.QueryEscape(fmt.Sprintf(`{"doc_id":{"$oid":"65e0%020x"}}`, n))
}

// BenchmarkLocateByKey compares GET /api/v1/locate?ns=&key= with a constant
// JSON answer on the same server, in turns of 100 whose medians make the ratio
// of requests per second.
func BenchmarkLocateByKey(b *testing.B) {
	site := locateSite(b)
	direct := func(address string) {
		r := httptest.NewRequest("GET", address, nil)
		r.Host = "localhost:8090"
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		must.That(b, w.Code == http.StatusOK, "%s: %d %s", address, w.Code, w.Body)
	}
	server := httptest.NewServer(site)
	defer server.Close()
	client := server.Client()
	loopback := func(address string) {
		resp, err := client.Get(server.URL + address)
		must.Do(b, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		must.That(b, resp.StatusCode == http.StatusOK, "%s: %d", address, resp.StatusCode)
	}
	var addresses [4096]string
	for i := range addresses {
		addresses[i] = keyAddress(i)
	}
	for _, c := range []struct {
		name string
		ask  func(string)
	}{{"handler", direct}, {"loopback", loopback}} {
		b.Run(c.name+"/locate", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.ask(addresses[i%len(addresses)])
			}
		})
		b.Run(c.name+"/constant", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.ask("/api/v1/constant")
			}
		})
		b.Run(c.name+"/ratio", func(b *testing.B) {
			const turn = 100
			var ours, constant []time.Duration
			for i := 0; b.Loop(); i += turn {
				start := time.Now()
				for j := range turn {
					c.ask(addresses[(i+j)%len(addresses)])
				}
				middle := time.Now()
				for range turn {
					c.ask("/api/v1/constant")
				}
				ours, constant = append(ours, middle.Sub(start)), append(constant, time.Since(middle))
			}
			slices.Sort(ours)
			slices.Sort(constant)
			b.ReportMetric(float64(constant[len(constant)/2])/float64(ours[len(ours)/2]), "locate/constant-rps")
		})
	}
}
