package surveys_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/profile"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestSurveyedDocumentWithoutProjectHasNoProjectName(t *testing.T) {
	stub := webtest.CannedSurveys()
	stub.All[2].Request = survey.Request{Kind: survey.Document, Document: webtest.ProjectID(77)}
	stub.Result.Collections = stub.Result.Collections[:1]
	stub.Result.Collections[0].Projects, stub.Result.Collections[0].Documents = nil, []survey.Line{
		{Document: webtest.ProjectID(77), Weight: survey.Weight{Rows: survey.Estimate{Exact: true}}},
	}
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Surveys = stub })
	got := webtest.Decode[api.SurveyDetail](t, s.Do("GET", "/api/v1/surveys/"+webtest.EndedSurvey)).Collections[0].Documents[0]
	expect.That(t, got.Project == "" && got.Name == "" && got.Document == webtest.ProjectID(77).Hex(), "%+v", got)
	stub.All[2].Request = survey.Request{Kind: survey.Sample} // the zero id is a project's here
	got = webtest.Decode[api.SurveyDetail](t, s.Do("GET", "/api/v1/surveys/"+webtest.EndedSurvey)).Collections[0].Documents[0]
	expect.Equal(t, got.Project, (bson.ObjectID{}).Hex(), "%+v", got)
}

// spaced is a page's words with every run of space as one.
func spaced(body string) string { return strings.Join(strings.Fields(body), " ") }

func holds(t *testing.T, page string, wants ...string) {
	t.Helper()
	expect.ContainsAll(t, page, wants, "the page")
}

func TestSurveysPageShowsProgressThatScreenReadersKnow(t *testing.T) {
	s := webtest.New(t)
	w := s.Do("GET", "/surveys")
	page := spaced(w.Body.String())
	holds(t, page, `<progress max="1" value="0.25" aria-label="All projects in project-wide collections, counted">`, "<progress aria-label=",
		"250 of 1 000", "about 1 min left", "Slowed down", `action="/surveys/RUNS/stop"`, "time left unknown")
	expect.That(t, w.Header().Get("Refresh") != "" && w.Header().Get("ETag") == "" && !strings.Contains(page, "<script>alert"),
		"%v", w.Header())
}

func TestProjectPageTellsWhatWasMeasuredAndHow(t *testing.T) {
	s := webtest.New(t)
	page := spaced(s.Do("GET", "/projects/"+webtest.ProjectID(5).Hex()).Body.String())
	holds(t, page, "Deactivated clients", "Each activation adds a row", "≤ 15", "Counted", "Sampled", "The cluster user lacks &lt;find&gt;.",
		`name="kind" value="project"`)
	page = spaced(s.Do("GET", "/projects/"+webtest.ProjectID(0).Hex()).Body.String())
	holds(t, page, "5 000 ± 450", "The truth is between 4 600 and 5 450")
}

func TestProjectPageShowsEstimatesWhereNothingWasSurveyed(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Surveys = &webtest.StubSurveys{} })
	page := spaced(s.Do("GET", "/projects/"+webtest.ProjectID(1).Hex()).Body.String())
	holds(t, page, `<tr data-key="documents">`, "Sampled", "The truth is between")
	expect.That(t, !strings.Contains(page, "Not measured yet.") && !strings.Contains(page, "Estimating sizes by project is paused"),
		"the page of a project with estimates says that nothing was measured")
}

func TestProjectPageSaysWhyNothingIsEstimated(t *testing.T) {
	off := holdings.New(nil, nil, profile.Yorkie(), holdings.Options{PerMinute: -1})
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Surveys, d.Measured.Holdings = &webtest.StubSurveys{}, off })
	holds(t, spaced(s.Do("GET", "/projects/"+webtest.ProjectID(1).Hex()).Body.String()),
		"Not measured yet.", "--project-sizes-per-minute is 0")
}

func TestProjectPageSaysThatNothingWasSurveyedYet(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Surveys, d.Measured.Holdings = &webtest.StubSurveys{}, nil })
	holds(t, spaced(s.Do("GET", "/projects/"+webtest.ProjectID(5).Hex()).Body.String()), "Not measured yet.")
	s = webtest.New(t, func(d *site.Deps) { d.Measured.Surveys = nil })
	page := s.Do("GET", "/projects/"+webtest.ProjectID(5).Hex())
	expect.That(t, !strings.Contains(page.Body.String(), "project-survey") && page.Code == 200, "a panel without anything behind it")
	w := s.Do("GET", "/surveys")
	expect.That(t, w.Code == 200 && !strings.Contains(w.Body.String(), `name="kind"`), "a form without anything behind it")
	if w := s.Do("GET", "/api/v1/surveys/X"); w.Code != http.StatusServiceUnavailable {
		t.Error(w.Code)
	}
}

