package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

// The past of a demo: how long it is, and how often something happens in it. demoQuiet is
// left without events at its end, so that a visitor's own changes stand out.
const (
	demoPast  = 24 * time.Hour
	demoStep  = 30 * time.Minute
	demoQuiet = 20 * time.Minute
)

// demoDay makes a demo's past: it sets the simulated cluster's time forward step by step, lets
// writers, an operator, the balancer and shardboard's own runs act, and records each step.
type demoDay struct {
	sim  *simcluster.Cluster
	day  *simcluster.Past
	past *app.Past
	db   string
	end  time.Time

	written time.Time  // until when writes were recorded
	moved   engine.Run // the run that is undone later
}

// demoEvent is something that happens so long before the end of the past.
type demoEvent struct {
	ago time.Duration
	do  func(context.Context) error
}

// makeDemoPast makes the past of a cluster whose data ends where its past begins.
func makeDemoPast(ctx context.Context, sim *simcluster.Cluster, a *app.App, db string) (err error) {
	day, err := sim.Past()
	if err != nil {
		return err
	}
	past := a.Past(sim.Now)
	d := &demoDay{sim: sim, day: day, past: past, db: db, end: sim.Now().Add(demoPast), written: sim.Now().Truncate(time.Minute)}
	defer func() {
		day.AdvanceTo(d.end)
		day.AdvanceTo(time.Now())
		day.End()
		if e := past.End(); err == nil {
			err = e
		}
	}()
	if err := past.Observe(ctx); err != nil {
		return err
	}
	var failed []error // what did not happen; the rest of the day goes on
	for _, e := range d.events() {
		day.AdvanceTo(d.end.Add(-e.ago))
		d.recordWrites()
		if err := e.do(ctx); err != nil {
			failed = append(failed, fmt.Errorf("%s before the end of the demo's past: %w", e.ago, err))
		}
		if err := past.Observe(ctx); err != nil {
			return err
		}
	}
	day.ChooseBusy()
	day.AdvanceTo(d.end)
	day.AdvanceTo(time.Now())
	d.recordWrites()
	return errors.Join(errors.Join(failed...), past.Observe(ctx))
}

// events are those of the day, first to last.
func (d *demoDay) events() []demoEvent {
	list := []demoEvent{
		{22*time.Hour + 10*time.Minute, d.run(actions.MoveChunk, "Make room before the nightly import.", nil, d.moveArgs("documents"))},
		{19*time.Hour + 20*time.Minute, d.run(actions.Pin, "The project's contract names this shard.", nil, d.pinArgs)},
		{16*time.Hour + 5*time.Minute, d.run(actions.Split, "Prepare for a large project.", nil, d.splitArgs, d.splitChangesArgs)},
		{14 * time.Hour, d.command("balancerStop")},
		{14*time.Hour - 5*time.Minute, d.past.CheckAlerts},
		{14*time.Hour - 10*time.Minute, d.past.CheckAlerts},
		{14*time.Hour - 70*time.Minute, d.past.CheckAlerts},
		{14*time.Hour - 80*time.Minute, d.command("balancerStart")},
		{14*time.Hour - 82*time.Minute, d.past.CheckAlerts},
		{14*time.Hour - 90*time.Minute, d.past.CheckAlerts},
		{10*time.Hour + 20*time.Minute, d.failedBalancing},
		{8*time.Hour + 50*time.Minute, d.failedReturn},
		{6*time.Hour + 40*time.Minute,
			d.run(actions.MoveChunk, "One project is busy: give its shard some room.", &d.moved,
				d.moveArgs("changes"), d.moveArgs("documents"))},
		{6*time.Hour + 35*time.Minute, d.undo}, // before the balancer's next round, which may move the chunk too
		{3*time.Hour + 20*time.Minute, d.failedBalancing},
	}
	for i, ago := 0, demoPast-demoStep; ago >= demoQuiet; i, ago = i+1, ago-demoStep {
		list = append(list, demoEvent{ago, d.ordinary(uint64(i))})
	}
	slices.SortStableFunc(list, func(a, b demoEvent) int { return cmp.Compare(b.ago, a.ago) })
	return list
}

// ordinary is what happens in any half hour: some edits, and in turns an operator's action or a
// round of the balancer with a move.
func (d *demoDay) ordinary(i uint64) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := d.day.Push(ctx, i, 12); err != nil {
			return err
		}
		if i%3 == 0 {
			d.day.Balance(ctx, i)
		} else {
			_ = d.day.Operate(ctx, i) // the cluster may refuse, as it does in real life
		}
		return nil
	}
}

// command is a command of somebody with a shell of their own.
func (d *demoDay) command(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := d.sim.Command(ctx, "admin", map[string]any{name: 1})
		return err
	}
}

// failedBalancing is a round of the balancer whose migration fails: the donor's primary changes
// while the chunk is copied.
func (d *demoDay) failedBalancing(ctx context.Context) error {
	const interrupted = 11602
	rule := d.sim.Faults().Add(simcluster.Rule{Command: "balancer", At: simcluster.Cloned, Err: simcluster.Fail(interrupted)})
	defer rule.Remove()
	d.day.Balance(ctx, uint64(d.sim.Now().Unix()))
	return nil
}

// failedReturn moves a chunk and at once back, which fails: its documents still wait for their
// deletion on the first shard.
func (d *demoDay) failedReturn(ctx context.Context) error {
	t := d.past.Table()
	for _, c := range t.Collections {
		if string(c.NS) != d.db+".snapshots" || len(t.Shards) < 2 {
			continue
		}
		ch := c.Chunks.At(c.Chunks.Len() / 2)
		to := t.Shards[0].Name
		if to == ch.Shard {
			to = t.Shards[1].Name
		}
		lo, err := c.Key.Document(ch.Min)
		if err != nil {
			return err
		}
		hi, err := c.Key.Document(ch.Max)
		if err != nil {
			return err
		}
		if err := d.day.Move(ctx, string(c.NS), lo, hi, to); err == nil {
			_ = d.day.Move(ctx, string(c.NS), lo, hi, ch.Shard) // refused by the first shard
		}
	}
	return nil
}

// run runs a change as the dashboard does; into keeps the run. The arguments are made when it is time;
// the second ones are for where there are none, or a check blocks them: from MongoDB 6.0 on, chunks of
// changes may be too large to move. A run that does not succeed is an error: the failures of the day
// are somebody else's.
func (d *demoDay) run(kind actions.Kind, reason string, into *engine.Run, args ...func() (actions.Args, bool),
) func(context.Context) error {
	return func(ctx context.Context) error {
		var last error
		for _, make := range args {
			a, ok := make()
			if !ok {
				continue
			}
			run, err := d.past.Run(ctx, kind, a, reason)
			if err == nil && into != nil {
				*into = run
			}
			if last = succeeded(run, err); fault.Of(err) != fault.Conflict {
				break
			}
		}
		return last
	}
}

func succeeded(run engine.Run, err error) error {
	if err == nil && run.State != engine.Succeeded {
		return fmt.Errorf("the run %s of kind %s is %s: %s", run.ID, run.Kind, run.State, run.Why)
	}
	return err
}

func (d *demoDay) undo(ctx context.Context) error {
	if d.moved.ID == "" {
		return nil
	}
	return succeeded(d.past.Undo(ctx, d.moved.ID, "The other shard got too busy: put the chunk back."))
}

// recordWrites records the writes of the whole minutes since the last call.
func (d *demoDay) recordWrites() {
	until := d.sim.Now().Truncate(time.Minute)
	for ; d.written.Before(until); d.written = d.written.Add(time.Minute) {
		d.recordMinute(d.written)
	}
}
