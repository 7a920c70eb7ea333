package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/must"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// cell is one square of the matrix: a request of somebody, and what became of it.
type cell struct {
	route, who  string
	want, found string
}

// matrix collects cells and prints the whole table when one is wrong.
type matrix struct {
	t     *testing.T
	cells []cell
}

func (m *matrix) Add(route, who, want, found string) {
	m.cells = append(m.cells, cell{route, who, want, found})
}

func (m *matrix) check(least int) {
	m.t.Helper()
	wrong := 0
	for _, c := range m.cells {
		if c.want != c.found {
			wrong++
			m.t.Errorf("%s by %s: %s, want %s", c.route, c.who, c.found, c.want)
		}
	}
	if len(m.cells) < least {
		m.t.Errorf("only %d cells", len(m.cells))
	}
	if wrong > 0 {
		var table strings.Builder
		for _, c := range m.cells {
			fmt.Fprintf(&table, "%-58s %-12s %-10s %s\n", c.route, c.who, c.want, c.found)
		}
		m.t.Logf("%d of %d cells are wrong\n%s", wrong, len(m.cells), &table)
	}
}

// doorOutcome puts an answer into a word: what the door did, or "reached".
func doorOutcome(w *httptest.ResponseRecorder, reached bool) string {
	switch {
	case reached:
		return "reached"
	case w.Code == http.StatusSeeOther && strings.HasPrefix(w.Header().Get("Location"), "/login"):
		return "to login"
	}
	return fmt.Sprint(w.Code)
}

// wanted is the outcome that a policy means for somebody, and no more than
// that: a route that is new is in the matrix by its policy alone.
func wanted(p guard.Policy, tag, path string, role auth.Role) string {
	need, known := p.Needs()
	switch {
	case !known:
		return "a policy"
	case need == "", p == guard.PolicyNear: // the fixtures listen on loopback
		return "reached"
	case role == "" && scripted(path):
		return "401"
	case role == "":
		return "to login"
	case !role.Includes(need):
		return "403"
	}
	return "reached"
}

func scripted(path string) bool {
	return strings.HasPrefix(path, "/api") || slices.Contains([]string{"/live", "/healthz", "/readyz", "/metrics"}, path)
}

// stubbed is the site with every handler replaced by one that only notes that
// it was reached: nothing a request would do happens, and what stands before
// the handlers is the real thing.
func stubbed(s *webtest.Server) (h http.Handler, reached *bool) {
	reached = new(bool)
	table := web.Routes()
	for i := range table {
		table[i].Stream, table[i].Tagged = true, false
		table[i].Handler = func(_ *site.Site, w http.ResponseWriter, _ *http.Request) error {
			*reached = true
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	return s.Outside(s.Router(table)), reached
}

// walked is every method and pattern that the real router answers.
func walked(t *testing.T, s *webtest.Server) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := chi.Walk(s.Mux, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		out[pattern] = append(out[pattern], method)
		return nil
	})
	must.Do(t, err)
	return out
}

// policyOf is the policy of a routed method and pattern; none when the table
// does not have it.
func policyOf(method, pattern string) (guard.Policy, string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, rt := range web.Routes() {
		if rt.Method == method && rt.Pattern == pattern {
			return rt.Policy, rt.Tag
		}
	}
	return "", ""
}
