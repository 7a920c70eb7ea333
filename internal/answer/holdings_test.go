package answer_test

import (
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/web/webtest"
)

// projectBytes are the bytes of documents of the canned project 1 on its shard.
func projectBytes(t *testing.T, v answer.View) api.Figure {
	t.Helper()
	p := profile.Yorkie()
	project, ok := v.Dir.ByID(webtest.ProjectID(1))
	must.That(t, ok, "no project")
	for _, c := range spread.Project(v, p, placement.SpreadOf(v.Computable().Table, p, project)).Collections {
		if c.NS == "yorkie-meta.documents" {
			return c.Shards[0].Bytes
		}
	}
	t.Fatal("no documents")
	return api.Figure{}
}

func estimatedView(t *testing.T) answer.View {
	t.Helper()
	s := webtest.New(t)
	return answer.View{Table: s.Watcher.Table(), Dir: s.Keeper.Directory(), Profile: profile.Yorkie(), Now: webtest.Epoch,
		HoldingsOf: webtest.CannedHoldings{}.Snapshot}
}

func TestBytesOfAProjectOnItsShardAreEstimatedWithTheirInterval(t *testing.T) {
	f := projectBytes(t, estimatedView(t))
	if f.Value == nil || f.Exact || f.PlusMinus == 0 || f.Method != survey.MethodSample || !f.At.Equal(webtest.Epoch) {
		t.Errorf("got %+v, want an estimate with its interval and time", f)
	}
}

func TestEstimatesOfNowAreNotShownForAPastTime(t *testing.T) {
	v := estimatedView(t)
	v.Past = &answer.PastTime{At: webtest.Epoch.Add(-time.Hour)}
	if f := projectBytes(t, v); v.Holdings() != nil || f.Value != nil || f.Reason != "notSurveyed" {
		t.Errorf("got %+v, want no figure", f)
	}
}

func TestEstimatesAreTheSameForThoseWhoDoNotSeeBounds(t *testing.T) {
	whole := estimatedView(t)
	hidden := whole
	hidden.Hidden = answer.Hidden{Bounds: true}
	hidden.Table, hidden.Whole = answer.NewHiddenTables().Of(whole.Table, hidden.Hidden, true), &whole
	if got, want := projectBytes(t, hidden), projectBytes(t, whole); got.Value == nil || *got.Value != *want.Value {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRecentSurveyIsPreferredToAnEstimateAndAnOldOneIsNot(t *testing.T) {
	at := func(age time.Duration, id, reason string) survey.Finding {
		c := &survey.Collection{NS: "db.changes", At: webtest.Epoch.Add(-age), Complete: reason == "", Reason: reason}
		return survey.Finding{Survey: id, Collection: c}
	}
	none := survey.Finding{Collection: &survey.Collection{NS: "db.changes"}}
	for name, c := range map[string]struct {
		found, estimated []survey.Finding
		want             int
		survey           string
	}{
		"recent survey":            {[]survey.Finding{at(time.Hour, "s", "")}, []survey.Finding{at(0, "", "")}, 1, "s"},
		"old survey":               {[]survey.Finding{at(25*time.Hour, "s", "")}, []survey.Finding{at(0, "", "")}, 1, ""},
		"survey that failed":       {[]survey.Finding{at(time.Hour, "s", "notPermitted")}, []survey.Finding{at(0, "", "")}, 1, ""},
		"old survey, not measured": {[]survey.Finding{at(25*time.Hour, "s", "")}, []survey.Finding{none}, 1, "s"},
		"nothing measured yet":     {nil, []survey.Finding{none}, 0, ""},
		"may not be read":          {nil, []survey.Finding{at(0, "", "notPermitted")}, 1, ""},
	} {
		got := answer.BestSizes(c.found, c.estimated, webtest.Epoch)
		if len(got) != c.want || c.want == 1 && got[0].Survey != c.survey {
			t.Errorf("%s: got %+v, want %d from survey %q", name, got, c.want, c.survey)
		}
	}
}
