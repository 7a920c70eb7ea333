// Package webtest serves the site over data that stands still, for the tests of
// the site's pages and JSON. Only tests may import it.
//
// New is the server that most tests want. It shows CannedTable; a Story is a
// cluster as people have it, and Troubled breaks it. NewAccountServer has real accounts and
// sign-in, OnSimulatedCluster a real engine over a simulated cluster, OnBreakableCluster one
// whose network and store can fail, InBubble open sockets.
//
// Every answer is checked against the server's own OpenAPI description.
package webtest

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/web"
	"shardboard/web/site"
)

// Server is the site over canned data. Tests publish other data by its fields.
type Server struct {
	*web.Server
	Watcher *StubWatcher
	Keeper  *StubKeeper
	Locator *StubLocator
	Log     *bytes.Buffer
	told    *described
}

// Epoch is the time of all canned data.
var Epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// New serves CannedTable and CannedDirectory; the options change the rest.
func New(t testing.TB, change ...func(*site.Deps)) *Server {
	t.Helper()
	s := &Server{Watcher: &StubWatcher{}, Keeper: &StubKeeper{}, Locator: &StubLocator{}, Log: &bytes.Buffer{}}
	s.Watcher.Value = CannedTable(1, 250)
	s.Keeper.Value = cannedDirectory(1, 230)
	s.Locator.Answer = func(q placement.Query) ([]placement.Item, error) {
		return nil, fault.New(fault.NotFound, "Nothing is called %q.", q.Text)
	}
	now := func() time.Time { return Epoch }
	deps := site.Deps{
		Log: slog.New(slog.NewTextHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: now, Version: "test",
		Cluster: site.ClusterDeps{Watcher: s.Watcher, Keeper: s.Keeper, Profile: profile.Yorkie(), Target: "mongos.example:27017"},
		Locate:  site.LocateDeps{Locator: s.Locator},
		Measured: site.MeasuredDeps{
			Heat:     heat.NewCollector(nil, s.Watcher, profile.Yorkie(), heat.Options{Seed: 1}),
			Pictures: keyvis.New(s.Watcher, nil, nil),
			Surveys:  CannedSurveys(),
			Holdings: CannedHoldings{},
		},
		Problems: site.ProblemDeps{
			Past:   CannedPastProblems(),
			Advice: rules.NewAdvisor(rules.Sources{Tables: s.Watcher, Directories: s.Keeper, Profile: profile.Yorkie(), Now: now}),
		},
		Changes: site.ChangeDeps{Actions: CannedActions()},
		Audit:   site.AuditDeps{Trail: CannedAudit()},
		Access:  site.AccessDeps{Auth: OnePerson{Who: auth.Local()}},
	}
	for _, f := range change {
		f(&deps)
	}
	s.Server = web.New(deps)
	s.told = describedBy(t, s.Site)
	return s
}

// Do sends a request to the handler, without a network, to localhost.
func (s *Server) Do(method, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "localhost:8090"
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	s.told.check(r, w)
	return w
}

// Header sets a header of a request.
func Header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// Body sets the body of a request.
func Body(text string) func(*http.Request) {
	return func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(text)) }
}

// Decode reads the JSON of an answer with status 200.
func Decode[T any](t testing.TB, w *httptest.ResponseRecorder) T {
	t.Helper()
	var out T
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return out
}

// Page is the page at an address, which has to be there.
func (s *Server) Page(t testing.TB, address string, change ...func(*http.Request)) *goquery.Document {
	t.Helper()
	return s.PageWith(t, http.StatusOK, address, change...)
}

// PageWith is a page that comes with another status.
func (s *Server) PageWith(t testing.TB, status int, address string, change ...func(*http.Request)) *goquery.Document {
	t.Helper()
	w := s.Do("GET", address, change...)
	must.That(t, w.Code == status, "%s: %d %.300s", address, w.Code, w.Body)
	return ParseHTML(t, w.Body.String())
}

// ParseHTML parses a page.
func ParseHTML(t testing.TB, html string) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	must.Do(t, err)
	return doc
}
