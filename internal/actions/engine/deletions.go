package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// A move that waits for the deletion of the old documents (waitForDelete) is done when it is committed and proven.
// What the donor still does then is shown, and only steps that need the donor wait for it: open cursors can hold it
// up for long.

// deletionGrace is how long after its commit a move may take until its answer comes, before the run goes on without
// it.
const deletionGrace = 10 * time.Second

// errDeletes is the result of a command whose effect was read and which still waits for the deletion.
var errDeletes = errors.New("committed; the old documents are still being deleted")

// deletion is a move whose command still waits for the deletion on its donor.
type deletion struct {
	donor string
	sent  time.Time // identifies the step
}

// sendAndWait sends the command of a move that waits for the deletion, and returns its answer, or errDeletes when the
// move was read to be committed and the answer has not come. cancel is called when it has.
func (x *execution) sendAndWait(ctx context.Context, cancel context.CancelFunc, i int, s operation.Step, c operation.Command) error {
	answer := make(chan error, 1)
	x.term.goroutines.Go(func() {
		defer cancel()
		answer <- s.Send(ctx, x.e.opts.Admin, x.id, c)
	})
	begun, committed := x.e.now(), time.Time{}
	for {
		select {
		case err := <-answer:
			return err
		case <-time.After(progressPause(x.e.now().Sub(begun))):
		}
		if !committed.IsZero() && x.e.now().Sub(committed) >= deletionGrace {
			break
		}
		if _, missing, err := x.e.readFacts(ctx, s.Proof); committed.IsZero() && err == nil && len(missing) == 0 {
			committed = x.e.now()
		}
	}
	d := deletion{donor: donorOf(s), sent: x.current().Steps[i].Sent}
	x.mu.Lock()
	x.deletions = append(x.deletions, d)
	x.mu.Unlock()
	x.term.goroutines.Go(func() { x.endDeletion(d, <-answer) })
	return errDeletes
}

// endDeletion notes that the command of a move has been answered after its step had ended.
func (x *execution) endDeletion(d deletion, err error) {
	x.mu.Lock()
	x.deletions = slices.DeleteFunc(x.deletions, func(o deletion) bool { return o == d })
	x.mu.Unlock()
	x.updateMemory(func(r *Run) {
		i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Sent.Equal(d.sent) && s.Wait && s.State == Succeeded })
		if i < 0 || err != nil {
			return
		}
		s := &r.Steps[i]
		if s.Answered = true; s.Why.Code == stepDeletes {
			s.Why = message.Message{}
		}
		done := *s
		done.Ended = x.e.now()
		x.e.cleanups.add(done)
	})
}

const stepDeletes = "step.deletes"

// deletesText says that the move is done and the deletion is not.
func deletesText(s Step) message.Message {
	return message.New(stepDeletes, "The move is committed and proven. When the step ended, {shard} was still deleting the old documents.",
		message.Shard("shard", donorOf(s.Step)))
}

// donorOf is the shard that a move expects to own its range; "" if it does not say.
func donorOf(s operation.Step) string {
	for _, f := range s.Needs {
		if f.Kind == operation.FactChunk {
			return f.Want["shard"]
		}
	}
	return ""
}

// AwaitedDeletion is a deletion of old documents that a run waits for.
type AwaitedDeletion struct {
	Shard string
	NS    topology.Namespace // "": of any collection
	Moved time.Time          // when the step that moved the range away ended; zero: it waits
}

// AwaitedDeletions are the deletions that a run waits for: of documents in the way of a range that comes back, of a
// range that it moved away, and of what is left on a shard that it drains.
func (r Run) AwaitedDeletions() (out []AwaitedDeletion) {
	for _, s := range r.Steps {
		var w AwaitedDeletion
		switch {
		case s.Wait && s.Migrates() && (s.State == Running || s.State == Succeeded && s.Why.Code == stepDeletes && !s.Answered):
			w = AwaitedDeletion{donorOf(s.Step), s.NS, s.Ended}
		case s.State == Waiting && s.Backoff != nil && s.Backoff.Obstacle == operation.ObstacleOrphans:
			w = AwaitedDeletion{Shard: s.Shard, NS: s.NS}
		case s.State == Waiting && s.Backoff != nil && s.Backoff.Obstacle == actions.ObstacleDeletion:
			w = AwaitedDeletion{Shard: donorOf(s.Step)}
			if named, ok := s.Backoff.What.Fact("shard"); ok {
				w.Shard = named.Value
			}
		case s.AwaitsDrain() && s.State.Open() && !s.Sent.IsZero():
			w = AwaitedDeletion{Shard: s.Shard}
		}
		if w.Shard != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// deletesOn is a shard of a step on which an earlier move of this run still deletes; "" if there is none. Until
// then the shard takes part in no other move.
func (x *execution) deletesOn(s operation.Step) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range x.deletions {
		if slices.Contains(shardClaims(s), named("shard "+d.donor)) {
			return d.donor
		}
	}
	return ""
}

// foreseeDeletion lets a step wait for the deletion of an earlier move of this run, instead of being refused
// because of it.
func (x *execution) foreseeDeletion(i int) bool {
	s := x.current().Steps[i]
	shard := x.deletesOn(s.Step)
	if shard == "" || s.Backoff != nil && s.Backoff.Obstacle == actions.ObstacleDeletion {
		return true
	}
	at := x.e.now()
	w := Backoff{Obstacle: actions.ObstacleDeletion, Since: at, First: at, Next: at.Add(obstaclePoll),
		Until: at.Add(operation.MigrationTimeout),
		Pause: obstaclePoll, What: message.New("obstacle.deletion", "{shard} still deletes the documents of the range that it has given "+
			"away last, and takes part in no other move until then.",
			message.Text("obstacle", string(actions.ObstacleDeletion)), message.Shard("shard", shard))}
	return x.persist(func(r *Run) { r.Steps[i].Backoff = &w })
}