func TestASurveyIsStartedByFormAndByAPI(t *testing.T) {
	stub := webtest.CannedSurveys()
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Surveys = stub })
	id := webtest.ProjectID(5)
	w := s.Do("POST", "/surveys", webtest.Header("Content-Type", "application/x-www-form-urlencoded"),
		webtest.Body("kind=project&db=yorkie-meta&project="+id.Hex()))
	must.That(t, w.Code == http.StatusSeeOther && w.Header().Get("Location") == "/surveys", "%d %v", w.Code, w.Header())
	w = s.Do("POST", "/api/v1/surveys", webtest.Header("Content-Type", "application/json"),
		webtest.Body(`{"kind":"projects","ns":"yorkie-meta.documents"}`))
	must.That(t, w.Code == http.StatusAccepted && w.Header().Get("Location") == "/api/v1/surveys/WAITS", "%d %v", w.Code, w.Header())
	want := []survey.Request{
		{Kind: survey.Project, Project: id, DB: "yorkie-meta"},
		{Kind: survey.Projects, NS: "yorkie-meta.documents"},
	}
	if len(stub.Started) != 2 || stub.Started[0] != want[0] || stub.Started[1] != want[1] || stub.By.By != "local" || stub.By.Via != "none" {
		t.Errorf("%+v by %+v", stub.Started, stub.By)
	}
	for _, bad := range []string{`{"kind":"project"}`, `{"kind":"document","document":"<x>"}`, `{"kind":"projects","shard":"x"}`} {
		w := s.Do("POST", "/api/v1/surveys", webtest.Header("Content-Type", "application/json"),
			webtest.Body(bad))
		expect.Equal(t, w.Code, http.StatusBadRequest, "%s", bad)
	}
	s.Do("POST", "/surveys/RUNS/stop", webtest.Header("Content-Type", "application/x-www-form-urlencoded"))
	s.Do("POST", "/api/v1/surveys/RUNS/stop")
	expect.That(t, len(stub.Stopped) == 2 && stub.Stopped[0] == "RUNS" && stub.By.By == "local", "%v", stub.Stopped)
}

// With another profile than Yorkie ids of documents are of any type, and tenants can be named by what people call them.
func TestSurveyOfADocumentWithAnyID(t *testing.T) {
	stub := webtest.CannedSurveys()
	prof := must.Get(profile.Parse("shop.yaml", []byte("name: shop\ndocuments: {collection: documents, tenant: project_id}\n")))
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Surveys, d.Cluster.Profile = stub, prof })
	for _, body := range []string{"project=" + webtest.ProjectID(5).Hex(), "project=" + url.QueryEscape(webtest.HostileName), "project="} {
		w := s.Do("POST", "/surveys", webtest.Header("Content-Type", "application/x-www-form-urlencoded"),
			webtest.Body(body+"&kind=document&document=+o-1%2F%3Cb%3E"))
		got := stub.Started[len(stub.Started)-1]
		expect.That(t, w.Code == http.StatusSeeOther && got.Text == "o-1/<b>" && got.Document.IsZero() &&
			got.Project.IsZero() == (body == "project="), "%s: %d %+v", body, w.Code, got)
	}
	w := s.Do("POST", "/api/v1/surveys", webtest.Header("Content-Type", "application/json"),
		webtest.Body(`{"kind":"document","document":"5","project":"no such tenant"}`))
	expect.Equal(t, w.Code, http.StatusBadRequest, "a project that is none")
	text := []byte("\x02\x08\x00\x00\x00o-1/<b>\x00")
	stub.All[2].Request = survey.Request{Kind: survey.Document, Text: "o-1/<b>"}
	stub.Result.Collections = stub.Result.Collections[:1]
	stub.Result.Collections[0].Documents = []survey.Line{{Document: bson.ObjectID{0xff, 0xff, 11: 1}, Stored: text}}
	got := webtest.Decode[api.SurveyDetail](t, s.Do("GET", "/api/v1/surveys/"+webtest.EndedSurvey))
	expect.That(t, got.Document == "o-1/<b>" && got.Collections[0].Documents[0].Document == "o-1/<b>", "%+v", got)
	page := s.Do("GET", "/surveys/"+webtest.EndedSurvey).Body.String()
	holds(t, page, `href="/locate?q=o-1%2F%3Cb%3E"`, "o-1/&lt;b&gt;")
	if list := s.Do("GET", "/surveys").Body.String(); strings.Contains(list, "pattern=") || !strings.Contains(list, `name="document"`) {
		t.Error("the form takes hexadecimal digits alone")
	}
}

func TestSurveyAnswersHaveNoZeroForWhatWasNotSeen(t *testing.T) {
	s := webtest.New(t)
	list := webtest.Decode[api.List[api.Survey]](t, s.Do("GET", "/api/v1/surveys"))
	expect.That(t, len(list.Items) == 3 && list.Items[0].Progress.Total == nil && *list.Items[1].Progress.EtaSeconds == 90 &&
		list.Items[2].Method == "sample", "%+v", list.Items)
	one := webtest.Decode[api.SurveyDetail](t, s.Do("GET", "/api/v1/surveys/"+webtest.EndedSurvey))
	c := one.Collections[0]
	if c.Unseen == nil || c.Unseen.Rows != 15 || c.Projects[0].Name != webtest.HostileName || c.Projects[0].Shards[1].Rows.Value != nil ||
		*c.Projects[0].Rows.Value != 5000 {
		t.Errorf("%+v", c)
	}
	d := one.Collections[2]
	expect.That(t, d.Reason == "notPermitted" && d.Rows.Value == nil, "%+v", d)
}

func TestOnlyOperatorsStartAndStopSurveys(t *testing.T) {
	viewer := auth.Principal{ID: "user:v", Name: "v", Role: auth.Viewer, Method: auth.ByPassword}
	stub := webtest.CannedSurveys()
	s := webtest.New(t, func(d *site.Deps) { d.Measured.Surveys, d.Access.Auth = stub, webtest.OnePerson{Who: viewer} })
	for _, address := range []string{"/surveys", "/surveys/RUNS/stop", "/api/v1/surveys", "/api/v1/surveys/RUNS/stop"} {
		w := s.Do("POST", address, webtest.Header("Content-Type", "application/x-www-form-urlencoded"),
			webtest.Body("kind=projects"))
		expect.Equal(t, w.Code, http.StatusForbidden, "%s", address)
	}
	page := s.Do("GET", "/surveys").Body.String()
	expect.That(t, !strings.Contains(page, "<button name") && !strings.Contains(page, "/stop") && !strings.Contains(page, `name="kind"`) &&
		len(stub.Started)+len(stub.Stopped) == 0, "a viewer is offered what they may not do")
	holds(t, page, "needs the role")
}
