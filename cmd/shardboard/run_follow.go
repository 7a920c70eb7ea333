package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
)

const (
	followEvery = 500 * time.Millisecond
	// A restarted server settles open runs within a minute.
	followSilence = 2 * time.Minute
	followUnknown = 2 * time.Minute
)

// follower prints one run.
type follower struct {
	*env
	remote app.Remote
	json   bool
	state  string         // last printed state of the run
	batch  string         // last printed progress of a batch
	shown  map[int]string // last printed text of each step, by its number
}

func (f *follower) show(r api.Run) error {
	if f.json {
		return printJSON(f.stdout, r)
	}
	printRun(f.stdout, r)
	return nil
}

// follow prints changes until the run has ended and returns its outcome. A server that does not
// answer for a while may be restarting.
func (f *follower) follow(r api.Run) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	heard, known := time.Now(), time.Now()
	for r.Open {
		f.progress(r)
		if r.State != string(engine.Unknown) {
			known = time.Now()
		} else if time.Since(known) > followUnknown {
			break
		}
		select {
		case <-f.ctx.Done():
			return fault.New(fault.UnknownOutcome, "The run %s continues; it is no longer followed.", r.ID)
		case <-tick.C:
		}
		next, err := f.remote.Run(f.ctx, r.ID)
		switch {
		case err == nil:
			r, heard = next, time.Now()
		case f.ctx.Err() != nil:
		case !errors.Is(err, app.ErrNoAnswer) && fault.Of(err) != fault.Unavailable:
			return err
		case time.Since(heard) > followSilence:
			return fault.Wrap(
				fault.UnknownOutcome,
				err,
				"The server has not answered for %s, so the outcome of the run %s is not known here.",
				followSilence,
				r.ID,
			)
		}
	}
	f.progress(r)
	if f.json {
		if err := printJSON(f.stdout, r); err != nil {
			return err
		}
	}
	return outcome(r)
}

// progress prints what changed since the last call: the run's state and each step that began or
// ended.
func (f *follower) progress(r api.Run) {
	if f.json {
		return
	}
	if f.shown == nil {
		f.shown = map[int]string{}
		line(f.stdout, "run %s", r.ID)
		printAbout(f.stdout, r)
	}
	for _, s := range changing.ListSteps(r.Steps) {
		var b strings.Builder
		printStep(&b, r, s)
		if now := b.String(); s.State != string(engine.Planned) && now != f.shown[s.Number] {
			f.shown[s.Number] = now
			fmt.Fprint(f.stdout, now)
		}
	}
	if r.Batch != nil && r.Open && r.Batch.Progress != f.batch {
		f.batch = r.Batch.Progress
		line(f.stdout, "%s. %s%s", f.batch, r.Batch.Why, r.Batch.Waits)
	}
	if state := changing.RunStateText(r); state != f.state && r.State != string(engine.Planned) {
		f.state = state
		line(f.stdout, "run %s: %s", r.ID, state)
		if r.EndedAt != nil {
			line(f.stdout, "  ended %s", timeText(r.EndedAt, "?"))
			printAdapted(f.stdout, r)
			line(f.stdout, "  %s", r.Standing.Text)
		}
	}
}

// outcome is a run's result as an error; nil when it did what was planned.
func outcome(r api.Run) error {
	kind := fault.Internal
	switch engine.State(r.State) {
	case engine.Succeeded, engine.Undone:
		return nil
	case engine.Refused, engine.Stopped:
		kind = fault.Conflict
	case engine.Unknown:
		kind = fault.UnknownOutcome
	}
	return fault.New(kind, "The run %s: %s %s", r.ID, changing.RunStateText(r), changing.RunMeaningText(r))
}
