package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/simcluster"
)

// startWithPast starts a demo of some shards with its past and returns the address of its API.
func startWithPast(t *testing.T, shards int) string {
	t.Helper()
	sim := must.Get(simcluster.New(t.Context(), simcluster.Options{Shards: shards, Projects: 20, Documents: 3000, Busy: true,
		OrphanDelay: demoOrphanDelay, Epoch: time.Now().Add(-demoPast)}))
	t.Cleanup(func() { _ = sim.Close() })
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	receiver, alerts, err := startDemoReceiver()
	must.Do(t, err)
	t.Cleanup(func() { _ = receiver.Close() })
	a, err := app.New(t.Context(), app.Config{URI: uri, Listen: "127.0.0.1:0", Demo: true, Actions: true, Alerts: alerts, Version: "test",
		Cluster: cluster.Options{Dialer: sim}, Log: slog.New(slog.DiscardHandler), Auth: app.Auth{Mode: "demo"}})
	must.Do(t, err)
	must.Do(t, makeDemoPast(t.Context(), sim, a, "yorkie-meta"))
	off := time.Since(sim.Now()).Abs()
	expect.That(t, off <= 30*time.Second, "after its past the cluster's clock is %v away from the machine's", off)
	a.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		expect.NoError(t, a.Stop(ctx), "Stop")
	})
	return a.URL() + "api/v1/"
}

// ask reads an answer of the API; failures of the start are tried again for a while.
func ask[A any](t *testing.T, address string) (out A) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		res, err := http.Get(address)
		must.Do(t, err)
		err = json.NewDecoder(res.Body).Decode(&out)
		res.Body.Close()
		switch {
		case res.StatusCode == http.StatusOK && err == nil:
			return out
		case res.StatusCode < 500 || time.Now().After(deadline):
			t.Fatalf("GET %s: %s, %v", address, res.Status, err)
		}
	}
}

type (
	pastChunks struct {
		Items []struct {
			Min   json.RawMessage
			Shard string
		}
	}
	pastEvent struct {
		Time    time.Time
		What    string
		NS      string
		Outcome string
		Details struct {
			Min      json.RawMessage
			From, To string
		}
	}
	pastEvents struct{ Items []pastEvent }
)

// One demo for all that is known of the day.
func TestAFreshDemoHasADayBehindIt(t *testing.T) {
	begun := time.Now().Add(-demoPast)
	api := startWithPast(t, 3)

	t.Run("activity", func(t *testing.T) {
		var moves, splits, failed int
		for _, e := range ask[pastEvents](t, api+"activity?limit=1000").Items {
			expect.That(t, !e.Time.Before(begun.Add(-time.Minute)) && !e.Time.After(time.Now()),
				"%s at %s is not of the last day", e.What, e.Time)
			if e.Time.Before(begun.Add(5 * time.Minute)) {
				continue // the data was just loaded
			}
			switch {
			case e.Outcome == "failed":
				failed++
			case e.What == "moveChunk.commit":
				moves++
			case strings.Contains(e.What, "split"):
				splits++
			}
		}
		expect.That(t, moves >= 10 && splits >= 3 && failed >= 3, "%d moves, %d splits, %d failures", moves, splits, failed)
	})
	t.Run("runs", func(t *testing.T) { checkRunsOfTheDay(t, api, begun) })
	t.Run("records agree", func(t *testing.T) { checkRecordsAgree(t, api) })
	t.Run("history agrees with the change log", func(t *testing.T) { checkPastAgrees(t, api) })
	t.Run("alert", func(t *testing.T) {
		type alertLine struct {
			Rule, Severity  string
			Fired, Resolved time.Time
		}
		over := ask[struct{ Over []alertLine }](t, api+"alerts").Over
		if len(over) != 1 || over[0].Rule != "balancer-off" || over[0].Severity != "warn" || !over[0].Resolved.After(over[0].Fired) ||
			over[0].Fired.Before(begun) {
			t.Errorf("alerts of the day: %+v", over)
		}
	})
	t.Run("every collection was counted long enough", func(t *testing.T) {
		type unsure struct{ Rule, Subject, Why string }
		for _, u := range ask[struct{ Unsure []unsure }](t, api+"advice").Unsure {
			expect.That(t, !strings.Contains(u.Why, "counted") || u.Rule == "orphans", "%s of %s: %s", u.Rule, u.Subject, u.Why)
		}
	})
	t.Run("heat", func(t *testing.T) {
		picture := ask[struct {
			Columns []struct {
				From time.Time
			}
		}](t, api+"heat/map?ns=yorkie-meta.changes&from=-24h")
		n := len(picture.Columns)
		expect.That(t, n >= 100 && !picture.Columns[0].From.After(begun.Add(time.Hour)), "%d columns of heat", n)
	})
	// A visitor who takes the tour at once waits neither for heat nor for a plan, and is told whether it helped.
	t.Run("heat, a plan and the comparison are there from the start", func(t *testing.T) { checkTourNeverWaits(t, api) })
}

