package engine

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// waitForObstacle waits until the step is worth trying. try is false when the step
// has ended instead; ok is false when the run or the process has.
func (x *execution) waitForObstacle(i int) (try, ok bool) {
	if x.current().Steps[i].Backoff == nil {
		return true, true
	}
	if !x.persist(func(r *Run) {
		r.Steps[i].State = Waiting
		r.State, r.Why = Waiting, waitingText(*r.Steps[i].Backoff)
	}) {
		return false, false
	}
	effectChecked := time.Time{}
	for {
		s := x.current().Steps[i]
		at := x.e.now()
		if restarted, changed := s.Backoff.afterClockChange(at); changed {
			x.updateMemory(func(r *Run) { r.Steps[i].Backoff = &restarted })
			continue
		}
		effectEvery, tick := effectPoll, obstaclePoll
		if s.Backoff.Obstacle == operation.ObstacleOrphans {
			effectEvery, tick = orphanEffectPoll, effectPoll
		}
		if at.Sub(effectChecked).Abs() >= effectEvery {
			effectChecked = at
			if proof, done := x.alreadyDone(s); done {
				return false, x.endAlreadyDone(i, proof)
			}
			if taken, ok := x.takeOther(i); taken || !ok { // one may have become free
				return false, ok
			}
		}
		if !at.Before(s.Backoff.Until) {
			return false, x.endStep(i, func(s *Step) { markGaveUp(s, *s.Backoff) })
		}
		if x.orphansGone(s) || !at.Before(s.Backoff.Next) && x.obstacleGone(i, s) {
			return true, true
		}
		select {
		case <-time.After(tick):
		case <-x.newStopSignal():
			return false, x.endStopped(i)
		case <-x.ctx.Done():
			return false, false
		}
		if x.stopRequested() && !s.Restores {
			return false, x.endStopped(i)
		}
	}
}

// obstacleGone reports whether the migration in the way has ended. When migrations
// may not be read, the step is tried: waiting longer would not help.
func (x *execution) obstacleGone(i int, s Step) bool {
	if s.Backoff.Obstacle == actions.ObstacleDeletion && x.deletesOn(s.Step) != "" {
		x.updateMemory(func(r *Run) { setNextTry(r, i, x.e.now().Add(obstaclePoll)) })
		return false
	}
	if s.Backoff.Obstacle != operation.ObstacleMigration && s.Backoff.Obstacle != operation.ObstacleTime {
		return true
	}
	ctx, cancel := context.WithTimeout(x.ctx, readTimeout)
	defer cancel()
	all, err := x.e.opts.Reader.MigrationsNow(ctx)
	if err != nil {
		if fault.Of(err) == fault.Forbidden {
			return true
		}
		x.updateMemory(func(r *Run) { setNextTry(r, i, x.e.now().Add(lockRetryMax)) })
		return false
	}
	at := slices.IndexFunc(all, func(m balance.Migration) bool { return blocks(s.Step, m) })
	if at < 0 {
		return true
	}
	m := all[at]
	x.updateMemory(func(r *Run) {
		setNextTry(r, i, x.e.now().Add(obstaclePoll))
		if s.Backoff.What.Code == obstacleOwn {
			return
		}
		r.Steps[i].Backoff.What = message.New("obstacle.migrationOf",
			"The move of a chunk of {ns} from {from} to {to}: a shard takes part in one move at a time.",
			message.Text("obstacle", string(s.Backoff.Obstacle)), message.Namespace("ns", m.NS),
			message.Shard("from", m.From), message.Shard("to", m.To))
		r.Why.Facts = r.Steps[i].Backoff.What.Facts
	})
	return false
}

// blocks reports whether a migration prevents a step. A shard takes part in one
// migration at a time, and a split or a merge waits for a migration of its
// collection.
func blocks(s operation.Step, m balance.Migration) bool {
	if !s.Migrates() {
		return m.NS == s.NS
	}
	return slices.ContainsFunc(shardClaims(s), func(c claim) bool { return c == named("shard "+m.From) || c == named("shard "+m.To) })
}
