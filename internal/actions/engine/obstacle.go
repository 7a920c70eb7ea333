package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/balance"
	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// How long a step waits for what is in its way.
const (
	conflictLimit = 15 * time.Minute       // migrations, locks, changes of metadata
	longestWait   = time.Hour              // for obstacles that take turns
	orphanGrace   = 10 * time.Minute       // beyond the time at which the shard should have deleted them
	waitTick      = 500 * time.Millisecond // pause between two looks at a migration in the way: the balancer rests for a second
	effectEvery   = 2 * time.Second        // pause between two looks whether somebody else has done it
	effectRarely  = 10 * time.Second       // the same while orphaned documents are in the way, which takes minutes
	lockPause     = time.Second            // first pause before a locked collection is tried again
	lockLonger    = 5 * time.Second        // longest
	// first pause before a shard with orphaned documents is tried again: each try keeps both shards busy for ten seconds
	orphanProbe  = 30 * time.Second
	orphanLonger = 2 * time.Minute // longest
)

// Backoff is what a step waits for.
type Backoff struct {
	Obstacle actions.Obstacle
	What     message.Message // what is in the way, as far as it is known
	Since    time.Time       // when this was in the way first
	First    time.Time       // when anything was
	Next     time.Time       // of the next try
	Until    time.Time       // when it gives up
	Pause    time.Duration
}

// from is a wait as it is at a time. One that began at a time which has not come
// is from before the clock was set back: it begins anew, because otherwise it
// would last until that time comes.
func (w Backoff) from(at time.Time) (from Backoff, anew bool) {
	if !clock.Ahead(w.Since, at) {
		return w, false
	}
	w.Next, w.Until = at, at.Add(w.Until.Sub(w.Since))
	w.Since, w.First = at, at
	return w, true
}

// conclude ends a step with a verdict, unless the server said "not now": then the
// step is put off, and a copy of it, with an intent of its own, waits to be tried
// again.
func (x *execution) conclude(i int, verdict func(*Step), err error) bool {
	s := x.now().Steps[i]
	verdict(&s)
	var busy *actions.BusyError
	if s.State != Failed || !errors.As(err, &busy) || s.Why.Code != "step.serverRefused" && s.Why.Code != "step.noEffect" {
		if s.Why.Code == "step.serverRefused" && x.now().adapts() && x.movedOn(s) {
			return x.putOff(i, func(s *Step) {
				verdict(s)
				s.State, s.Why = Deferred, message.New("step.overtaken",
					"The cluster changed between the last check and the command, and the server refused it. The rest is "+
						"planned again.")
			}, nil)
		}
		return x.finish(i, verdict)
	}
	wait := x.waitingFor(s, busy)
	if !now().Before(wait.Until) {
		return x.finish(i, func(s *Step) { verdict(s); gaveUp(s, wait) })
	}
	return x.putOff(i, func(s *Step) {
		verdict(s)
		s.State, s.Changed = Deferred, nil
		s.Why = message.New("step.deferred",
			"The server asked to try later. The next step tries again.")
	}, &wait)
}

// movedOn tells whether the server refused a step since what it needs has changed in
// the moment between the last look and the command.
func (x *execution) movedOn(s Step) bool {
	_, different, err := x.needs(s.Step)
	return err == nil && len(different) > 0
}

// gaveUp is the end of a step that has waited for as long as it may.
func gaveUp(s *Step, w Backoff) {
	s.State, s.Backoff = Failed, &w
	s.Why = message.New("step.gaveUp", "Gave up after {tries} tries; the same obstacle had been in the way since {since}.",
		message.Time("since", w.Since), message.Count("tries", s.Try+1), message.Text("obstacle", string(w.Obstacle)))
}

// putOff ends a step and puts a copy after it, which waits where there is something
// to wait for.
func (x *execution) putOff(i int, change func(*Step), wait *Backoff) bool {
	at := now()
	s := x.now().Steps[i]
	change(&s)
	if !x.recorded(auditRunStep, outcomeOf(s.State), stepDetails(i, s)) {
		return false
	}
	return x.keep(func(r *Run) {
		again := Step{Step: r.Steps[i].Step, Command: r.Steps[i].Command, State: Planned, Try: r.Steps[i].Try + 1, Backoff: wait}
		change(&r.Steps[i])
		r.Steps[i].Ended = at
		r.Steps = slices.Insert(r.Steps, i+1, again)
		if wait != nil {
			r.State, r.Why = Waiting, inTheWay(*wait)
		}
	})
}

