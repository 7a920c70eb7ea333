package web_test

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/heat/survey"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestAPastTimeIsRefusedWhereThereIsOnlyNow(t *testing.T) {
	s := webtest.New(t)
	for _, p := range []string{"/heat", "/advice", "/alerts", "/layout", "/surveys", "/surveys/" + webtest.EndedSurvey,
		"/api/v1/heat/projects", "/api/v1/heat/documents",
		"/api/v1/heat/chunks", "/api/v1/heat/shards", "/api/v1/heat/map", "/api/v1/heat/range", "/api/v1/advice", "/api/v1/alerts",
		"/api/v1/layout", "/api/v1/surveys", "/api/v1/surveys/" + webtest.EndedSurvey} {
		w := s.Do("GET", p+"?at=2026-01-01T00:00:00Z")
		if w.Code != 400 || !strings.Contains(w.Body.String(), " shows the present only: ") {
			t.Errorf("%s: %d %.200s", p, w.Code, w.Body)
		}
		if w := s.Do("GET", p); w.Code == 400 && strings.Contains(w.Body.String(), "shows the present only") {
			t.Errorf("%s without a time: %s", p, w.Body)
		}
	}
}

func TestWhatTheBalancerDidIsNotSaidToBeForbiddenInThePast(t *testing.T) {
	x := webtest.NewTravelled(t)
	at := x.Now
	x.Move(4, "shard-rs-2")
	text := webtest.ParseHTML(t, x.Do("GET", "/?at="+answer.AtText(at)).Body.String()).Find("main").Text()
	if !strings.Contains(text, "not kept") || strings.Contains(text, "not permitted") {
		t.Errorf("%s", text)
	}
}

func TestADocumentAskedForWithoutItsProjectIsNobodys(t *testing.T) {
	stub := webtest.CannedSurveys()
	stub.All[2].Request = survey.Request{Kind: survey.Document, Document: webtest.ProjectID(77)}
	stub.Result.Collections = stub.Result.Collections[:1]
	stub.Result.Collections[0].Projects, stub.Result.Collections[0].Documents = nil, []survey.Line{
		{Document: webtest.ProjectID(77), Weight: survey.Weight{Rows: survey.Estimate{Exact: true}}},
	}
	s := webtest.New(t, func(d *site.Deps) { d.Surveys = stub })
	got := webtest.Decode[api.SurveyDetail](t, s.Do("GET", "/api/v1/surveys/"+webtest.EndedSurvey)).Collections[0].Documents[0]
	if got.Project != "" || got.Name != "" || got.Document != webtest.ProjectID(77).Hex() {
		t.Errorf("%+v", got)
	}
	stub.All[2].Request = survey.Request{Kind: survey.Sample} // the zero id is a project's here
	got = webtest.Decode[api.SurveyDetail](t, s.Do("GET", "/api/v1/surveys/"+webtest.EndedSurvey)).Collections[0].Documents[0]
	if got.Project != (bson.ObjectID{}).Hex() {
		t.Errorf("%+v", got)
	}
}

func TestNoTwoFiguresOfAComparedShardHaveOneLabel(t *testing.T) {
	x := webtest.NewTravelled(t)
	x.Move(4, "shard-rs-1")
	row := webtest.ParseHTML(
		t,
		x.Do("GET", "/compare?from="+answer.AtText(webtest.Epoch)+"&to="+answer.AtText(x.Now)).Body.String(),
	).Find(
		".twotimes tbody tr",
	).First()
	seen := map[string]bool{}
	row.Find("td[data-label]").Each(func(_ int, cell *goquery.Selection) {
		label := cell.AttrOr("data-label", "")
		if seen[label] {
			t.Errorf("%q twice", label)
		}
		seen[label] = true
	})
	if len(seen) != 6 {
		t.Errorf("%v", seen)
	}
}
