package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// removedPlans is part of Journal: only plans that were never run are removed.
func removedPlans(t *testing.T, open func(*testing.T) store.Journal) {
	t.Run("PlansThatWereNeverRunGoOldestFirstInBatches", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		day := 24 * time.Hour
		for i := range 6 { // p0 is the oldest, p5 the newest; p1 was run
			p := plan(fmt.Sprint("p", i))
			p.Made = begin().Add(time.Duration(i) * day)
			must.Do(t, j.SavePlan(ctx, p))
		}
		r := runOf("r1", "p1")
		r.State, r.Open = "succeeded", false
		must.Do(t, j.AddRun(ctx, r))
		left := func() (ids []string) {
			for i := range 6 {
				id := fmt.Sprint("p", i)
				_, err := j.PlanRecord(ctx, id)
				switch {
				case err == nil:
					ids = append(ids, id)
				case fault.Of(err) != fault.NotFound:
					t.Error(err)
				}
			}
			return ids
		}
		for _, step := range []struct {
			limit, gone int
			left        string
		}{
			{2, 2, "[p1 p3 p4 p5]"}, // p0 and p2 go: the one that was run stays
			{2, 1, "[p1 p4 p5]"},    // p3 goes: p4 was made at the limit, not before it
			{2, 0, "[p1 p4 p5]"},
		} {
			n := must.Get(j.DropPlans(ctx, begin().Add(4*day), step.limit))
			if got := fmt.Sprint(left()); n != step.gone || got != step.left {
				t.Errorf("%d gone, left %s; want %+v", n, got, step)
			}
		}
		if _, err := j.PlanRecord(ctx, "p0"); !errors.Is(err, store.ErrPlanRemoved) {
			t.Errorf("a removed plan: %v", err)
		}
		_, err := j.PlanRecord(ctx, "never")
		if wants(t, "a plan that never was", err, fault.NotFound); errors.Is(err, store.ErrPlanRemoved) {
			t.Error("a plan that never was is called removed")
		}
		wants(t, "a run of a removed plan", j.AddRun(ctx, runOf("r0", "p0")), fault.NotFound)
	})
	t.Run("PlansThatWereNeverRunAreListedNewestFirst", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		for i := range 5 { // p1 was run, p3 is another cluster's
			p := plan(fmt.Sprint("p", i))
			p.Made = begin().Add(time.Duration(i) * time.Hour)
			if i == 3 {
				p.Cluster = "other"
			}
			must.Do(t, j.SavePlan(ctx, p))
		}
		must.Do(t, j.AddRun(ctx, runOf("r1", "p1")))
		for since, want := range map[time.Duration]string{0: "[p4 p2]", 2 * time.Hour: "[p4 p2]", 3 * time.Hour: "[p4]", 9 * time.Hour: "[]"} {
			list := must.Get(j.UnrunPlans(ctx, plan("").Cluster, begin().Add(since), 2))
			ids := []string{}
			for _, p := range list {
				if ids = append(ids, p.ID); len(p.Body) == 0 || p.Made.IsZero() {
					t.Errorf("%+v", p)
				}
			}
			if got := fmt.Sprint(ids); got != want {
				t.Errorf("since %v: %s, want %s", since, got, want)
			}
		}
	})
	t.Run("WhatBecameOfAPlanIsForgottenAfterAYear", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		must.Do(t, j.SavePlan(ctx, plan("p1")))
		for _, at := range []time.Time{begin().Add(time.Hour), begin().Add(time.Hour + store.PlanRemembered)} {
			must.Do(t, must.Err(j.DropPlans(ctx, at, 10)))
		}
		_, err := j.PlanRecord(ctx, "p1")
		if wants(t, "a forgotten plan", err, fault.NotFound); errors.Is(err, store.ErrPlanRemoved) {
			t.Error("it is remembered for ever")
		}
	})
}
