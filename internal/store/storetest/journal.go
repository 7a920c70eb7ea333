package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func plan(id string) store.PlanRecord {
	return store.PlanRecord{ID: id, Cluster: "c", By: "user:1", Kind: "split", Hash: "h", Made: begin(),
		Expires: begin().Add(15 * time.Minute), Body: []byte{0, 255, 1}}
}

func runOf(id, plan string) store.RunRecord {
	return store.RunRecord{ID: id, Plan: plan, Cluster: "c", By: "user:1", State: "planned", Open: true, Started: begin(), Body: []byte("{}")}
}

func intent(run string, step int) store.IntentRecord {
	return store.IntentRecord{Run: run, Step: step, At: begin(), DB: "admin", Command: []byte{5, 0, 0, 0, 0}}
}

// Journal tests a store.Journal, whether part of a store.Store or not. open returns an empty one.
func Journal(t *testing.T, open func(*testing.T) store.Journal) {
	t.Run("APlanIsKeptOnceAndComesBackAsItWas", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		must.Do(t, j.SavePlan(ctx, plan("p1")))
		other := plan("p1")
		other.Hash, other.Body = "another", []byte{7}
		wants(t, "a plan of the same id", j.SavePlan(ctx, other), fault.Conflict)
		same(t, must.Get(j.PlanRecord(ctx, "p1")), plan("p1"))
		wants(t, "a plan that is not there", must.Err(j.PlanRecord(ctx, "p2")), fault.NotFound)
	})
	t.Run("APlanHasOneRun", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		must.Do(t, j.SavePlan(ctx, plan("p1")))
		must.Do(t, j.AddRun(ctx, runOf("r1", "p1")))
		wants(t, "a second run of the plan", j.AddRun(ctx, runOf("r2", "p1")), fault.Conflict)
		wants(t, "the same run again", j.AddRun(ctx, runOf("r1", "p2")), fault.Conflict)
		want := runOf("r1", "p1")
		for what, read := range map[string]func() (store.RunRecord, error){
			"by id":   func() (store.RunRecord, error) { return j.RunRecord(ctx, "r1") },
			"by plan": func() (store.RunRecord, error) { return j.PlanRun(ctx, "p1") },
		} {
			got := must.Get(read())
			want.Seq = got.Seq
			if diff := cmp.Diff(want, got); diff != "" || got.Seq <= 0 {
				t.Errorf("%s, seq %d: %s", what, got.Seq, diff)
			}
		}
		wants(t, "a run that was refused", must.Err(j.RunRecord(ctx, "r2")), fault.NotFound)
		wants(t, "a plan without a run", must.Err(j.PlanRun(ctx, "p2")), fault.NotFound)
	})
	t.Run("OfRunsAddedAtOnceForAPlanOneIsKept", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		must.Do(t, j.SavePlan(ctx, plan("p1")))
		var kept, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				switch err := j.AddRun(ctx, runOf(fmt.Sprint("r", i), "p1")); {
				case err == nil:
					kept.Add(1)
				case fault.Of(err) == fault.Conflict:
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		expect.That(t, kept.Load() == 1 && refused.Load() == 7, "%d kept, %d refused", kept.Load(), refused.Load())
	})
	t.Run("SavingARunReplacesWhatChangesAndLeavesTheRest", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		must.Do(t, j.SavePlan(ctx, plan("p1")))
		must.Do(t, j.AddRun(ctx, runOf("r1", "p1")))
		first := must.Get(j.RunRecord(ctx, "r1"))
		r := first
		r.State, r.Open, r.Ended, r.Body = "succeeded", false, begin().Add(time.Second), []byte("done")
		must.Do(t, j.SaveRun(ctx, r))
		same(t, must.Get(j.RunRecord(ctx, "r1")), r)
		wants(t, "saving a run that is not there", j.SaveRun(ctx, runOf("r2", "p2")), fault.NotFound)
		wants(t, "a run that was only saved", must.Err(j.RunRecord(ctx, "r2")), fault.NotFound)
	})
	t.Run("RunsAreListedByClusterNewestFirstInPages", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		for i := range 5 {
			r := runOf(fmt.Sprint("r", i), fmt.Sprint("p", i))
			if i == 2 {
				r.Cluster = "another"
			}
			must.Do(t, j.SavePlan(ctx, plan(r.Plan)))
			must.Do(t, j.AddRun(ctx, r))
		}
		r := must.Get(j.RunRecord(ctx, "r0")) // saving again does not make a run newer
		must.Do(t, j.SaveRun(ctx, r))
		var got []string
		for before := int64(0); ; {
			page := must.Get(j.RunRecords(ctx, "c", before, 3))
			for _, r := range page {
				got = append(got, r.ID)
				before = r.Seq
			}
			if len(page) < 3 {
				break
			}
		}
		same(t, got, []string{"r4", "r3", "r1", "r0"})
	})
	t.Run("OpenRunsAreThoseOfTheClusterOldestFirst", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		for i := range 4 {
			r := runOf(fmt.Sprint("r", i), fmt.Sprint("p", i))
			if i == 3 {
				r.Cluster = "another"
			}
			must.Do(t, j.SavePlan(ctx, plan(r.Plan)))
			must.Do(t, j.AddRun(ctx, r))
		}
		ended := runOf("r1", "p1")
		ended.Open, ended.Ended = false, begin()
		must.Do(t, j.SaveRun(ctx, ended))
		same(t, openIn(t, j, "c"), []string{"r0", "r2"})
	})
	removedPlans(t, open)
	planApprovals(t, open)
	t.Run("AStepIsIntendedOnce", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		must.Do(t, j.SavePlan(ctx, plan("p1")))
		must.Do(t, j.AddRun(ctx, runOf("r1", "p1")))
		for _, step := range []int{10, 0, 2} {
			must.Do(t, j.AddIntent(ctx, intent("r1", step)))
		}
		again := intent("r1", 0)
		again.DB, again.Command = "other", []byte{7}
		wants(t, "a step intended twice", j.AddIntent(ctx, again), fault.Conflict)
		got := must.Get(j.Intents(ctx, "r1"))
		same(t, got, []store.IntentRecord{intent("r1", 0), intent("r1", 2), intent("r1", 10)})
		if none, err := j.Intents(ctx, "r2"); err != nil || len(none) > 0 {
			t.Errorf("%v %v", none, err)
		}
	})
}

