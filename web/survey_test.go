package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/heat/survey"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// cannedSurvey is the id of a survey that has ended.
const cannedSurvey = "SURVEYOFALL"

// stubSurveys is a list of surveys of which one has a result.
type stubSurveys struct {
	list    []survey.Survey
	result  survey.Result
	started []survey.Request
	by      store.AuditEntry
	stopped []string
}

func cannedSurveys() *stubSurveys {
	known := topology.Figure{Known: true, Value: 12_000, Exact: true, Method: "collStats", At: epoch}
	counted := survey.Estimate{Value: 7, Low: 7, High: 7, Exact: true}
	guessed := survey.Estimate{Value: 5000, Low: 4600, High: 5450}
	none := survey.Estimate{High: 15}
	sampled := survey.Collection{
		NS:       "yorkie-meta.changes",
		Method:   survey.MethodSample,
		At:       epoch,
		Read:     4802,
		Complete: true,
		Rows:     known,
		Bytes:    known,
		Orphans:  topology.Figure{Reason: "notReported"},
		Unseen:   &survey.Weight{Rows: none, Bytes: survey.Estimate{High: 30_000}},
		Projects: []survey.Line{{Project: projectID(0), Weight: survey.Weight{Rows: guessed, Bytes: guessed},
			Shards: []survey.Part{
				{Shard: hostileName, Weight: survey.Weight{Rows: guessed, Bytes: guessed}},
				{Shard: "", Weight: survey.Weight{Rows: none, Bytes: none}},
			}}},
		Documents: []survey.Line{{Project: projectID(0), Document: projectID(77), Weight: survey.Weight{Rows: guessed, Bytes: guessed}}},
	}
	dead := survey.Collection{
		NS:       "yorkie-meta.clients",
		Method:   survey.MethodCounted,
		At:       epoch,
		Read:     7,
		Complete: true,
		Rows:     known,
		Bytes:    known,
		Orphans:  known,
		Projects: []survey.Line{
			{Project: projectID(5), Weight: survey.Weight{Rows: counted, Bytes: counted}, Dead: &survey.Weight{Rows: counted, Bytes: counted},
				Shards: []survey.Part{{Shard: "shard-rs-1", Weight: survey.Weight{Rows: counted, Bytes: counted}}}},
		},
	}
	denied := survey.Collection{
		NS:      "yorkie-meta.snapshots",
		Method:  survey.MethodSample,
		At:      epoch,
		Reason:  "notPermitted",
		Problem: "The cluster user lacks <find>.",
		Rows:    topology.Figure{Reason: "notLoaded"},
		Bytes:   topology.Figure{Reason: "notLoaded"},
		Orphans: topology.Figure{Reason: "notLoaded"},
	}
	return &stubSurveys{result: survey.Result{Collections: []survey.Collection{sampled, dead, denied}}, list: []survey.Survey{
		{
			ID:       "WAITS",
			Request:  survey.Request{Kind: survey.Project, Project: projectID(5), DB: "yorkie-meta"},
			State:    survey.Queued,
			Queued:   epoch,
			Progress: survey.Progress{Total: -1, Left: -1},
		},
		{ID: "RUNS", Request: survey.Request{Kind: survey.Projects}, State: survey.Running, Queued: epoch, Started: epoch, By: hostileName,
			Progress: survey.Progress{Done: 250, Total: 1000, Left: 90 * time.Second, Returned: 251, PacedDown: true}},
		{
			ID:       cannedSurvey,
			Request:  survey.Request{Kind: survey.Sample},
			State:    survey.Done,
			Queued:   epoch,
			Started:  epoch,
			Ended:    epoch,
			Progress: survey.Progress{Done: 4802, Total: 4802, Left: -1},
		},
	}}
}

func (s *stubSurveys) Start(_ context.Context, r survey.Request, by store.AuditEntry) (survey.Survey, error) {
	s.started, s.by = append(s.started, r), by
	return s.list[0], nil
}

func (s *stubSurveys) Stop(_ context.Context, id string, by store.AuditEntry) error {
	s.stopped, s.by = append(s.stopped, id), by
	return nil
}

func (s *stubSurveys) List() []survey.Survey { return s.list }

func (s *stubSurveys) Survey(_ context.Context, id string) (survey.Survey, *survey.Result, error) {
	for _, one := range s.list {
		if one.ID == id && one.State == survey.Done {
			return one, &s.result, nil
		}
		if one.ID == id {
			return one, nil, nil
		}
	}
	return survey.Survey{}, nil, fault.New(fault.NotFound, "There is no such survey.")
}

func (s *stubSurveys) Findings(_ string, project bson.ObjectID) []survey.Finding {
	var out []survey.Finding
	for i := range s.result.Collections {
		c := &s.result.Collections[i]
		f := survey.Finding{Survey: cannedSurvey, Kind: survey.Sample, Collection: c}
		for j := range c.Projects {
			if c.Projects[j].Project == project {
				f.Line = &c.Projects[j]
			}
		}
		out = append(out, f)
	}
	return out
}

// spaced is a page's words with every run of space as one.
func spaced(body string) string { return strings.Join(strings.Fields(body), " ") }