func checkTourNeverWaits(t *testing.T, api string) {
	t.Helper()
	type problem struct {
		Rule  string
		Since time.Time
		Plans []struct {
			Kind string
			Args json.RawMessage
		}
	}
	start := time.Now()
	var hot problem
	for deadline := start.Add(2 * time.Minute); len(hot.Plans) == 0; time.Sleep(50 * time.Millisecond) {
		for _, x := range ask[struct{ Items []problem }](t, api+"advice").Items {
			if strings.HasPrefix(x.Rule, "hot-") && len(x.Plans) > 0 {
				hot = x
			}
		}
		must.That(t, !time.Now().After(deadline), "no plan against heat")
	}
	expect.That(t, hot.Since.Before(start.Add(-time.Minute)), "%s since %s was waited for", hot.Rule, hot.Since)
	post := func(path string, body, into any) {
		t.Helper()
		text := must.Get(json.Marshal(body))
		res := must.Get(http.Post(api+path, "application/json", bytes.NewReader(text)))
		defer res.Body.Close()
		must.Do(t, json.NewDecoder(res.Body).Decode(into))
		must.That(t, res.StatusCode/100 == 2, "POST %s: %s", path, res.Status)
	}
	var plan struct{ ID, Hash string }
	post("plans", map[string]any{"kind": hot.Plans[0].Kind, "args": hot.Plans[0].Args, "reason": "the tour"}, &plan)
	var run struct{ ID string }
	post("plans/"+plan.ID+"/run", map[string]any{"hash": plan.Hash}, &run)
	type done struct {
		Open    bool
		State   string
		Outcome struct {
			Collections []struct{ BeforeSeconds float64 }
		}
	}
	var last done
	ended := func() bool { return last.State == "succeeded" && len(last.Outcome.Collections) > 0 }
	for deadline := time.Now().Add(2 * time.Minute); !ended(); time.Sleep(50 * time.Millisecond) {
		last = ask[done](t, api+"runs/"+run.ID)
		must.That(t, !time.Now().After(deadline), "the run: %+v", last)
	}
	before := last.Outcome.Collections[0].BeforeSeconds
	expect.That(t, before >= 120, "%v s before the run are compared", before)
}

type pastRun struct {
	ID, Kind, State, Reason, UndoOf string
	StartedAt, EndedAt              time.Time
	Steps                           []struct{ State string }
}

func runsOf(t *testing.T, api string) []pastRun {
	return ask[struct{ Items []pastRun }](t, api+"runs?limit=100").Items
}

// checkRunsOfTheDay checks that every run of the day ended as its story says, and that one was undone.
func checkRunsOfTheDay(t *testing.T, api string, begun time.Time) {
	t.Helper()
	var story []string
	for _, r := range runsOf(t, api) {
		end := r.State
		if r.UndoOf != "" {
			end += " undo"
		}
		story = append(story, r.Kind+" "+end)
		expect.That(t, !r.StartedAt.Before(begun) && !r.EndedAt.After(time.Now().Add(-demoQuiet)) && r.Reason != "" && len(r.Steps) != 0,
			"run %+v", r)
	}
	want := []string{"move succeeded undo", "move undone", "split succeeded", "pin succeeded", "move succeeded"} // newest first
	expect.EqualSlices(t, story, want, "the runs of the day")
}

