package advice_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/rules"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// adviceCanary is a receiver's address.
const adviceCanary = "https://hooks.example/CANARY-f00d"

// advised is a site over a cluster in trouble, with a store and alerts.
func advised(t *testing.T, change ...func(*site.Deps)) (*webtest.Server, *alert.Engine) {
	t.Helper()
	db := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	t.Cleanup(func() { _ = db.Close() })
	now := func() time.Time { return webtest.Epoch }
	v := webtest.NewStory().With(webtest.Troubled).With(func(t *topology.Table) {
		t.Shards[0].Zones = append(t.Shards[0].Zones, webtest.HostileName)
		t.Balancer.Mode, t.Balancer.Stopped = "off", true
	}).View()
	var s *webtest.Server
	var e *alert.Engine
	s = webtest.New(t, append([]func(*site.Deps){func(d *site.Deps) {
		d.Cluster.Watcher.(*webtest.StubWatcher).Value, d.Cluster.Keeper.(*webtest.StubKeeper).Value = v.Table, v.Dir
		d.Problems.Advice = rules.NewAdvisor(rules.Sources{Tables: d.Cluster.Watcher, Directories: d.Cluster.Keeper, Profile: d.Cluster.Profile,
			Notices: db, Now: now})
		c, err := alert.Parse("alerts.yaml",
			[]byte("for: 0s\ntargets:\n- {name: ops, format: slack, url: \""+adviceCanary+"\", min_severity: info}\n"))
		must.Do(t, err)
		e = alert.New(c, problems.AlertSource(d.Problems.Advice, false), db, alert.Options{Log: d.Log, Now: now, Transport: failing{}})
		d.Problems.Alerts = e
	}}, change...)...)
	return s, e
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("dial " + adviceCanary)
}

// On a server of several clusters the playbooks are pages of each cluster.
func TestAlertsOfAClusterLeadToItsOwnPlaybooks(t *testing.T) {
	s, e := advised(t, func(d *site.Deps) { d.Place.Base.Prefix = "/c/eu" })
	must.Do(t, e.Check(t.Context()))
	led := 0
	for _, a := range webtest.Decode[api.Alerts](t, s.Do("GET", "/api/v1/alerts")).Alerts {
		if a.Playbook == "" {
			continue
		}
		led++
		expect.That(t, strings.HasPrefix(string(a.Playbook), "/c/eu/help/"), "%s leads to %s", a.Rule, a.Playbook)
	}
	expect.That(t, led != 0, "no alert leads to a playbook")
}

func sendForm(t *testing.T, s *webtest.Server, path string, fields ...string) int {
	t.Helper()
	q := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		q.Set(fields[i], fields[i+1])
	}
	return s.Do("POST", path, webtest.Body(q.Encode()), webtest.Header("Content-Type", "application/x-www-form-urlencoded")).Code
}

func TestAdviceIsDismissedWithAReasonAndTakenBack(t *testing.T) {
	s, _ := advised(t)
	before := webtest.Decode[api.AdviceList](t, s.Do("GET", "/api/v1/advice"))
	must.That(t, len(before.Items) >= 4 && len(before.Dismissed) == 0, "%d items", len(before.Items))
	id := before.Items[0].ID
	expect.Equal(t, sendForm(t, s, "/advice/dismiss", "id", id, "reason", "  "), http.StatusBadRequest, "without a reason")
	expect.Equal(t, sendForm(t, s, "/advice/dismiss", "id", "jumbo.none", "reason", "x"), http.StatusNotFound, "of nothing")
	code := sendForm(t, s, "/advice/dismiss", "id", id, "reason", "we know "+webtest.HostileName)
	must.That(t, code == http.StatusSeeOther, "with a reason: %d", code)
	after := webtest.Decode[api.AdviceList](t, s.Do("GET", "/api/v1/advice"))
	expect.That(t, len(after.Items) == len(before.Items)-1 && len(after.Dismissed) == 1 && after.Dismissed[0].ID == id &&
		after.Dismissed[0].Dismiss.By == "local" &&
		after.Dismissed[0].Dismiss.Reason == "we know "+webtest.HostileName, "after: %+v", after.Dismissed)
	page := s.Do("GET", "/advice").Body.String()
	expect.That(t, !strings.Contains(page, "<script>alert(1)") && strings.Contains(page, "we know =cmd|"),
		"the page does not show the reason as text")
	w := s.Do("POST", "/api/v1/advice/"+id+"/restore")
	back := webtest.Decode[api.AdviceList](t, w)
	expect.That(t, len(back.Items) == len(before.Items) && len(back.Dismissed) == 0, "taken back: %d items", len(back.Items))
	expect.Equal(t, s.Do("POST", "/api/v1/advice/"+id+"/restore").Code, http.StatusNotFound, "taken back twice")
	w = s.Do("POST", "/api/v1/advice/"+id+"/dismiss", webtest.Body(`{"reason":"api"}`),
		webtest.Header("Content-Type", "application/json"))
	expect.That(t, w.Code == http.StatusOK, "by the API: %d %s", w.Code, w.Body)
}

