package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Plans, runs, stops, undos, other clients, a poller, crashes and faults of the
// cluster, the network and the disk happen in random order. Invariants are checked
// after each turn and, by the RecordChecker, at every write.
func TestRandomSequencesKeepEveryPromise(t *testing.T) {
	from, to := seeds(t, longSeeds(sampleSize(2, 100, 200)))
	for seed := from; seed < to; seed++ {
		sequence(t, seed)
	}
}

func sequence(t *testing.T, seed uint64) {
	t.Run(fmt.Sprintf("ACTIONS_SEED=%d", seed), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 3))
		release := []string{"5.0", "5.0", "6.0", "7.0", "8.0.12"}[rng.IntN(5)]
		OnCheckedRig(t, Setup{Seed: seed, Sim: simcluster.Options{ServerVersion: release}}, func(r *Rig, w *RecordChecker) {
			g := &game{Rig: r, rng: rng}
			w.OtherClient = func(since time.Time) bool { return g.lastOther.Load() >= since.Add(-time.Minute).UnixNano() }
			g.play()
		})
	})
}

// game is one random sequence.
type game struct {
	*Rig
	rng       *rand.Rand
	lastOther atomic.Int64 // when another client last changed something
	runs      []string     // of this turn

	watching atomic.Pointer[topology.Watcher] // used by the poller
}

// chance is true once in n times.
func (g *game) chance(n int) bool { return g.rng.IntN(n) == 0 }

func pick[T any](g *game, of ...T) T { return of[g.rng.IntN(len(of))] }

func (g *game) play() {
	g.watching.Store(g.Watcher)
	poll, end := context.WithCancel(context.Background())
	polled := make(chan struct{})
	pace := time.Duration(1+g.rng.IntN(90)) * time.Second
	go func() {
		defer close(polled)
		for poll.Err() == nil {
			select {
			case <-time.After(pace):
				_ = g.watching.Load().Refresh(poll)
			case <-poll.Done():
			}
		}
	}()
	defer func() { end(); <-polled }()
	for range 3 {
		g.turn()
		if g.Failed() {
			return
		}
	}
}

// turn makes a plan or two while things go wrong, and then restores peace.
func (g *game) turn() {
	before, quiet := g.ReadState(), time.Now()
	if g.chance(2) {
		g.plantFault()
	}
	g.runs = nil
	for range 1 + g.rng.IntN(2) {
		g.planAndRun()
	}
	g.disturb()
	g.heal()
	healed := time.Now()
	for _, id := range g.runs {
		g.WaitEnd(id)
	}
	if took := time.Since(healed); took > settleLimit {
		g.Errorf("settled %s after all was whole", took)
	}
	time.Sleep(time.Minute) // a run that was reported as not started may still have to end
	g.check()
	if len(g.runs) == 1 && g.lastOther.Load() <= quiet.UnixNano() {
		g.undoAndCompare(g.runs[0], before)
	}
	if g.chance(3) {
		time.Sleep(time.Duration(g.rng.IntN(30)) * time.Minute)
	}
}

func (g *game) heal() {
	time.Sleep(time.Duration(g.rng.IntN(90)) * time.Second)
	g.Rig.heal()
	g.watching.Store(g.Watcher)
}

// check verifies what must hold in peace.
func (g *game) check() {
	g.Helper()
	if torn := g.ReadState().ChunkGap(); torn != "" {
		g.Error(torn)
	}
	for _, run := range g.Disk.allRuns() {
		if run.State.Open() {
			g.Errorf("run %s (%s) is still %s (%s)", run.ID, run.Kind, run.State, run.Why.Code)
		}
		g.CheckSentOnce(run)
		g.checkStartAudited(run.ID)
		g.checkAudited(run)
	}
}

// checkAudited verifies that the audit record agrees with the run.
func (r *Rig) checkAudited(run engine.Run) {
	r.Helper()
	last := ""
	for _, e := range r.Disk.Recorded("run.ended") {
		if e.Subject == run.ID {
			last = e.Details["state"]
		}
	}
	if last != string(run.State) && (run.State != engine.Undone || last == "") {
		r.Errorf("run %s is %s, and its end is recorded as %q", run.ID, run.State, last)
	}
	for i, s := range run.Steps {
		last := ""
		for _, e := range r.Disk.Recorded("run.step") {
			if e.Subject == run.ID && e.Details["step"] == fmt.Sprint(i) {
				last = e.Details["state"]
			}
		}
		if s.State != engine.Planned && last != string(s.State) {
			r.Errorf("step %d of run %s is %s, and recorded as %q", i, run.ID, s.State, last)
		}
	}
}

// undoAndCompare undoes a run where possible and verifies that the cluster is as
// before.
func (g *game) undoAndCompare(id string, before ClusterState) {
	g.Helper()
	run, err := g.Engine.RunByID(g.Context(), id)
	g.Must(err)
	if !run.CanUndo() || g.chance(3) {
		return
	}
	time.Sleep(20 * time.Minute) // for the donors to clean up
	p, err := g.Engine.Undo(g.Context(), Bert, id, "chance")
	if err != nil {
		g.Errorf("%s %s, nobody else did anything, and it can't be undone: %v", run.Kind, run.State, err)
		return
	}
	undo, _, err := g.RunPlan(Bert, p)
	if err != nil {
		if !p.Blocked() {
			g.Errorf("the undo of %s does not run: %v", run.Kind, err)
		}
		return
	}
	if undo = g.WaitEnd(undo.ID); undo.State != engine.Succeeded {
		g.Errorf("the undo of %s is %s: %v", run.Kind, undo.State, undo.Why)
	}
	if now := g.ReadState(); !before.Balancer && run.Kind != actions.BalancerOn && now.String() != before.String() {
		g.Errorf("%s was undone, before:\n%safter:\n%s", run.Kind, before, now)
	}
	g.check()
}
