package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func surveys(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("SurveysAreReplacedListedByAgeAndForgotten", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		one := func(id string, minute int, head, body string) store.Survey {
			return store.Survey{ID: id, At: begin().Add(time.Duration(minute) * time.Minute), Head: []byte(head), Body: []byte(body)}
		}
		must.Do(t, s.SaveSurvey(ctx, "c", one("a", 1, "running", "sums")))
		must.Do(t, s.SaveSurvey(ctx, "c", one("b", 2, "queued", "plan")))
		must.Do(t, s.SaveSurvey(ctx, "c", one("a", 1, "done", "result")))
		must.Do(t, s.SaveSurvey(ctx, "other", one("a", 9, "theirs", "theirs")))
		must.Do(t, s.SaveSurvey(ctx, "told", one("a", 1, "queued", "plan"), entry("survey.started")))
		expect.Equal(t, recorded(t, s, "survey.started"), 1, "entries recorded")
		must.Do(t, s.SaveDelivery(ctx, "told", store.Delivery{Target: "ops", At: begin(), Code: "ok", Test: true}, entry("alert.tested")))
		expect.Equal(t, recorded(t, s, "alert.tested"), 1, "tests recorded")
		heads := must.Get(s.SurveyHeads(ctx, "c", 10))
		want := []store.Survey{one("b", 2, "queued", ""), one("a", 1, "done", "")}
		want[0].Body, want[1].Body = nil, nil
		if d := cmp.Diff(want, heads); d != "" {
			t.Error(d)
		}
		if heads, err := s.SurveyHeads(ctx, "c", 1); err != nil || len(heads) != 1 || heads[0].ID != "b" {
			t.Errorf("%v, %v", heads, err)
		}
		if body, err := s.SurveyBody(ctx, "c", "a"); err != nil || string(body) != "result" {
			t.Errorf("%q, %v", body, err)
		}
		must.Do(t, s.DropSurvey(ctx, "c", "a"))
		must.Do(t, s.DropSurvey(ctx, "c", "a"))
		wants(t, "body of a dropped survey", must.Err(s.SurveyBody(ctx, "c", "a")), fault.NotFound)
		if body, err := s.SurveyBody(ctx, "other", "a"); err != nil || string(body) != "theirs" {
			t.Errorf("%q, %v", body, err)
		}
	})
}
