package locate_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// askStub answers with a whole answer and error of the test.
type askStub struct {
	answer placement.Answer
	err    error
	asked  []placement.Query
}

func (a *askStub) Ask(_ *http.Request, q placement.Query) (placement.Answer, error) { return a.answer, a.err }

// real has the locator read the projects of the table, and nothing else.
func real(s *webtest.Server) func(*site.Deps) {
	return func(d *site.Deps) { d.Locator = placement.NewLocator(nil, d.Watcher, d.Keeper, d.Profile) }
}

func TestNearNameIsShownWithANoteAndNeverToPrograms(t *testing.T) {
	s := webtest.New(t, real(nil))
	name := s.Keeper.Value.All()[0].Name
	typed := url.QueryEscape(strings.ToUpper(name))
	page := s.Do("GET", "/locate?q="+typed)
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "No project has exactly this name; this is") {
		t.Errorf("the page: %d", page.Code)
	}
	if w := s.Do("GET", "/api/v1/locate?q="+typed); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "Did you mean") {
		t.Errorf("a program: %d %s", w.Code, w.Body)
	}
	got := webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?near=1&q="+typed))
	if len(got.Items) != 1 || got.Near == nil || got.Near.How != "case" || got.Ticket == nil ||
		!strings.Contains(got.Ticket.Text, "No project has exactly this name") {
		t.Errorf("a program that allows near names: %+v", got)
	}
}
