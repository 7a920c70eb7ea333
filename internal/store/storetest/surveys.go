package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

func surveys(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("SurveysAreReplacedListedByAgeAndForgotten", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		one := func(id string, minute int, head, body string) store.Survey {
			return store.Survey{ID: id, At: begin().Add(time.Duration(minute) * time.Minute), Head: []byte(head), Body: []byte(body)}
		}
		must(t, s.SaveSurvey(ctx, "c", one("a", 1, "running", "sums")))
		must(t, s.SaveSurvey(ctx, "c", one("b", 2, "queued", "plan")))
		must(t, s.SaveSurvey(ctx, "c", one("a", 1, "done", "result")))
		must(t, s.SaveSurvey(ctx, "other", one("a", 9, "theirs", "theirs")))
		must(t, s.SaveSurvey(ctx, "told", one("a", 1, "queued", "plan"), entry("survey.started")))
		if n := recorded(t, s, "survey.started"); n != 1 {
			t.Errorf("%d are recorded", n)
		}
		must(t, s.SaveDelivery(ctx, "told", store.Delivery{Target: "ops", At: begin(), Code: "ok", Test: true}, entry("alert.tested")))
		if n := recorded(t, s, "alert.tested"); n != 1 {
			t.Errorf("%d tests are recorded", n)
		}
		heads, err := s.SurveyHeads(ctx, "c", 10)
		must(t, err)
		want := []store.Survey{one("b", 2, "queued", ""), one("a", 1, "done", "")}
		want[0].Body, want[1].Body = nil, nil
		if d := cmp.Diff(want, heads); d != "" {
			t.Error(d)
		}
		if heads, err = s.SurveyHeads(ctx, "c", 1); err != nil || len(heads) != 1 || heads[0].ID != "b" {
			t.Errorf("%v, %v", heads, err)
		}
		if body, err := s.SurveyBody(ctx, "c", "a"); err != nil || string(body) != "result" {
			t.Errorf("%q, %v", body, err)
		}
		must(t, s.DropSurvey(ctx, "c", "a"))
		must(t, s.DropSurvey(ctx, "c", "a"))
		_, err = s.SurveyBody(ctx, "c", "a")
		wants(t, "body of a dropped survey", err, fault.NotFound)
		if body, err := s.SurveyBody(ctx, "other", "a"); err != nil || string(body) != "theirs" {
			t.Errorf("%q, %v", body, err)
		}
	})
}
