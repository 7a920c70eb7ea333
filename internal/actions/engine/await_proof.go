package engine

import (
	"time"

	"shardboard/internal/message"
)

// awaitPoll is the pause between two reads of the proof.
const awaitPoll = 2 * time.Second

// awaitProof handles a step that sends nothing and waits for the balancer: it reads
// the proof until all of it holds, and shows the progress. Otherwise it ends only
// when the run is stopped.
func (x *execution) awaitProof(i int) bool {
	if s := x.current().Steps[i]; s.AwaitsDrain() {
		return x.awaitDrained(i, s)
	}
	begun := func(r *Run) {
		r.State, r.Why = Running, message.New("run.awaiting",
			"Waiting until the balancer has finished the moves.")
		if s := &r.Steps[i]; s.State != Running {
			s.State, s.Sent = Running, x.e.now()
		}
	}
	if !x.persist(begun) {
		return false
	}
	s := x.current().Steps[i]
	for {
		proof, missing, err := x.e.readFacts(x.ctx, s.Proof)
		switch {
		case x.ctx.Err() != nil:
			return false
		case err == nil && len(missing) == 0:
			return x.endStep(i, func(s *Step) {
				s.State, s.Proven, s.Changed, s.Why = Succeeded, proof, nil, message.Message{}
				s.Progress = Progress{Done: int64(len(s.Proof)), Total: int64(len(s.Proof))}
			})
		case err == nil:
			x.updateMemory(func(r *Run) {
				r.Steps[i].Progress = Progress{Done: countHolding(proof), Total: int64(len(s.Proof))}
				r.Steps[i].Changed = missing
			})
		}
		select {
		case <-time.After(awaitPoll):
		case <-x.stopSignal:
			return x.endStopped(i)
		case <-x.ctx.Done():
			return false
		}
	}
}

// countHolding counts the facts that hold.
func countHolding(proof []Reading) (n int64) {
	for _, r := range proof {
		if len(r.Fact.Against(r.Got)) == 0 {
			n++
		}
	}
	return n
}