func openIn(t *testing.T, j store.Journal, cluster string) (ids []string) {
	t.Helper()
	rows := must.Get(j.OpenRuns(t.Context(), cluster))
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

func journal(t *testing.T, open func(*testing.T) store.Store) {
	Journal(t, func(t *testing.T) store.Journal { return open(t) })
}

// Place is where stores are kept. Open opens the store there: as its owner if it is closed. While it
// is open, another one only reads, or follows if the store is shared.
type Place struct {
	Open func(*testing.T) store.Store
}

// RunInPlace runs the tests that need several stores over the same data. make returns an empty
// place.
func RunInPlace(t *testing.T, make func(*testing.T) Place) {
	t.Run("TheNextProcessFindsTheJournal", func(t *testing.T) {
		ctx, place := t.Context(), make(t)
		first := place.Open(t)
		fill(ctx, t, first)
		must.Do(t, first.Close())
		second := place.Open(t)
		holds(t, second)
		wants(t, "a second run of the plan", second.AddRun(ctx, runOf("r2", "p1")), fault.Conflict)
		wants(t, "the same intent", second.AddIntent(ctx, intent("r1", 0)), fault.Conflict)
		must.Do(t, second.SavePlan(ctx, plan("p2")))
		must.Do(t, second.AddRun(ctx, runOf("r2", "p2")))
		rows := must.Get(second.RunRecords(ctx, "c", 0, 10))
		expect.That(t, len(rows) == 2 && rows[0].ID == "r2" && rows[0].Seq > rows[1].Seq, "%+v", rows)
	})
	t.Run("WhoDoesNotLeadTheJournalReadsIt", func(t *testing.T) {
		ctx, place := t.Context(), make(t)
		owner := place.Open(t)
		fill(ctx, t, owner)
		reader := place.Open(t)
		shared := owner.Leader().Shared
		if !owner.Owner() || reader.Owner() != shared || !owner.Leads() || reader.Leads() {
			t.Fatalf("the first owns it: %v, leads: %v; the second: %v, %v", owner.Owner(), owner.Leads(), reader.Owner(), reader.Leads())
		}
		holds(t, reader)
		writes := map[string]error{
			"run":    reader.AddRun(ctx, runOf("r2", "p2")),
			"save":   reader.SaveRun(ctx, runOf("r1", "p1")),
			"intent": reader.AddIntent(ctx, intent("r1", 1)),
		}
		if !shared {
			writes["plan"] = reader.SavePlan(ctx, plan("p2"))
		}
		for what, err := range writes {
			wants(t, what+" of a reader", err, fault.Unavailable)
			expect.That(t, !shared || errors.Is(err, store.ErrNotLeading),
				"%s of a replica that follows: %v", what, err)
		}
		holds(t, owner)
		if shared {
			must.Do(t, reader.SavePlan(ctx, plan("p2")))
			must.Do(t, must.Err(owner.PlanRecord(ctx, "p2")))
		}
	})
}

// fill stores one of each.
func fill(ctx context.Context, t *testing.T, j store.Journal) {
	t.Helper()
	must.Do(t, j.SavePlan(ctx, plan("p1")))
	must.Do(t, j.AddRun(ctx, runOf("r1", "p1")))
	must.Do(t, j.AddIntent(ctx, intent("r1", 0)))
	r := runOf("r1", "p1")
	r.State, r.Body = "running", []byte("sent")
	must.Do(t, j.SaveRun(ctx, r))
}

// holds checks that exactly what fill stored is there.
func holds(t *testing.T, j store.Journal) {
	t.Helper()
	ctx := t.Context()
	p := must.Get(j.PlanRecord(ctx, "p1"))
	r := must.Get(j.PlanRun(ctx, "p1"))
	intents := must.Get(j.Intents(ctx, "r1"))
	want := runOf("r1", "p1")
	want.State, want.Body, want.Seq = "running", []byte("sent"), r.Seq
	if diff := cmp.Diff(plan("p1"), p) + cmp.Diff(want, r) + cmp.Diff([]store.IntentRecord{intent("r1", 0)}, intents) +
		cmp.Diff([]string{"r1"}, openIn(t, j, "c")); diff != "" {
		t.Error(diff)
	}
	wants(t, "a plan that nobody kept", must.Err(j.PlanRecord(ctx, "p2")), fault.NotFound)
}
