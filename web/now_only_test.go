package web

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/heat/survey"
	"shardboard/web/site"
)

func TestAPastTimeIsRefusedWhereThereIsOnlyNow(t *testing.T) {
	s := newSite(t)
	for _, p := range []string{"/heat", "/advice", "/alerts", "/layout", "/surveys", "/surveys/" + cannedSurvey,
		"/api/v1/heat/projects", "/api/v1/heat/documents",
		"/api/v1/heat/chunks", "/api/v1/heat/shards", "/api/v1/heat/map", "/api/v1/heat/range", "/api/v1/advice", "/api/v1/alerts",
		"/api/v1/layout", "/api/v1/surveys", "/api/v1/surveys/" + cannedSurvey} {
		w := s.do("GET", p+"?at=2026-01-01T00:00:00Z")
		if w.Code != 400 || !strings.Contains(w.Body.String(), " shows the present only: ") {
			t.Errorf("%s: %d %.200s", p, w.Code, w.Body)
		}
		if w := s.do("GET", p); w.Code == 400 && strings.Contains(w.Body.String(), "shows the present only") {
			t.Errorf("%s without a time: %s", p, w.Body)
		}
	}
}

func TestWhatTheBalancerDidIsNotSaidToBeForbiddenInThePast(t *testing.T) {
	x := newTravelled(t)
	at := x.now
	x.move(4, "shard-rs-2")
	text := parse(t, x.do("GET", "/?at="+answer.AtText(at)).Body.String()).Find("main").Text()
	if !strings.Contains(text, "not kept") || strings.Contains(text, "not permitted") {
		t.Errorf("%s", text)
	}
}

func TestADocumentAskedForWithoutItsProjectIsNobodys(t *testing.T) {
	stub := cannedSurveys()
	stub.list[2].Request = survey.Request{Kind: survey.Document, Document: projectID(77)}
	stub.result.Collections = stub.result.Collections[:1]
	stub.result.Collections[0].Projects, stub.result.Collections[0].Documents = nil, []survey.Line{
		{Document: projectID(77), Weight: survey.Weight{Rows: survey.Estimate{Exact: true}}},
	}
	s := newSite(t, func(d *site.Deps) { d.Surveys = stub })
	got := decode[api.SurveyDetail](t, s.do("GET", "/api/v1/surveys/"+cannedSurvey)).Collections[0].Documents[0]
	if got.Project != "" || got.Name != "" || got.Document != projectID(77).Hex() {
		t.Errorf("%+v", got)
	}
	stub.list[2].Request = survey.Request{Kind: survey.Sample} // the zero id is a project's here
	got = decode[api.SurveyDetail](t, s.do("GET", "/api/v1/surveys/"+cannedSurvey)).Collections[0].Documents[0]
	if got.Project != (bson.ObjectID{}).Hex() {
		t.Errorf("%+v", got)
	}
}

func TestNoTwoFiguresOfAComparedShardHaveOneLabel(t *testing.T) {
	x := newTravelled(t)
	x.move(4, "shard-rs-1")
	row := parse(
		t,
		x.do("GET", "/compare?from="+answer.AtText(epoch)+"&to="+answer.AtText(x.now)).Body.String(),
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
