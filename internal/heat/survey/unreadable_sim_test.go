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
		s, _ := r.runSurvey(t, survey.Request{Kind: survey.Sample})
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
		if more, _ := r.runSurvey(t, survey.Request{Kind: survey.Sample}); more.State != survey.Done {
			t.Errorf("a new one: %+v, want State %v", more, survey.Done)
		}
	})
}