func TestTheRunsOfTheDaySucceedWithAnyNumberOfShards(t *testing.T) {
	only.Long(t, "makes a day for each number of shards")
	for _, shards := range []int{2, 24, 100} {
		t.Run(strconv.Itoa(shards), func(t *testing.T) {
			begun := time.Now().Add(-demoPast)
			checkRunsOfTheDay(t, startWithPast(t, shards), begun)
		})
	}
}

// What the runs, the audit record, the change log and the alerts say of the day agrees, and nothing of it
// lies in the future.
func checkRecordsAgree(t *testing.T, api string) {
	t.Helper()
	events := ask[pastEvents](t, api+"activity?limit=1000").Items
	shards := map[string]bool{}
	for _, s := range ask[struct{ Items []struct{ Name string } }](t, api+"shards").Items {
		shards[s.Name] = true
	}
	type entry struct {
		At            time.Time
		What, Subject string
		Outcome       string
	}
	entries := map[string][]entry{} // of a run
	for _, e := range ask[struct{ Items []entry }](t, api+"audit?limit=1000").Items {
		entries[e.Subject] = append(entries[e.Subject], e)
		expect.That(t, !e.At.After(time.Now()), "the audit record has %s in the future", e.What)
	}
	runs := runsOf(t, api)
	for _, r := range runs {
		steps, first, last := 0, false, false
		for _, e := range entries[r.ID] {
			switch e.What {
			case "run.started":
				first = e.At.Sub(r.StartedAt).Abs() < time.Second
			case "run.ended":
				last = e.At.Sub(r.EndedAt).Abs() < time.Second && e.Outcome == "ok"
			case "run.step":
				steps++
			}
		}
		if !first || !last || steps < len(r.Steps) {
			t.Errorf("the audit record of the %s at %s: started %v, ended %v, %d entries for %d steps",
				r.Kind, r.StartedAt, first, last, steps, len(r.Steps))
		}
		expect.That(t, r.Kind != "move" || slices.ContainsFunc(events, func(e pastEvent) bool {
			return e.What == "moveChunk.commit" && !e.Time.Before(r.StartedAt.Add(-time.Second)) && !e.Time.After(r.EndedAt.Add(time.Second))
		}), "the activity has no move during the run of %s", r.StartedAt)
	}
	for _, e := range events {
		expect.That(t, !e.Time.After(time.Now()), "%s at %s is in the future", e.What, e.Time)
		expect.That(t, e.What != "moveChunk.commit" || e.Details.From != e.Details.To && shards[e.Details.From] && shards[e.Details.To],
			"the move at %s is from %q to %q", e.Time, e.Details.From, e.Details.To)
	}
}

// A chunk's owner by history is the one that the change log names: before each move its source, after
// it its target.
func checkPastAgrees(t *testing.T, api string) {
	t.Helper()
	owner := func(ns string, min json.RawMessage, when time.Time) string {
		for _, c := range ask[pastChunks](t, api+"collections/"+ns+"/chunks?limit=1000&at="+when.UTC().Format(time.RFC3339)).Items {
			if string(c.Min) == string(min) {
				return c.Shard
			}
		}
		return "no chunk"
	}
	checked := 0
	for _, e := range ask[pastEvents](t, api+"activity?limit=1000").Items {
		if e.What != "moveChunk.commit" || time.Since(e.Time) > demoPast-2*demoStep || time.Since(e.Time) < demoQuiet {
			continue
		}
		// Events are half an hour apart or more than five minutes; each is observed when it is over.
		if before := owner(e.NS, e.Details.Min, e.Time.Add(-2*time.Second)); before != e.Details.From && before != "no chunk" {
			t.Errorf("%s: before its move at %s from %s it was on %s", e.NS, e.Time, e.Details.From, before)
		}
		after := owner(e.NS, e.Details.Min, e.Time.Add(30*time.Second))
		expect.Equal(t, after, e.Details.To, "%s: after its move at %s to %s it was on", e.NS, e.Time, e.Details.To)
		if checked++; checked == 8 {
			break
		}
	}
	expect.That(t, checked >= 5, "only %d moves were checked", checked)
}