func TestAdviceTellsWhatWasNotCheckedAndWhatHelps(t *testing.T) {
	s, _ := advised(t)
	list := webtest.Decode[api.AdviceList](t, s.Do("GET", "/api/v1/advice"))
	must.That(t, len(list.Unsure) != 0 && len(list.Passed) != 0, "unsure %v, passed %v", list.Unsure, list.Passed)
	for _, i := range list.Items {
		expect.That(t, i.Title.String() != "" && i.Why.String() != "" && len(i.Evidence) != 0 && (len(i.Plans) != 0 || i.WhyNot != "") &&
			!strings.Contains(i.Title.String()+i.Why.String()+i.WhyNot, "[advice") &&
			(!strings.ContainsAny(i.Title.String()+i.Why.String()+i.WhyNot, "{}") || strings.Contains(i.Title.String()+i.WhyNot, "_id")),
			"%s: %+v", i.Rule, i)
		for _, p := range i.Plans {
			expect.That(t, p.Kind != "" && p.Text != "" && !strings.Contains(p.Text, "{"), "%s: plan %+v", i.Rule, p)
		}
	}
	page := s.Do("GET", "/advice").Body.String()
	for _, u := range list.Unsure {
		expect.That(t, strings.Contains(page, u.Why.String()) || strings.ContainsAny(u.Why.String(), `'"&<>`),
			"the page does not say %q", u.Why.String())
	}
	expect.Lacks(t, page, `href="/plans/new?`, "a link to plans where none are made")
	planning, _ := advised(t, func(d *site.Deps) { d.Changes.PlanForms = true })
	page = planning.Do("GET", "/advice").Body.String()
	expect.Contains(t, page, `href="/plans/new?kind=balancer-on&amp;reason=`, "no link to a filled-in form where plans are made")
}

// Whoever may see a problem may read what to do about it.
func TestProblemsLeadToTheirPlaybooks(t *testing.T) {
	s, e := advised(t, webtest.WithPeople)
	must.Do(t, e.Check(t.Context()))
	viewer := webtest.Header("X-Test-Who", "vera viewer")
	for _, path := range []string{"/", "/advice", "/alerts"} {
		links := s.Page(t, path, viewer).Find(`main li a[href^="/help/"], main th a[href^="/help/"]`)
		expect.That(t, links.Length() != 0, "%s has no link to a playbook", path)
		for _, a := range links.EachIter() {
			expect.Equal(t, s.Do("GET", a.AttrOr("href", ""), viewer).Code, http.StatusOK, "%s leads to %s", path, a.AttrOr("href", ""))
		}
	}
	with := 0
	for _, i := range webtest.Decode[api.AdviceList](t, s.Do("GET", "/api/v1/advice", viewer)).Items {
		if want := len(rules.Rule(i.Rule).Playbooks()); len(i.Playbooks) != want {
			t.Errorf("%s has the playbooks %v, want %d", i.Rule, i.Playbooks, want)
		} else if want > 0 {
			with++
		}
	}
	expect.That(t, with != 0, "no problem has a playbook")
}

func TestViewersSeeAdviceAndDecideNothing(t *testing.T) {
	s, _ := advised(t, webtest.WithPeople)
	viewer := webtest.Header("X-Test-Who", "vera viewer")
	for _, path := range []string{"/advice", "/alerts"} {
		w := s.Do("GET", path, viewer)
		expect.That(t, w.Code == http.StatusOK && !strings.Contains(w.Body.String(), `method="post" action="/advice`) &&
			!strings.Contains(w.Body.String(), `method="post" action="/alerts`), "%s: %d, or it has forms", path, w.Code)
	}
	operator := s.Do("GET", "/advice", webtest.Header("X-Test-Who", "olga operator")).Body.String()
	expect.Contains(t, operator, `action="/advice/dismiss"`, "operators cannot dismiss")
}

