package engine

import (
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/clock"
	"shardboard/internal/message"
)

// How long a step waits for an obstacle, and how often it looks.
const (
	conflictLimit = 15 * time.Minute // for migrations, locks and metadata changes
	longestWait   = time.Hour        // for alternating obstacles
	orphanGrace   = 10 * time.Minute // after the time by which the shard should have deleted them

	// The balancer pauses for a second between rounds; looking twice in that time finds the gap.
	obstaclePoll = 500 * time.Millisecond

	// How often to check whether somebody else has made the change. Deleting orphaned
	// documents takes minutes.
	effectPoll       = 2 * time.Second
	orphanEffectPoll = 10 * time.Second

	lockRetryMin = time.Second
	lockRetryMax = 5 * time.Second

	// Each try of a move to a shard with orphaned documents keeps both shards busy for
	// ten seconds, and both log it as a failed migration. So there is none before the
	// time at which the documents should be gone, if that is known.
	orphanRetry = time.Minute
	orphanSlack = 5 * time.Second // between our clock and the cluster's
)

// Backoff is what a step waits for.
type Backoff struct {
	Obstacle operation.Obstacle
	What     message.Message // what is in the way, as far as known
	Since    time.Time       // when this obstacle was first in the way
	First    time.Time       // when any obstacle was first in the way
	Next     time.Time       // when the step is tried again
	Tried    time.Time       // when it was refused last; zero: never, it was foreseen
	Until    time.Time       // when the step gives up
	Pause    time.Duration
}

// afterClockChange restarts a wait that appears to have begun in the future, which
// means that the clock was set back. Otherwise the wait would last until that time.
func (w Backoff) afterClockChange(at time.Time) (restarted Backoff, changed bool) {
	if !clock.Ahead(w.Since, at) {
		return w, false
	}
	w.Next, w.Until = at, at.Add(w.Until.Sub(w.Since))
	w.Since, w.First = at, at
	return w, true
}

// newBackoff decides how long a step waits after a refusal.
func (x *execution) newBackoff(s Step, busy *operation.BusyError) Backoff {
	at := x.e.now()
	w := Backoff{Obstacle: busy.Obstacle, Since: at, First: at, Tried: at, What: obstacleText(busy)}
	if s.Backoff != nil {
		before, _ := s.Backoff.afterClockChange(at)
		w.First = before.First
		if before.Obstacle == operation.ObstacleTime && busy.Gives && busy.NS == s.NS && busy.Shard == s.Shard {
			w.What = w.What.With(message.Key("range", busy.Range))
			w.What.Code, w.What.Pattern = obstacleOwn, "The donor still works on the earlier command of this step, "+
				"whose time limit has passed: it is giving the range {range} of {ns} to {shard}."
		}
		if before.Obstacle == w.Obstacle { // every obstacle has its own time limit
			w.Since, w.Pause = before.Since, before.Pause
		}
	}
	switch busy.Obstacle {
	case operation.ObstacleOrphans:
		w.Pause = orphanRetry
		w.Next, w.Until = at.Add(orphanRetry), w.Since.Add(actions.OrphanDelay+orphanGrace)
		if c, ok := x.pendingCleanup(s); ok {
			w = backoffForCleanup(w, c)
		}
	case operation.ObstacleMigration, operation.ObstacleTime:
		w.Next, w.Until = at.Add(obstaclePoll), w.Since.Add(conflictLimit)
	default:
		w.Pause = min(max(2*w.Pause, lockRetryMin), lockRetryMax)
		w.Next, w.Until = at.Add(w.Pause), w.Since.Add(conflictLimit)
	}
	if last := w.First.Add(longestWait); w.Until.After(last) {
		w.Until = last
	}
	return w
}

// obstacleOwn says that the earlier command of the same step is in the way.
const obstacleOwn = "obstacle.migrationOwn"

// setNextTry sets the time of the next try. Runs are values, so the Backoff that
// they point to is replaced and never changed.
func setNextTry(r *Run, i int, at time.Time) {
	w := *r.Steps[i].Backoff
	w.Next = at
	r.Steps[i].Backoff = &w
}