// waitingFor is how long, and for what, a step waits after a refusal.
func (x *execution) waitingFor(s Step, busy *actions.BusyError) Backoff {
	at := now()
	w := Backoff{Obstacle: busy.Obstacle, Since: at, First: at, What: whatIs(busy)}
	if s.Backoff != nil {
		before, _ := s.Backoff.from(at)
		w.First = before.First
		if before.Obstacle == w.Obstacle { // another obstacle has its own time
			w.Since, w.Pause = before.Since, before.Pause
		}
	}
	switch busy.Obstacle {
	case actions.ObstacleOrphans:
		w.Pause = between(2*w.Pause, orphanProbe, orphanLonger)
		w.Until = w.Since.Add(actions.OrphanDelay + orphanGrace)
		if c, ok := x.cleanup(s); ok {
			w = waitForCleanup(w, c)
		}
		w.Next = at.Add(w.Pause)
	case actions.ObstacleMigration, actions.ObstacleTime:
		w.Next, w.Until = at.Add(waitTick), w.Since.Add(conflictLimit)
	default:
		w.Pause = between(2*w.Pause, lockPause, lockLonger)
		w.Next, w.Until = at.Add(w.Pause), w.Since.Add(conflictLimit)
	}
	if last := w.First.Add(longestWait); w.Until.After(last) {
		w.Until = last
	}
	return w
}

func between(d, least, most time.Duration) time.Duration { return min(max(d, least), most) }

// inTheWay is why a run waits that one of its steps cannot be done yet.
func inTheWay(w Backoff) message.Message {
	return message.New("run.obstacle", "Waiting: something is in the way; the step says what.", w.What.Facts...)
}

// whatIs says what the server was busy with.
func whatIs(busy *actions.BusyError) message.Message {
	out := message.New("obstacle."+string(busy.Obstacle), "", message.Text("obstacle", string(busy.Obstacle)))
	if busy.NS != "" {
		out = out.With(message.Namespace("ns", busy.NS))
	}
	if busy.Shard != "" {
		out = out.With(message.Shard("shard", busy.Shard))
	}
	switch {
	case busy.Obstacle == actions.ObstacleMigration && busy.NS != "":
		out.Code += ".of"
		out.Pattern = "A migration of {ns} with {shard}: a shard takes part in one at a time."
	case busy.Obstacle == actions.ObstacleMigration:
		out.Pattern = "A migration that one of the shards takes part in."
	case busy.Obstacle == actions.ObstacleOrphans:
		out.Pattern = "The shard still has documents of this range from before, " +
			"and deletes them about 15 minutes after the range was moved away."
	case busy.Obstacle == actions.ObstacleLock:
		out.Pattern = "Somebody else holds a lock that the server needs for this."
	case busy.Obstacle == actions.ObstacleMetadata:
		out.Pattern = "The routing information changed while the command was running."
	case busy.Obstacle == actions.ObstacleDDL:
		out.Pattern = "Another operation is changing the collection, or its migrations are disabled."
	case busy.Obstacle == actions.ObstacleTime:
		out.Pattern = "The server’s time limit was reached, as happens behind a migration of the same collection."
	default:
		out.Pattern = "Something is in the way ({obstacle})."
	}
	return out
}

// waitForCleanup names the range that the recipient has to delete first.
func waitForCleanup(w Backoff, c actions.Cleanup) Backoff {
	w.Until = c.Until.Add(orphanGrace)
	w.What = message.New("obstacle.orphansUntil",
		"This range was moved away from {shard} at {since}, and {shard} still has to delete its documents; "+
			"it cannot take the range back before about {until}.",
		message.Text("obstacle", string(actions.ObstacleOrphans)), message.Shard("shard", c.Shard),
		message.Time("since", c.Since), message.Time("until", c.Until))
	return w
}

// cleanup is the newest range that the recipient of a move gave away and may not
// have deleted yet.
func (x *execution) cleanup(s Step) (found actions.Cleanup, ok bool) {
	if !s.Migrates() {
		return found, false
	}
	ctx, cancel := context.WithTimeout(x.e.life, readTime)
	defer cancel()
	a, err := x.e.o.Reader.Activity(ctx, nil)
	if err != nil {
		return found, false
	}
	t := x.e.o.Tables.Table()
	c := t.Collection(s.NS)
	if c == nil {
		return found, false
	}
	orphans := t.SizeOn(s.NS, s.Shard).Orphans
	done := x.e.cleanups.list()
	for _, p := range a.Cleanups {
		if p.NS != s.NS || p.Shard != s.Shard || p.Until.IsZero() || !p.Overlaps(c.Key, s.Min, s.Max) || slices.ContainsFunc(done, p.Same) {
			continue
		}
		if orphans.Known && orphans.Value == 0 && orphans.At.After(p.Since) {
			continue
		}
		if !ok || p.Until.After(found.Until) {
			found, ok = p, true
		}
	}
	return found, ok
}

