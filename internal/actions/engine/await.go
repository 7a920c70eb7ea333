package engine

import (
	"time"

	"shardboard/internal/message"
)

// awaitEvery is the pause between two looks at what the cluster does by itself.
const awaitEvery = 2 * time.Second

// await looks at the proof of a step that sends nothing until all of it holds,
// with progress. It ends otherwise only when somebody stops the run.
func (x *execution) await(i int) bool {
	begun := func(r *Run) {
		r.State, r.Why = Running, message.New("run.awaiting",
			"Waiting until the balancer has finished the moves.")
		if s := &r.Steps[i]; s.State != Running {
			s.State, s.Sent = Running, now()
		}
	}
	if !x.keep(begun) {
		return false
	}
	s := x.now().Steps[i]
	for {
		proof, missing, err := x.e.read(x.e.life, s.Proof)
		switch {
		case x.e.life.Err() != nil:
			return false
		case err == nil && len(missing) == 0:
			return x.finish(i, func(s *Step) {
				s.State, s.Proven, s.Changed, s.Why = Succeeded, proof, nil, message.Message{}
				s.Progress = Progress{Done: int64(len(s.Proof)), Total: int64(len(s.Proof))}
			})
		case err == nil:
			x.show(func(r *Run) {
				r.Steps[i].Progress = Progress{Done: holding(proof), Total: int64(len(s.Proof))}
				r.Steps[i].Changed = missing
			})
		}
		t := time.NewTimer(awaitEvery)
		select {
		case <-t.C:
		case <-x.stop:
			t.Stop()
			return x.halted(i)
		case <-x.e.life.Done():
			t.Stop()
			return false
		}
	}
}

func holding(proof []Reading) (n int64) {
	for _, r := range proof {
		if len(r.Fact.Against(r.Got)) == 0 {
			n++
		}
	}
	return n
}
