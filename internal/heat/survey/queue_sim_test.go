package survey_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat/survey"
	"shardboard/internal/simcluster"
)

func TestSampleInterruptedBeforeTheDocumentSearchResumesThere(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 5, Documents: 1500}, kept, func(t *testing.T, r *fixture) {
		s, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Sample}, entryByAnna())
		must.Do(t, err)
		time.Sleep(2 * time.Second)
		r.end()
		first, _, err := r.engine.Survey(t.Context(), s.ID)
		must.Do(t, err)
		if first.State.Ended() || first.Progress.Done == 0 {
			t.Fatalf("the survey ended before it was interrupted: %+v", first)
		}
		r.start(t, survey.Options{Store: kept})
		ended, result := r.waitForEnd(t, s.ID)
		if c := collectionOf(t, result, "revisions"); ended.State != survey.Done || c.Checked == 0 {
			t.Errorf("%+v: %d documents were looked for, want ended.State %v, c.Checked more than 0", ended, c.Checked, survey.Done)
		}
	})
}

// panickingSource is a source whose reads panic.
type panickingSource struct{ survey.Source }

func (panickingSource) SampleSizes(context.Context, survey.SizeQuery) ([]survey.SizedRow, error) {
	panic("defect")
}

func (panickingSource) RowSizes(context.Context, survey.SizeQuery, *bson.ObjectID, bson.ObjectID) ([]survey.SizedRow, error) {
	panic("defect")
}

func TestPanicFailsOnlyItsOwnSurvey(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 3, Documents: 40}, nil, func(t *testing.T, r *fixture) {
		r.restartWith(t, panickingSource{r.client})
		s, _ := r.runSurvey(t, survey.Request{Kind: survey.Sample})
		if s.State != survey.Failed || s.Problem == "" {
			t.Errorf("got %+v, want State %v, Problem not empty", s, survey.Failed)
		}
		s, _ = r.runSurvey(t, survey.Request{Kind: survey.Document, Document: bson.NewObjectID()})
		if s.State != survey.Done {
			t.Errorf("the next one: %+v, want State %v", s, survey.Done)
		}
	})
}

func TestShortSurveysRunBeforeLongOnes(t *testing.T) {
	kept := openStore(t)
	onSim(t, simcluster.Options{Projects: 7, Documents: 6000}, kept, func(t *testing.T, r *fixture) {
		long, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Projects}, entryByAnna())
		must.Do(t, err)
		other, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Sample}, entryByAnna())
		must.Do(t, err)
		time.Sleep(3 * time.Second)
		project, err := r.engine.Start(t.Context(), survey.Request{Kind: survey.Project,
			Project: r.keeper.Directory().All()[0].ID}, entryByAnna())
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
		checkAgainstTruth(t, collectionOf(t, result, "documents"), r.rowsByID(t, "documents", "project_id", isRemoved))
		checkAgainstTruth(t, collectionOf(t, result, "clients"), r.rowsByID(t, "clients", "project_id", isDeactivated))
		if s.State != survey.Done {
			t.Errorf("got %+v, want State %v", s, survey.Done)
		}
	})
}

func TestUnusedArgumentsAreRefused(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 2, Documents: 5}, nil, func(t *testing.T, r *fixture) {
		id := bson.NewObjectID()
		for _, q := range []survey.Request{
			{Kind: survey.Sample, Document: id}, {Kind: survey.Sample, Project: id}, {Kind: survey.Projects, Project: id},
			{Kind: survey.Projects, Precision: 0.05},
			{Kind: survey.Project, Project: r.keeper.Directory().All()[0].ID, Document: id}, {Kind: survey.Document, Document: id, Precision: 0.05},
		} {
			if _, err := r.engine.Start(t.Context(), q, entryByAnna()); err == nil || fault.Of(err) != fault.Invalid {
				t.Errorf("%+v: %v, want kind %v", q, err, fault.Invalid)
			}
		}
	})
}
