package enginetest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// The writes of a batch of two moves, at each of which a process may end: the plan of an item, the
// intent that names its run, the run, its own intent, and what became of it.
func TestBatchGoesOnAfterACrashAtAnyWrite(t *testing.T) {
	writes := 40
	if testing.Short() {
		writes = 14
	}
	for n := 1; n <= writes; n++ {
		for _, kept := range []bool{false, true} {
			crashAtWrite(t, n, kept)
		}
	}
}

// crashAtWrite ends the process at the nth write after the start of a batch, before or after
// the write has reached the disk.
func crashAtWrite(t *testing.T, n int, kept bool) {
	t.Run(fmt.Sprintf("write %d, on disk %v", n, kept), func(t *testing.T) {
		OnRig(t, Setup{Seed: uint64(n)}, func(r *Rig) {
			p := r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10)})
			id := r.Start(p).ID
			var left atomic.Int64 // the batch and its items write at the same time
			left.Store(int64(n))
			reached := make(chan struct{})
			crash := func(Write) error {
				if left.Add(-1) == 0 {
					close(reached)
					r.handle.Cut()
				}
				return nil
			}
			if kept {
				r.Disk.Fail(nil, crash)
			} else {
				r.Disk.Fail(crash, nil)
			}
			select {
			case <-reached:
			case <-time.After(time.Hour): // the batch ended before
			}
			r.Disk.Fail(nil, nil)
			r.Restart()
			run := r.WaitEnd(id)
			if run.State != engine.Succeeded || run.Batch.Done != 2 {
				r.Fatalf("%s %v: %+v", run.State, run.Why, run.Batch)
			}
			r.checkMoved(id, "shard-rs-2", 0, 10)
		})
	})
}

func TestBatchIsContinuedByTheNextProcessWhileItsItemIsRunning(t *testing.T) {
	for _, at := range []simcluster.Step{simcluster.Received, simcluster.Cloned, simcluster.Replying} {
		OnRig(t, Setup{}, func(r *Rig) {
			rule := r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: at, Hold: true})
			id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10, 20)})).ID
			<-rule.Reached()
			r.Restart()
			time.Sleep(time.Minute)
			rule.Remove()
			run := r.WaitEnd(id)
			if run.State != engine.Succeeded || run.Batch.Done != 3 {
				r.Fatalf("%s %v: %+v", run.State, run.Why, run.Batch)
			}
			r.checkMoved(id, "shard-rs-2", 0, 10, 20)
		})
	}
}
