package enginetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

// failingReads is a journal whose open runs cannot be read a few times.
type failingReads struct {
	engine.Journal
	left *atomic.Int64
}

func (b failingReads) OpenRuns(ctx context.Context, cluster string) ([]store.RunRecord, error) {
	if b.left.Add(-1) >= 0 {
		return nil, ErrDisk
	}
	return b.Journal.OpenRuns(ctx, cluster)
}

// A disk that cannot be read at the start does not end the process.
func TestOpenRunsAreTakenOverOnceTheJournalCanBeRead(t *testing.T) {
	c := caseNamed("move")
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.Kill()
		rule.Remove()
		var left atomic.Int64
		left.Store(4)
		r.wrap = func(o *engine.Options) { o.Journal = failingReads{o.Journal, &left} }
		r.Boot()
		time.Sleep(time.Minute)
		run := r.WaitEnd(id)
		if run.State != engine.Succeeded || !run.Resolved || left.Load() >= 0 {
			r.Errorf("%s, resolved %v, %v", run.State, run.Resolved, run.Why)
		}
		r.checkReported(run)
	})
}
