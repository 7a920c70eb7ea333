package engine

import (
	"time"

	"shardboard/internal/message"
)

// drainRead is how often the cluster itself is asked whether a shard is empty while the
// table says that it is not. Asking reads every chunk of the cluster, so the table, which
// is never older than a poll, decides when it is worth it.
const drainRead = 5 * time.Minute

// awaitDrained waits until nothing is left on a shard that drains. That may take hours. It
// ends early when the run is stopped, or when somebody else has ended the draining.
func (x *execution) awaitDrained(i int, s Step) bool {
	shard := message.Shard("shard", s.Shard)
	if !x.persist(func(r *Run) {
		r.State, r.Why = Running, message.New("run.draining",
			"The balancer moves what is on {shard} to the other shards. That may take hours, and this run sends nothing meanwhile.", shard)
		if s := &r.Steps[i]; s.State != Running {
			s.State, s.Sent = Running, x.e.now()
		}
		x.noteRemains(&r.Steps[i])
	}) {
		return false
	}
	var asked time.Time // the last time that the cluster was
	for seq := uint64(0); ; {
		t := x.e.opts.Tables.Table()
		on := t.Shard(s.Shard)
		if on == nil || !on.Draining || t.RemainsOn(s.Shard).Empty() || x.e.now().Sub(asked).Abs() >= drainRead {
			asked = x.e.now()
			if ended, ok := x.checkDrained(i, s); ended {
				return ok
			}
		}
		if t.Seq != seq {
			seq = t.Seq
			x.updateMemory(func(r *Run) { x.noteRemains(&r.Steps[i]) })
		}
		select {
		case <-time.After(awaitPoll):
		case <-x.stopSignal:
			return x.endDrainStopped(i, shard)
		case <-x.ctx.Done():
			return false
		}
	}
}

// checkDrained asks the cluster whether the waiting is over. If it cannot be read, the
// waiting goes on.
func (x *execution) checkDrained(i int, s Step) (ended, ok bool) {
	proof, missing, err := x.e.readFacts(x.ctx, s.Proof)
	if err != nil || x.ctx.Err() != nil {
		return x.ctx.Err() != nil, false
	}
	if len(missing) == 0 {
		return true, x.endStep(i, func(s *Step) {
			s.State, s.Proven, s.Changed, s.Why = Succeeded, proof, nil, message.Message{}
			s.Progress.Done = s.Progress.Total
		})
	}
	readings, different, err := x.readPreconditions(s.Step)
	if err != nil || len(different) == 0 {
		return x.ctx.Err() != nil, false
	}
	return true, x.endStep(i, func(s *Step) {
		s.State, s.Changed, s.Before, s.Why = Failed, different, readings, message.New("step.drainEnded",
			"{shard} is not draining any more: somebody else has ended that.", message.Shard("shard", s.Shard))
	})
}

// noteRemains shows how much has left the shard, of what was there when the waiting began.
// Chunks that are split meanwhile count as there from the beginning.
func (x *execution) noteRemains(s *Step) {
	left := x.e.opts.Tables.Table().RemainsOn(s.Shard)
	if !left.Known {
		return
	}
	n := int64(left.Pieces())
	s.Progress.Total = max(s.Progress.Total, n)
	s.Progress.Done = s.Progress.Total - n
}

// endDrainStopped ends the waiting. The draining goes on: only a command of its own ends it.
func (x *execution) endDrainStopped(i int, shard message.Fact) bool {
	r := x.current()
	why := message.New("run.stoppedDraining",
		"The waiting was stopped by {by} at {at}. {shard} still drains: the balancer continues to move its chunks. "+
			"To end the draining, plan stop-draining (MongoDB 8.3 and later).",
		message.Text("by", r.StopBy), message.Time("at", r.StopAt), shard)
	return x.endStep(i, func(s *Step) { s.State, s.Why = Stopped, why })
}
