package survey_test

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/survey"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

// A survey with an unreadable row is listed as failed, with an explanation. The other
// surveys are still there, and new ones can be started.
func TestUnreadableSurveyDoesNotHideOthers(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 3, Documents: 20}, kept, func(t *testing.T, r *fixture) {
		s, _ := r.runSurvey(t, survey.Request{Kind: survey.Projects})
		r.end()
		cluster, at := r.Watcher.Table().ClusterID, time.Now()
		for id, head := range map[string]string{"rubbish": "\x00\xff{", "another type": `{"ID":7}`, "another id": `{"ID":"x"}`,
			"body": `{"ID":"body","State":"done","Request":{"Kind":"sample"}}`, "kind": `{"ID":"kind","State":"from-the-future","Request":{"Kind":"new"}}`} {
			must.Do(t, kept.SaveSurvey(t.Context(), cluster, store.Survey{ID: id, At: at, Head: []byte(head), Body: []byte("\xff{")}))
		}
		r.start(t, r.Client, survey.Options{Store: kept})
		time.Sleep(3 * time.Second)
		unreadable := 0
		for _, got := range r.engine.List() {
			if _, _, err := r.engine.Survey(t.Context(), got.ID); err != nil {
				t.Errorf("%s: %v", got.ID, err)
			}
			if got.State == survey.Failed && strings.Contains(got.Problem, "is unreadable") {
				unreadable++
			}
		}
		if unreadable < 4 {
			t.Errorf("%d surveys are listed as unreadable, want at least 4: %+v", unreadable, r.engine.List())
		}
		if again, result, err := r.engine.Survey(t.Context(), s.ID); err != nil || again.State != survey.Done || result == nil {
			t.Errorf("the readable survey: %+v %v", again, err)
		}
		if more, _ := r.runSurvey(t, survey.Request{Kind: survey.Projects}); more.State != survey.Done {
			t.Errorf("a new one: %+v, want State %v", more, survey.Done)
		}
	})
}

// Samples, which earlier versions took, are shown as they were; one that was under way has ended.
func TestStoredSamplesAreStillShown(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 3, Documents: 20}, kept, func(t *testing.T, r *fixture) {
		r.end()
		cluster, project := r.Watcher.Table().ClusterID, r.Keeper.Directory().All()[0].ID
		for id, s := range map[string]struct{ state, body string }{
			"done": {"done", `{"Result":{"Collections":[{"NS":"yorkie-meta.changes","Method":"sample","Read":4802,"Complete":true,
				"Projects":[{"Project":"` + project.Hex() + `","Rows":{"Value":5000,"Low":4600,"High":5450},"Bytes":{"Value":7}}],
				"Unseen":{"Rows":{"High":15},"Bytes":{"High":30000}}}]}}`},
			"open": {"running", `{"Work":{"Parts":[{"Target":{"NS":"yorkie-meta.changes"},"Wanted":4802,"Sums":{"read":200,"all":null}}]}}`},
		} {
			head := `{"ID":"` + id + `","State":"` + s.state + `","Request":{"Kind":"sample","Precision":0.02}}`
			must.Do(t, kept.SaveSurvey(t.Context(), cluster, store.Survey{ID: id, At: time.Now(), Head: []byte(head), Body: []byte(s.body)}))
		}
		r.start(t, r.Client, survey.Options{Store: kept})
		time.Sleep(3 * time.Second)
		s, result, err := r.engine.Survey(t.Context(), "done")
		if err != nil || s.State != survey.Done || len(result.Collections) != 1 || result.Collections[0].Unseen.Rows.High != 15 ||
			result.Collections[0].Projects[0].Rows.High != 5450 {
			t.Errorf("%+v, %+v, %v", s, result, err)
		}
		if s, _, err := r.engine.Survey(t.Context(), "open"); err != nil || s.State != survey.Failed || !strings.Contains(s.Problem, "sample") {
			t.Errorf("%+v, %v", s, err)
		}
		if found := r.engine.Findings("yorkie-meta", project); len(found) != 0 {
			t.Errorf("%d findings of a sample, which is older than what is estimated", len(found))
		}
	})
}
