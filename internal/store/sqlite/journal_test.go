package sqlite

import (
	"bytes"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

func TestAPlanRunsOnceAndAStepIsIntendedOnce(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db := open(t, dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	plan := store.PlanRecord{
		ID:      "p1",
		Cluster: "c",
		By:      "user:1",
		Kind:    "split",
		Hash:    "h",
		Made:    at,
		Expires: at.Add(time.Minute),
		Body:    []byte{0, 1},
	}
	must(t, db.SavePlan(ctx, plan))
	if err := db.SavePlan(ctx, plan); fault.Of(err) != fault.Conflict {
		t.Errorf("saving the same plan twice: %v, expected a refusal", err)
	}
	got, err := db.PlanRecord(ctx, "p1")
	must(t, err)
	if !got.Made.Equal(at) || !got.Expires.Equal(plan.Expires) || !bytes.Equal(got.Body, plan.Body) || got.By != plan.By {
		t.Errorf("%+v", got)
	}
	run := store.RunRecord{ID: "r1", Plan: "p1", Cluster: "c", By: "user:1", State: "planned", Open: true, Started: at, Body: []byte("x")}
	must(t, db.AddRun(ctx, run))
	second := run
	second.ID = "r2"
	if err := db.AddRun(ctx, second); fault.Of(err) != fault.Conflict {
		t.Errorf("starting a second run of a plan: %v, expected a refusal", err)
	}
	intent := store.IntentRecord{Run: "r1", Step: 0, At: at, DB: "admin", Command: []byte{5, 0, 0, 0, 0}}
	must(t, db.AddIntent(ctx, intent))
	if err := db.AddIntent(ctx, intent); fault.Of(err) != fault.Conflict {
		t.Errorf("storing an intent twice: %v, expected a refusal", err)
	}
	must(t, db.Close())

	db = open(t, dir) // as the next process
	open, err := db.OpenRuns(ctx, "c")
	must(t, err)
	if len(open) != 1 || open[0].ID != "r1" || !open[0].Ended.IsZero() {
		t.Fatalf("%+v", open)
	}
	intents, err := db.Intents(ctx, "r1")
	must(t, err)
	if len(intents) != 1 || intents[0].DB != "admin" || !intents[0].At.Equal(at) || !bytes.Equal(intents[0].Command, intent.Command) {
		t.Errorf("%+v", intents)
	}
	run.State, run.Open, run.Ended = "succeeded", false, at.Add(time.Second)
	must(t, db.SaveRun(ctx, run))
	if open, err = db.OpenRuns(ctx, "c"); err != nil || len(open) != 0 {
		t.Errorf("%v %+v", err, open)
	}
	if r, err := db.PlanRun(ctx, "p1"); err != nil || r.State != "succeeded" || !r.Ended.Equal(run.Ended) {
		t.Errorf("%v %+v", err, r)
	}
	if err := db.SaveRun(ctx, second); fault.Of(err) != fault.NotFound {
		t.Errorf("saving an unknown run: %v, expected a refusal", err)
	}
	if _, err := db.RunRecord(ctx, "r2"); fault.Of(err) != fault.NotFound {
		t.Error(err)
	}
	if _, err := db.PlanRecord(ctx, "p2"); fault.Of(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestRunsAreListedNewestFirstByPages(t *testing.T) {
	ctx := t.Context()
	db := open(t, t.TempDir())
	for _, id := range []string{"1", "2", "3"} {
		must(t, db.SavePlan(ctx, store.PlanRecord{ID: "p" + id, Body: []byte{}}))
		must(t, db.AddRun(ctx, store.RunRecord{ID: id, Plan: "p" + id, Cluster: "c", Open: true, Body: []byte{}}))
	}
	page, err := db.RunRecords(ctx, "c", 0, 2)
	must(t, err)
	if len(page) != 2 || page[0].ID != "3" || page[1].ID != "2" {
		t.Fatalf("%+v", page)
	}
	if page, err = db.RunRecords(ctx, "c", page[1].Seq, 2); err != nil || len(page) != 1 || page[0].ID != "1" {
		t.Errorf("%v %+v", err, page)
	}
	if page, err = db.RunRecords(ctx, "another", 0, 2); err != nil || len(page) != 0 {
		t.Errorf("%v %+v", err, page)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
