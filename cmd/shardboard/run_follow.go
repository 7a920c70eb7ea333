package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

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
	shown  map[int]string // last printed text of each step
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
		if r.State != "unknown" {
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
	for i, s := range r.Steps {
		var b strings.Builder
		printStep(&b, i+1, s)
		if now := b.String(); s.State != "planned" && now != f.shown[i] {
			f.shown[i] = now
			fmt.Fprint(f.stdout, now)
		}
	}
	if state := runState(r); state != f.state && r.State != "planned" {
		f.state = state
		line(f.stdout, "run %s: %s", r.ID, state)
		if r.EndedAt != nil {
			line(f.stdout, "  ended %s", timeText(r.EndedAt, "?"))
			printAdapted(f.stdout, r.Adaptations)
			line(f.stdout, "  %s", r.Standing.Text)
		}
	}
}

// outcome is a run's result as an error; nil when it did what was planned.
func outcome(r api.Run) error {
	why := ""
	if r.Why != "" {
		why = " " + r.Why
	}
	switch r.State {
	case "succeeded", "undone":
		return nil
	case "refused":
		return fault.New(fault.Conflict, "The run %s was refused before a command was sent.%s", r.ID, why)
	case "stopped":
		return fault.New(fault.Conflict, "The run %s was stopped.%s", r.ID, why)
	case "unknown":
		return fault.New(fault.UnknownOutcome, "The outcome of the run %s is not known yet; the server keeps checking the cluster.%s", r.ID, why)
	}
	return fault.New(fault.Internal, "The run %s is %s.%s", r.ID, r.State, why)
}

// printRun writes a run for people: its state, then each step with its proof or its error.
func printRun(w io.Writer, r api.Run) {
	printHeader(w, r)
	for i, s := range r.Steps {
		printStep(w, i+1, s)
	}
	printAdapted(w, r.Adaptations)
	printOutcome(w, r.Outcome)
	if !r.Open {
		line(w, "  %s", r.Standing.Text)
	}
	if r.CanFinish {
		line(w, "  shardboard runs finish %s plans the rest, shardboard runs undo %s plans to undo it", r.ID, r.ID)
	}
}

// printAdapted writes when and why the rest of a run was planned again.
func printAdapted(w io.Writer, all []api.Adaptation) {
	for _, a := range all {
		if a.Same {
			continue
		}
		line(w, "  %s", a.Text)
		for _, d := range a.Because {
			line(w, "       %s", d.Text)
		}
	}
}

func printHeader(w io.Writer, r api.Run) {
	line(w, "run %s: %s", r.ID, runState(r))
	printAbout(w, r)
	line(w, "  ended %s", timeText(r.EndedAt, "not yet"))
}

// printAbout writes the facts of a run that rarely change: the plan, its reason, who started,
// stopped or undid it.
func printAbout(w io.Writer, r api.Run) {
	line(w, "  %s", r.Summary)
	line(w, "  plan %s, by %s, reason: %s", r.Plan, r.By, r.Reason)
	line(w, "  started %s", timeText(r.StartedAt, "not yet"))
	if r.StopBy != "" {
		line(w, "  stop requested by %s at %s", r.StopBy, timeText(r.StopAt, "?"))
	}
	if r.UndoOf != "" {
		line(w, "  undoes the run %s", r.UndoOf)
	}
	if r.UndoneBy != "" {
		line(w, "  undone by the run %s", r.UndoneBy)
	}
}

func runState(r api.Run) string {
	text := r.State
	if r.Resolved {
		text += " (was unknown; settled by reading the cluster)"
	}
	if r.Why != "" {
		text += ". " + r.Why
	}
	return text
}

func printStep(w io.Writer, n int, s api.RunStep) {
	state := s.State
	if s.Total > 0 && s.State == "running" {
		state += fmt.Sprintf(" %d of %d", s.Done, s.Total)
	}
	if s.Try > 1 {
		state += fmt.Sprintf(" (try %d)", s.Try)
	}
	line(w, "  %d  %-9s  %s", n, state, commandText(s.Op, s.DB, s.Command))
	if s.Waiting != nil {
		line(w, "       blocked since %s: %s", timeText(s.Waiting.Since, "?"), s.Waiting.Text)
		if s.State == "waiting" {
			line(w, "       gives up at %s", timeText(s.Waiting.Until, "?"))
		}
	}
	if s.Why != "" {
		line(w, "       %s", s.Why)
	}
	if s.Error != "" {
		line(w, "       the server said: %s", s.Error)
	}
	if s.Means != "" {
		line(w, "       %s", s.Means)
	}
	for _, d := range s.Changed {
		line(w, "       changed  %s", d.Text)
	}
	for _, ev := range s.Events {
		line(w, "       logged %s: %s", timeText(ev.At, "?"), eventText(ev))
	}
	for _, p := range s.Proof {
		line(w, "       read %s: %s", timeText(p.At, "?"), proofText(p))
	}
}

// eventText is a changelog entry with the server's counts.
func eventText(ev api.StepEvent) string {
	text := ev.What
	if ev.From != "" || ev.To != "" {
		text += " " + ev.From + " → " + ev.To
	}
	counts := make([]string, 0, len(ev.Counts))
	for _, name := range slices.Sorted(maps.Keys(ev.Counts)) {
		counts = append(counts, fmt.Sprintf("%s=%d", name, ev.Counts[name]))
	}
	if len(counts) > 0 {
		text += ": " + strings.Join(counts, ", ")
	}
	if ev.Failed {
		text += ", failed"
		if ev.Reason != "" {
			text += ": " + ev.Reason
		}
	}
	return text
}

func proofText(p api.StepProof) string {
	about := []string{p.Kind}
	for _, part := range []string{p.NS, p.Shard, p.Zone, rangeText(p.Min, p.Max)} {
		if part != "" {
			about = append(about, part)
		}
	}
	got := make([]string, 0, len(p.Got))
	for _, name := range slices.Sorted(maps.Keys(p.Got)) {
		got = append(got, name+"="+p.Got[name])
	}
	return strings.Join(about, " ") + ": " + strings.Join(got, ", ")
}

func rangeText(min, max api.Key) string {
	switch {
	case len(min) == 0 || string(min) == "null":
		return ""
	case len(max) == 0 || string(max) == "null":
		return string(min)
	}
	return fmt.Sprintf("[%s, %s)", min, max)
}
