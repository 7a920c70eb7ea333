package survey_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/survey"
	"shardboard/internal/simcluster"
)

func TestShortSurveysRunBeforeLongOnes(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 7, Documents: 3000}, kept, func(t *testing.T, r *fixture) {
		long, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		other, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects, DB: db}, entryByAnna())
		must.Do(t, err)
		time.Sleep(3 * time.Second)
		project, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Project,
			Project: r.Keeper.Directory().All()[0].ID}, entryByAnna())
		must.Do(t, err)
		list := r.engine.List()
		running, waits := list[2].Progress, list[1].Progress
		if running.Left <= 0 || waits.Left <= running.Left {
			t.Errorf("the queued survey has %s left, the running one %s: want more for the queued one", waits.Left, running.Left)
		}
		began := time.Now()
		if s, _ := r.runSurvey(t, survey.Request{Kind: survey.Document, Document: bson.NewObjectID()}); s.State != survey.Done ||
			time.Since(began) > 5*time.Second {
			t.Errorf("a document took %s: %+v", time.Since(began), s)
		}
		if s, _ := r.waitForEnd(t, project.ID); s.State != survey.Done {
			t.Errorf("got %+v, want State %v", s, survey.Done)
		}
		set, _, err := r.engine.Survey(t.Context(), long.ID)
		must.Do(t, err)
		if set.State.Ended() || set.Progress.Done == 0 {
			t.Errorf("the survey that gave way ended or lost its progress: %+v", set)
		}
		must.Do(t, r.engine.Stop(t.Context(), other.ID, entryByBen()))
		s, result := r.waitForEnd(t, long.ID)
		for _, name := range []string{"documents", "clients"} {
			checkAgainstTruth(t, collectionOf(t, result, name), r.rowsByID(t, name, "project_id", deadRows[name]))
		}
		expect.That(t, s.State == survey.Done, "got %+v, want State %v", s, survey.Done)
	})
}