func holds(t *testing.T, page string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

func TestSurveysPageShowsProgressThatScreenReadersKnow(t *testing.T) {
	s := newSite(t)
	w := s.do("GET", "/surveys")
	page := spaced(w.Body.String())
	holds(t, page, `<progress max="1" value="0.25" aria-label="All projects in project-wide collections, counted">`, "<progress aria-label=",
		"250 of 1 000", "about 1 min left", "Slowed down", `action="/surveys/RUNS/stop"`, "time left unknown")
	if w.Header().Get("Refresh") == "" || w.Header().Get("ETag") != "" || strings.Contains(page, "<script>alert") {
		t.Errorf("%v", w.Header())
	}
}

func TestProjectPageTellsWhatWasMeasuredAndHow(t *testing.T) {
	s := newSite(t)
	page := spaced(s.do("GET", "/projects/"+projectID(5).Hex()).Body.String())
	holds(t, page, "Deactivated clients", "Each activation adds a row", "≤ 15", "Counted", "Sampled", "The cluster user lacks &lt;find&gt;.",
		`name="kind" value="project"`)
	page = spaced(s.do("GET", "/projects/"+projectID(0).Hex()).Body.String())
	holds(t, page, "5 000 ± 450", "The truth is between 4 600 and 5 450")
}

func TestProjectPageSaysThatNothingWasSurveyedYet(t *testing.T) {
	s := newSite(t, func(d *site.Deps) { d.Surveys = &stubSurveys{} })
	holds(t, spaced(s.do("GET", "/projects/"+projectID(5).Hex()).Body.String()), "Not surveyed yet.")
	s = newSite(t, func(d *site.Deps) { d.Surveys = nil })
	if page := s.do("GET", "/projects/"+projectID(5).Hex()); strings.Contains(page.Body.String(), "project-survey") || page.Code != 200 {
		t.Error("a panel without anything behind it")
	}
	if w := s.do("GET", "/surveys"); w.Code != 200 || strings.Contains(w.Body.String(), `name="kind"`) {
		t.Error("a form without anything behind it")
	}
	if w := s.do("GET", "/api/v1/surveys/X"); w.Code != http.StatusServiceUnavailable {
		t.Error(w.Code)
	}
}

func TestASurveyIsStartedByFormAndByAPI(t *testing.T) {
	stub := cannedSurveys()
	s := newSite(t, func(d *site.Deps) { d.Surveys = stub })
	id := projectID(5)
	w := s.do(
		"POST",
		"/surveys",
		header("Content-Type", "application/x-www-form-urlencoded"),
		body("kind=project&db=yorkie-meta&project="+id.Hex()),
	)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/surveys" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	w = s.do(
		"POST",
		"/api/v1/surveys",
		header("Content-Type", "application/json"),
		body(`{"kind":"sample","ns":"yorkie-meta.changes","precision":0.05}`),
	)
	if w.Code != http.StatusAccepted || w.Header().Get("Location") != "/api/v1/surveys/WAITS" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	want := []survey.Request{
		{Kind: survey.Project, Project: id, DB: "yorkie-meta"},
		{Kind: survey.Sample, NS: "yorkie-meta.changes", Precision: 0.05},
	}
	if len(stub.started) != 2 || stub.started[0] != want[0] || stub.started[1] != want[1] || stub.by.By != "local" || stub.by.Via != "none" {
		t.Errorf("%+v by %+v", stub.started, stub.by)
	}
	for _, bad := range []string{`{"kind":"project"}`, `{"kind":"document","document":"<x>"}`, `{"kind":"sample","shard":"x"}`} {
		if w := s.do("POST", "/api/v1/surveys", header("Content-Type", "application/json"), body(bad)); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, w.Code)
		}
	}
	s.do("POST", "/surveys/RUNS/stop", header("Content-Type", "application/x-www-form-urlencoded"))
	s.do("POST", "/api/v1/surveys/RUNS/stop")
	if len(stub.stopped) != 2 || stub.stopped[0] != "RUNS" || stub.by.By != "local" {
		t.Errorf("%v", stub.stopped)
	}
}

func TestSurveyAnswersHaveNoZeroForWhatWasNotSeen(t *testing.T) {
	s := newSite(t)
	list := decode[api.List[api.Survey]](t, s.do("GET", "/api/v1/surveys"))
	if len(list.Items) != 3 || list.Items[0].Progress.Total != nil || *list.Items[1].Progress.EtaSeconds != 90 ||
		list.Items[2].Method != "sample" {
		t.Errorf("%+v", list.Items)
	}
	one := decode[api.SurveyDetail](t, s.do("GET", "/api/v1/surveys/"+cannedSurvey))
	c := one.Collections[0]
	if c.Unseen == nil || c.Unseen.Rows != 15 || c.Projects[0].Name != hostileName || c.Projects[0].Shards[1].Rows.Value != nil ||
		*c.Projects[0].Rows.Value != 5000 {
		t.Errorf("%+v", c)
	}
	if d := one.Collections[2]; d.Reason != "notPermitted" || d.Rows.Value != nil {
		t.Errorf("%+v", d)
	}
}

func TestOnlyOperatorsStartAndStopSurveys(t *testing.T) {
	viewer := auth.Principal{ID: "user:v", Name: "v", Role: auth.Viewer, Method: auth.ByPassword}
	stub := cannedSurveys()
	s := newSite(t, func(d *site.Deps) { d.Surveys, d.Auth = stub, everybody{who: viewer} })
	for _, address := range []string{"/surveys", "/surveys/RUNS/stop", "/api/v1/surveys", "/api/v1/surveys/RUNS/stop"} {
		if w := s.do("POST", address, header("Content-Type", "application/x-www-form-urlencoded"),
			body("kind=sample")); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", address, w.Code)
		}
	}
	page := s.do("GET", "/surveys").Body.String()
	if strings.Contains(page, "<button name") || strings.Contains(page, "/stop") || strings.Contains(page, `name="kind"`) ||
		len(stub.started)+len(stub.stopped) > 0 {
		t.Error("a viewer is offered what they may not do")
	}
	holds(t, page, "needs the role")
}