// foresee makes a move wait that would fail for certain: its recipient gave the
// range away and was seen to have orphaned documents since. Where they are not
// counted the first try tells, which costs ten seconds: a shard may delete at once.
func (x *execution) foresee(i int) bool {
	s := x.now().Steps[i]
	orphans := x.e.o.Tables.Table().SizeOn(s.NS, s.Shard).Orphans
	if s.Backoff != nil || !orphans.Known || orphans.Value == 0 {
		return true
	}
	c, pending := x.cleanup(s)
	if !pending || !orphans.At.After(c.Since) {
		return true
	}
	at := now()
	w := waitForCleanup(Backoff{Obstacle: actions.ObstacleOrphans, Since: at, First: at, Pause: orphanProbe, Next: at.Add(orphanProbe)}, c)
	return x.keep(func(r *Run) { r.Steps[i].Backoff = &w })
}

// waitOut waits until it is worth trying the step. try is false when the step has
// ended instead, ok is false when the process or the run has.
func (x *execution) waitOut(i int) (try, ok bool) {
	if x.now().Steps[i].Backoff == nil {
		return true, true
	}
	if !x.keep(func(r *Run) {
		r.Steps[i].State = Waiting
		r.State, r.Why = Waiting, inTheWay(*r.Steps[i].Backoff)
	}) {
		return false, false
	}
	looked := time.Time{}
	for {
		s := x.now().Steps[i]
		at := now()
		if from, anew := s.Backoff.from(at); anew {
			x.show(func(r *Run) { r.Steps[i].Backoff = &from })
			continue
		}
		every, tick := effectEvery, waitTick
		if s.Backoff.Obstacle == actions.ObstacleOrphans {
			every, tick = effectRarely, effectEvery
		}
		if at.Sub(looked).Abs() >= every {
			looked = at
			if proof, held := x.held(s); held {
				return false, x.already(i, proof)
			}
		}
		if !at.Before(s.Backoff.Until) {
			return false, x.finish(i, func(s *Step) { gaveUp(s, *s.Backoff) })
		}
		if !at.Before(s.Backoff.Next) && x.worthTrying(i, s) {
			return true, true
		}
		t := time.NewTimer(tick)
		select {
		case <-t.C:
		case <-x.toStop():
			t.Stop()
			return false, x.halted(i)
		case <-x.e.life.Done():
			t.Stop()
			return false, false
		}
		if x.stopping() && !s.Restores {
			return false, x.halted(i)
		}
	}
}

// worthTrying looks whether the migration that is in the way has ended. Not to be
// told is no reason to wait longer.
func (x *execution) worthTrying(i int, s Step) bool {
	if s.Backoff.Obstacle != actions.ObstacleMigration && s.Backoff.Obstacle != actions.ObstacleTime {
		return true
	}
	ctx, cancel := context.WithTimeout(x.e.life, readTime)
	defer cancel()
	all, err := x.e.o.Reader.MigrationsNow(ctx)
	if err != nil {
		if fault.Of(err) == fault.Forbidden {
			return true
		}
		x.show(func(r *Run) { next(r, i, now().Add(lockLonger)) })
		return false
	}
	at := slices.IndexFunc(all, func(m balance.Migration) bool { return hinders(s.Step, m) })
	if at < 0 {
		return true
	}
	m := all[at]
	x.show(func(r *Run) {
		next(r, i, now().Add(waitTick))
		r.Steps[i].Backoff.What = message.New(
			"obstacle.migrationOf",
			"The migration of a chunk of {ns} from {from} to {to}: a shard takes part in one at a time.",
			message.Text(
				"obstacle",
				string(s.Backoff.Obstacle),
			),
			message.Namespace("ns", m.NS),
			message.Shard("from", m.From),
			message.Shard("to", m.To),
		)
		r.Why.Facts = r.Steps[i].Backoff.What.Facts
	})
	return false
}

// next sets the time of the next try. Runs are values: what they point to is
// replaced, never changed.
func next(r *Run, i int, at time.Time) {
	w := *r.Steps[i].Backoff
	w.Next = at
	r.Steps[i].Backoff = &w
}

// hinders tells whether a migration keeps a step from being done: a shard takes
// part in one at a time, and a split or a merge waits for one of its collection.
func hinders(s actions.Step, m balance.Migration) bool {
	if !s.Migrates() {
		return m.NS == s.NS
	}
	for _, key := range shardKeysOf(s) {
		if key == "shard "+m.From || key == "shard "+m.To {
			return true
		}
	}
	return false
}
