package overview_test

import (
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// stopped is a site over a cluster whose balancer is off, so that something can be planned.
func stopped(t *testing.T, change ...func(*site.Deps)) *webtest.Server {
	t.Helper()
	v := webtest.NewStory().With(func(t *topology.Table) { t.Balancer.Mode, t.Balancer.Stopped = "off", true }).View()
	s := webtest.New(t, append([]func(*site.Deps){func(d *site.Deps) {
		d.Changes.PlanForms = true
		d.Cluster.Watcher.(*webtest.StubWatcher).Value, d.Cluster.Keeper.(*webtest.StubKeeper).Value = v.Table, v.Dir
	}}, change...)...)
	return s
}

func TestTheOverviewLeadsInTwoClicksToThePlanForTheWorstProblem(t *testing.T) {
	s := stopped(t)
	worst := webtest.Decode[api.AdviceList](t, s.Do("GET", "/api/v1/advice")).Items[0]
	doc := s.Page(t, "/")
	first := doc.Find("#live-headline .worst").First()
	title := doc.Find("h1").Text()
	must.That(t, title == worst.Title.String(), "%q is first, not %q", title, worst.Title.String())
	href, _ := first.Find("a.remedy").Attr("href")
	w := s.Do("GET", href)
	must.That(t, w.Code == http.StatusSeeOther, "%s: %d", href, w.Code)
	form := w.Header().Get("Location")
	if form != string(worst.Plans[0].URL) || !strings.HasPrefix(form, "/plans/new?kind="+worst.Plans[0].Kind+"&reason=") {
		t.Errorf("leads to %q, the advice to %q", form, worst.Plans[0].URL)
	}
	w = s.Do("GET", form)
	expect.That(t, w.Code == http.StatusOK && strings.Contains(w.Body.String(), "<form"), "%s: %d", form, w.Code)
}

func TestThePlanOfAProblemThatIsOverLeadsToTheList(t *testing.T) {
	s := stopped(t)
	for path, want := range map[string]string{
		"/advice/balancer-off.nothing/plan": "/advice",
		"/advice/%2F%2Fevil.example/plan":   "/advice",
	} {
		if w := s.Do("GET", path); w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q", path, w.Code, w.Header().Get("Location"))
		}
	}
}

// running tries plans as if a run made each of them already.
type running struct{}

func (running) Try(*topology.Table, *placement.Directory, actions.Kind, actions.Args) (actions.Draft, error) {
	return actions.Draft{Checks: []actions.Check{{ID: actions.CheckSameRun, Verdict: actions.Block,
		Text: message.New("sameRun.open", "A run that has not ended makes this change.")}}}, nil
}

func TestTheOverviewLeadsToTheRunThatHelpsAndNotToASecondOne(t *testing.T) {
	s := stopped(t, func(d *site.Deps) { d.Changes.Trier = running{} })
	first := s.Page(t, "/").Find("#live-headline .worst").First()
	href, _ := first.Find("a.remedy").Attr("href")
	expect.That(t, href == "/runs?state=open" && strings.Contains(first.Text(), "makes this change"),
		"leads to %q: %s", href, first.Text())
}

func TestWhereNoPlansAreMadeTheWorstProblemHasNoLinkToOne(t *testing.T) {
	s := stopped(t, func(d *site.Deps) { d.Changes.PlanForms = false })
	worst := webtest.Decode[api.AdviceList](t, s.Do("GET", "/api/v1/advice")).Items[0]
	doc := s.Page(t, "/")
	expect.That(t, doc.Find(".worst a.remedy").Length() == 0 && doc.Find(".worst").Length() == 1, "a link to a form that is not there")
	expect.Equal(t, s.Do("GET", "/advice/"+worst.ID+"/plan").Header().Get("Location"), "/advice#"+worst.ID, "where it leads")
}

// blocking tries plans as if a command that excludes them were running.
type blocking struct{}

func (blocking) Try(*topology.Table, *placement.Directory, actions.Kind, actions.Args) (actions.Draft, error) {
	return actions.Draft{Checks: []actions.Check{{ID: "competing", Verdict: actions.Block,
		Text: message.New("competing.ddl", "Something else is running.")}}}, nil
}

func TestTheOverviewSaysWhyNoPlanHelps(t *testing.T) {
	s := stopped(t, func(d *site.Deps) { d.Changes.Trier = blocking{} })
	head := s.Page(t, "/").Find("#live-headline")
	const want = "What helps is blocked: Something else is running. It is possible when that has ended."
	expect.That(t, head.Find(".whynot").Text() == want && head.Find(".worst").Length() == 0, "%q", head.Text())
}
