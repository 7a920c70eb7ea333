package engine

import (
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// Plans and runs of earlier versions hold the code of a sentence and its
// arguments, but no words.
func TestARecordWithoutWordsIsStillRead(t *testing.T) {
	run, err := decodeRun(store.RunRecord{ID: "r1", Body: []byte(`{"ID":"r1","Kind":"move","State":"failed",
		"Summary":{"Code":"move","Args":{"ns":"db.docs","to":"b"}},"Why":{"Code":"step.gaveUp","Args":{"tries":"3"}},
		"Steps":[{"State":"failed","Why":{"Code":"step.gaveUp","Args":null},"Backoff":{"What":{"Code":"obstacle.lock","Args":{}}}}]}`)})
	must.Do(t, err)
	for got, want := range map[string]string{
		run.Summary.String():               "move (ns db.docs, to b)",
		run.Why.String():                   "step.gaveUp (tries 3)",
		run.Steps[0].Backoff.What.String(): "obstacle.lock",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	plan, err := decodePlan(
		store.PlanRecord{ID: "p1", Body: []byte(`{"Summary":{"Code":"split.at","Args":{"at":"5"}},"Undo":{"Text":{"Code":"split","Args":null}},
		"Checks":[{"ID":"stale","Verdict":"pass","Text":{"Code":"stale.fresh","Args":null},"Source":{"Code":"table","Args":{"part":"routing"}}}],
		"Effect":{"Stays":[{"Code":"unsharded","Args":{"ns":"db.users"}}]}}`)},
	)
	if err != nil || plan.Summary.String() != "split.at (at 5)" ||
		plan.Checks[0].Source.Code != "table" || plan.Effect.Stays[0].Code != "unsharded" {
		t.Errorf("%+v, %v", plan, err)
	}
}