func TestAReceiversAddressIsOnNoPageAndInNoLog(t *testing.T) {
	s, e := advised(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	must.Do(t, e.Check(ctx))
	expect.Equal(t, sendForm(t, s, "/alerts/test", "target", "ops"), http.StatusSeeOther, "test")
	expect.Equal(t, sendForm(t, s, "/alerts/test", "target", "https://evil.example/"), http.StatusNotFound, "a test to an address")
	var shown bytes.Buffer
	for _, path := range []string{"/alerts", "/advice", "/api/v1/alerts", "/api/v1/advice", "/", "/api/openapi.json", "/metrics"} {
		w := s.Do("GET", path)
		expect.Equal(t, w.Code, http.StatusOK, "%s", path)
		shown.Write(w.Body.Bytes())
	}
	slog.New(slog.NewTextHandler(&shown, nil)).Info("engine", "status", e.Status())
	for _, secret := range []string{"CANARY", "hooks.example"} {
		expect.That(t, !strings.Contains(shown.String(), secret) && !strings.Contains(s.Log.String(), secret),
			"%s is shown or logged", secret)
	}
	page := s.Do("GET", "/alerts").Body.String()
	expect.ContainsAll(t, page, []string{">ops<", "not reached, 1 in a row"}, "the page does not tell how the test went")
}

func TestASilenceIsBegunAndEndedByItsForm(t *testing.T) {
	s, e := advised(t)
	must.Do(t, e.Check(t.Context()))
	code := sendForm(t, s, "/alerts/silences", "rule", "jumbo", "for", "8h", "reason", "")
	expect.Equal(t, code, http.StatusBadRequest, "without a reason")
	code = sendForm(t, s, "/alerts/silences", "rule", "nope", "for", "8h", "reason", "x")
	expect.Equal(t, code, http.StatusBadRequest, "of a rule that is none")
	code = sendForm(t, s, "/alerts/silences", "alert", "jumbo.nope", "for", "8h", "reason", "x")
	expect.Equal(t, code, http.StatusBadRequest, "of an alert that is none")
	there := webtest.Decode[api.Alerts](t, s.Do("GET", "/api/v1/alerts")).Alerts[0].ID
	code = sendForm(t, s, "/alerts/silences", "alert", there, "for", "8h", "reason", "x")
	expect.Equal(t, code, http.StatusSeeOther, "of an alert that is there")
	one := webtest.Decode[api.Alerts](t, s.Do("GET", "/api/v1/alerts")).Silences
	must.That(t, len(one) == 1 && sendForm(t, s, "/alerts/silences/end", "id", one[0].ID) == http.StatusSeeOther, "%+v", one)
	code = sendForm(t, s, "/alerts/silences", "rule", "jumbo", "for", "8h", "reason", "<b>known</b>")
	must.That(t, code == http.StatusSeeOther, "with a reason: %d", code)
	got := webtest.Decode[api.Alerts](t, s.Do("GET", "/api/v1/alerts"))
	must.That(t, len(got.Silences) == 1 && got.Silences[0].By == "local" && got.Silences[0].Until.Equal(webtest.Epoch.Add(8*time.Hour)) &&
		len(got.Alerts) != 0, "%+v", got)
	expect.Contains(t, s.Do("GET", "/alerts").Body.String(), "&lt;b&gt;known", "the page does not show the silence")
	expect.Equal(t, sendForm(t, s, "/alerts/silences/end", "id", got.Silences[0].ID), http.StatusSeeOther, "ended")
	expect.Len(t, webtest.Decode[api.Alerts](t, s.Do("GET", "/api/v1/alerts")).Silences, 0, "left")
}

func TestDismissedAdviceRaisesNoAlert(t *testing.T) {
	s, _ := advised(t)
	source := problems.AlertSource(s.Deps.Problems.Advice, false)
	all, err := source(t.Context())
	must.That(t, err == nil && len(all.Notices) >= 4, "%v %v", len(all.Notices), err)
	if code := sendForm(t, s, "/advice/dismiss", "id", all.Notices[0].ID, "reason", "known"); code != http.StatusSeeOther {
		t.Fatal(code)
	}
	left, err := source(t.Context())
	expect.That(t, err == nil && len(left.Notices) == len(all.Notices)-1 && left.Notices[0].ID != all.Notices[0].ID,
		"%d alerts after a dismissal of %d, %v", len(left.Notices), len(all.Notices), err)
	s.Watcher.Publish(&topology.Table{ClusterID: "x"})
	expect.That(t, must.Err(advicelessSource(s)(t.Context())) != nil, "a table that is not loaded is taken for a calm cluster")
}

// advicelessSource is the source of an advisor that has not looked yet.
func advicelessSource(s *webtest.Server) alert.Source {
	return problems.AlertSource(
		rules.NewAdvisor(
			rules.Sources{Tables: s.Watcher, Directories: s.Keeper, Profile: s.Deps.Cluster.Profile, Now: func() time.Time { return webtest.Epoch }},
		),
		false,
	)
}
