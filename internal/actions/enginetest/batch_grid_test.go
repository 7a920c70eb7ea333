package enginetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// gridItems are where the chunks begin that the batch of the grid moves to shard-rs-2.
var gridItems = []int{0, 10, 20}

// gridBatch plans a batch of three moves: a canary and a group of two.
func (r *Rig) gridBatch() actions.Plan {
	r.Helper()
	return r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", gridItems...), Group: 2})
}

// Every fault is tried at every step of the second move of a batch. The batch goes on by itself
// unless another client interferes.
func TestBatchesGoOnInTheGridOfFaults(t *testing.T) {
	move := caseNamed("move")
	points := slices.DeleteFunc(simcluster.FaultPoints(), func(p simcluster.FaultPoint) bool { return p.Command != move.Command })
	for n, f := range gridFaults() {
		for i, p := range points {
			if f.applies != nil && !f.applies(move, p) || (n*5+i)%sampleSize(53, 11, 1) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", f.name, p.At), func(t *testing.T) {
				OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) { r.runBatchCell(move, p, f) })
			})
		}
	}
}

// runBatchCell runs the batch with a fault at a step of its second move and heals the cluster.
func (r *Rig) runBatchCell(c Case, p simcluster.FaultPoint, f gridFault) {
	r.Helper()
	plan := r.gridBatch()
	second := actions.Plan{Commands: []operation.Command{r.Plan(actions.MoveChunk, moveArgs(gridItems[1], "shard-rs-2")).Commands[0]}}
	c.Args = moveArgs(gridItems[1], "shard-rs-2")
	rule := f.rule(c, second)
	rule.Nth = 2
	id, healed := r.strike(f, p, rule, plan)
	run := r.Wait(id, func(run engine.Run) bool { return hasEnded(run) || isHeld(run) })
	if took := time.Since(healed); took > 20*time.Minute { // a second move of the same chunk waits a quarter of an hour for orphans
		r.Errorf("ended or paused %s after the cluster was whole", took)
	}
	for range gridItems { // what another client has done may need a decision
		if waiting := run.Batch.Waiting(); f.otherClient && len(waiting) > 0 {
			r.resume(id, engine.ResumeRequest{Item: waiting[0], Do: engine.DoSkip})
			run = r.Wait(id, func(run engine.Run) bool { return hasEnded(run) || isHeld(run) })
		}
	}
	if !hasEnded(run) || !f.otherClient && (run.State != engine.Succeeded || run.Batch.Done != len(gridItems)) {
		r.Errorf("%s %v: %+v", run.State, run.Why, run.Batch)
	}
	r.checkItems(run, f.otherClient)
	r.checkStartAudited(id)
}

// checkItems fails the test unless the batch itself has sent nothing, each run of an item was named by
// an intent of the batch before it began, the runs of one item do not overlap, and none has sent a
// command twice.
func (r *Rig) checkItems(batch engine.Run, otherClient bool) {
	r.Helper()
	if n := len(r.Sent(batch.ID)); n > 0 {
		r.Errorf("the batch itself sent %d commands", n)
	}
	named := r.Disk.intentsOf(batch.ID)
	last := map[int]engine.Run{}
	children := slices.DeleteFunc(r.Disk.allRuns(), func(c engine.Run) bool { return c.Parent != batch.ID })
	slices.SortStableFunc(children, func(a, b engine.Run) int { return a.Started.Compare(b.Started) })
	for _, c := range children {
		if at, ok := named[c.ID]; !ok || at.After(c.Started.Add(time.Second)) {
			r.Errorf("run %s of item %d began at %s, its intent is from %s", c.ID, c.Item, c.Started, at)
		}
		if before := last[c.Item]; before.ID != "" && (before.State.Open() || before.Ended.After(c.Started)) {
			r.Errorf("item %d began again although its first run was %s", c.Item, before.State)
		}
		expect.That(r, !c.State.Open(), "the run of item %d is still %s", c.Item, c.State)
		last[c.Item] = c
		r.CheckSentOnce(c)
	}
	if otherClient {
		return
	}
	for _, at := range gridItems {
		expect.Equal(r, r.ownerOf(at), "shard-rs-2", "the chunk from %d is on", at)
	}
}

// takeover is a moment of a batch at which another replica takes the lead.
type takeover struct {
	write int  // the nth after the start; 0: during a command
	after bool // the write has reached the store
	at    simcluster.Step
}

func (m takeover) String() string {
	if m.write == 0 {
		return "second move, " + string(m.at)
	}
	return fmt.Sprintf("write %d, stored %v", m.write, m.after)
}

// takeovers are around every write of the batch of the grid, and during its second command.
func takeovers() (out []takeover) {
	for n := 1; n <= 52; n++ {
		out = append(out, takeover{write: n}, takeover{write: n, after: true})
	}
	for _, at := range []simcluster.Step{
		simcluster.Received, simcluster.Cloned, simcluster.Critical, simcluster.Committed, simcluster.Replying,
	} {
		out = append(out, takeover{at: at})
	}
	return out
}

// The lead is lost in the middle of a batch, in every way. The other replica runs the rest; no item is
// sent twice, and the former leader writes nothing more.
func TestBatchIsContinuedByTheReplicaThatTakesTheLead(t *testing.T) {
	n := 0
	for _, m := range takeovers() {
		for _, l := range losses() {
			if n++; n%sampleSize(67, 13, 1) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", m, l.name), func(t *testing.T) {
				onReplicas(t, Setup{}, func(r *Rig, other *otherReplica) { r.loseLeadOfBatch(other, m, l) })
			})
		}
	}
}

func (r *Rig) loseLeadOfBatch(other *otherReplica, m takeover, l loss) {
	r.Helper()
	p := r.gridBatch()
	lose, lost := r.loses(other, l)
	var held *simcluster.Planted
	if m.write == 0 {
		held = r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: m.at, Nth: 2, Hold: true})
	}
	id := r.Start(p).ID
	if held != nil {
		<-held.Reached()
		lose()
		time.Sleep(5 * time.Second) // the other replica looks at the command in flight
		held.Remove()
	} else {
		var left atomic.Int64
		left.Store(int64(m.write))
		strike := func(Write) error {
			if left.Add(-1) == 0 {
				lose()
			}
			return nil
		}
		if m.after {
			r.Disk.Fail(nil, strike)
		} else {
			r.Disk.Fail(strike, nil)
		}
	}
	select {
	case <-lost:
	case <-time.After(time.Hour): // the batch has fewer writes; it is taken over when it has ended
		lose()
	}
	r.Disk.Fail(nil, nil)
	run := r.waitEndAt(other, id)
	r.checkWritesNoMore()
	must.That(r, run.State == engine.Succeeded && run.Batch.Done == len(gridItems),
		"%s %v: %+v", run.State, run.Why, run.Batch)
	r.checkItems(run, false)
	moved, refused := len(r.Sim.Faults().Seen("moveChunk")), 0
	for _, c := range r.Disk.allRuns() {
		for _, s := range c.Steps {
			if s.State == engine.Deferred && !s.Sent.IsZero() { // the shard was busy with the move before
				refused++
			}
		}
	}
	expect.Equal(r, moved, len(gridItems)+refused,
		"commands for %d moves, of which %d were refused", len(gridItems), refused)
}
