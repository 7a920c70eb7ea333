package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/topology"
)

var pinned = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// recordedRuns is a journal of runs, newest first, that counts reads.
type recordedRuns struct {
	mu   sync.Mutex
	all  []engine.Run
	read int
	err  error
	told chan struct{}
}

func (r *recordedRuns) Runs(_ context.Context, cursor string, limit int) ([]engine.Run, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, _ := strconv.Atoi(cursor)
	to := min(from+limit, len(r.all))
	r.read += to - from
	next := ""
	if to-from == limit {
		next = strconv.Itoa(to)
	}
	return slices.Clone(r.all[from:to]), next, r.err
}

func (r *recordedRuns) RunByID(_ context.Context, id string) (engine.Run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read++
	for _, run := range r.all {
		if run.ID == id {
			return run, nil
		}
	}
	return engine.Run{}, errors.New("no such run")
}

func (r *recordedRuns) Subscribe() (<-chan struct{}, func()) { return r.told, func() {} }

func (r *recordedRuns) addRunning(kind actions.Kind, project, owner string, expires time.Duration) *engine.Run {
	run := engine.Run{ID: fmt.Sprint("run", len(r.all)), Cluster: "c", Kind: kind, State: engine.Running,
		Args: actions.Args{Project: project, Owner: owner, Expires: expires}}
	r.all = append([]engine.Run{run}, r.all...)
	return &r.all[0]
}

func (r *recordedRuns) addEnded(kind actions.Kind, project, owner string, expires time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.addRunning(kind, project, owner, expires)
	run.State, run.Ended = engine.Succeeded, pinned
}

type fixedTable struct{ id string }

func (t fixedTable) Table() *topology.Table { return &topology.Table{ClusterID: t.id} }
func (t fixedTable) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return t.Table(), nil, func() {}
}

func newTestPinIndex(r *recordedRuns) *pinIndex {
	return &pinIndex{runs: r, tables: fixedTable{"c"}, log: slog.New(slog.DiscardHandler)}
}

func TestPinsComeFromTheNewestPlanOfAProject(t *testing.T) {
	r := &recordedRuns{}
	r.addEnded(actions.Pin, "twice", "anna", time.Hour)
	r.addEnded(actions.Pin, "freed", "anna", time.Hour)
	r.addEnded(actions.Pin, "undone", "anna", time.Hour)
	r.all[0].State = engine.Undone
	r.addEnded(actions.Pin, "elsewhere", "anna", time.Hour)
	r.all[0].Cluster = "other"
	r.addEnded(actions.Unpin, "freed", "", 0)
	r.addEnded(actions.Isolate, "twice", "bert", 2*time.Hour)
	r.addEnded(actions.Pin, "forever", "", 0)
	pins, err := newTestPinIndex(r).latest(t.Context(), "c")
	must.Do(t, err)
	p := pins["twice"]
	expect.That(t, len(pins) == 2 && p.Owner == "bert" && p.Expires.Equal(pinned.Add(2*time.Hour)), "unexpected pins: %+v", pins)
	p, known := pins["forever"]
	expect.That(t, known && p.Owner == "" && p.Expires.IsZero(), "unexpected pins: %+v", pins)
}

func TestPinsAreReloadedOnlyWhenARunStartsOrEnds(t *testing.T) {
	r := &recordedRuns{}
	for i := range 300 {
		r.addEnded(actions.Pin, fmt.Sprint("p", i), "anna", time.Hour)
	}
	b := newTestPinIndex(r)
	look := func(atMost int) (version uint64) {
		t.Helper()
		before := r.read
		must.Do(t, must.Err(b.latest(t.Context(), "c")))
		expect.That(t, r.read-before <= atMost, "%d runs were read, expected at most %d", r.read-before, atMost)
		_, version = b.Pins()
		return version
	}
	first := look(300)
	expect.Equal(t, look(1), first, "the version changed although the pins are the same")
	run := r.addRunning(actions.Pin, "new", "anna", time.Hour)
	look(302)
	expect.Equal(t, look(2), first, "a run that has only started changed the pins")
	run.State, run.Ended = engine.Succeeded, pinned
	expect.That(t, look(303) != first, "a new pin did not change the version")
	pins, _ := b.Pins()
	expect.That(t, pins["new"].Owner == "anna" && len(pins) == 301, "%d pins", len(pins))
	r.err = errors.New("disk")
	pins, err := b.latest(t.Context(), "c")
	expect.That(t, err != nil && len(pins) == 301, "after a failed read there are %d pins, %v; expected the known ones", len(pins), err)
}

func TestSubscribersAreNotifiedWhenTheRunOfAPinEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recordedRuns{told: make(chan struct{})}
		b := newTestPinIndex(r)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- b.run(ctx) }()
		synctest.Wait()
		told, end := b.Subscribe()
		defer end()
		r.addEnded(actions.Pin, "p", "anna", 0)
		r.told <- struct{}{}
		<-told
		pins, _ := b.Pins()
		expect.Equal(t, pins["p"].Owner, "anna", "unexpected pins: %+v", pins)
		r.addEnded(actions.Unpin, "p", "", 0) // by another process, without a notification
		<-told
		pins, _ = b.Pins()
		expect.That(t, pins != nil && len(pins) == 0, "unexpected pins: %+v", pins)
		cancel()
		expect.NoError(t, <-done, "the end")
		b.tables = fixedTable{"another"}
		pins, _ = b.Pins()
		expect.That(t, pins == nil, "pins of another cluster: %+v", pins)
	})
}

func TestAPinnedProjectShowsOwnerAndExpiryAfterItsRun(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d := startWithActions(t, quietCluster())
	s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}
	project := s.first("/projects")["id"].(string)
	run := s.waitForRun(s.run(202, s.plan("pin", `{"project":"`+project+`","shard":"shard-rs-3","expires":"720h","owner":"on-call"}`), ""))
	ended, err := time.Parse(time.RFC3339, fmt.Sprint(run["endedAt"]))
	must.That(t, run["state"] == "succeeded" && err == nil, "unexpected run: %+v", run)
	until := ended.Add(720 * time.Hour)
	expect.That(t, eventually(settledWithin, func() bool {
		var detail api.ProjectDetail
		d.getJSON(t, "api/v1/projects/"+project, &detail)
		return detail.Owner != nil && *detail.Owner == "on-call" && detail.Expires != nil && detail.Expires.Sub(until).Abs() < time.Second
	}), "the project does not tell its pin's owner and expiry")
}
