package enginetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

// otherReplica is a second process over the same disk and cluster. The rig's own process leads
// first.
type otherReplica struct {
	*engine.Engine
	handle *Handle
	end    func()
}

// startOther makes the rig's process the leader of a shared disk and starts another replica.
func (r *Rig) startOther() *otherReplica {
	r.Helper()
	h := r.Disk.Open()
	client, _, o := r.connect(&Network{sim: r.Sim}, h, 99)
	if r.wrap != nil {
		r.wrap(&o)
	}
	e := engine.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	return &otherReplica{e, h, func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, errCut) {
			r.Error(err)
		}
		_ = client.Close(context.Background())
	}}
}

// onReplicas runs a test on a rig whose process leads one of two replicas.
func onReplicas(t *testing.T, s Setup, test func(r *Rig, other *otherReplica)) {
	t.Helper()
	OnRig(t, s, func(r *Rig) {
		r.Kill()
		r.Disk.Share()
		r.Boot()
		r.handle.Elect()
		other := r.startOther()
		defer other.end()
		test(r, other)
	})
}

// loss is a way to lose the lead.
type loss struct {
	name string
	do   func(r *Rig)
}

func losses() []loss {
	return []loss{
		{"killed", func(r *Rig) { r.handle.Cut() }},
		// It goes on and finds out only from the store.
		{"paused, and it goes on", func(*Rig) {}},
		{"told", func(r *Rig) { r.handle.Depose() }},
	}
}

// moment is a point of a run at which the lead is lost: around a write, or while the cluster executes
// a command.
type moment struct {
	name  string
	what  string // of a write
	after bool   // the write has reached the store
	at    simcluster.Step
}

func moments() []moment {
	return []moment{
		{name: "before the run is stored", what: "run"},
		{name: "after the run is stored", what: "run", after: true},
		{name: "before the intent", what: "intent"},
		{name: "after the intent", what: "intent", after: true},
		{name: "before the lead is confirmed", what: "confirm"},
		// Who does not notice it by the own clock sends the command now, once.
		{name: "after the lead is confirmed", what: "confirm", after: true},
		{name: "command received", at: simcluster.Received},
		{name: "command about to be answered", at: simcluster.Replying},
		{name: "before the outcome is stored", what: "save"},
	}
}

// The lead is lost at every moment of a run, in every way. The other replica settles the run. No
// command is sent twice, what is reported is true, and the former leader writes nothing more.
func TestNothingIsSentTwiceWhenTheLeadIsLost(t *testing.T) {
	cases, points := gridCases()
	n := 0
	for i, c := range cases {
		if i > 0 && points[i-1].Command == points[i].Command {
			continue // each command once
		}
		for _, m := range moments() {
			for _, l := range losses() {
				if n++; testing.Short() && n%41 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", c.Command, m.name, l.name), func(t *testing.T) {
					onReplicas(t, c.Setup(), func(r *Rig, other *otherReplica) { r.loseLead(other, c, m, l) })
				})
			}
		}
	}
}

// loses is how the lead is lost once to another replica, and when it was.
func (r *Rig) loses(other *otherReplica, l loss) (lose func(), lost <-chan struct{}) {
	done := make(chan struct{})
	return sync.OnceFunc(func() {
		other.handle.Elect()
		l.do(r)
		close(done)
	}), done
}

// checkWritesNoMore fails the test when the former leader writes for some time.
func (r *Rig) checkWritesNoMore() {
	r.Helper()
	by := r.Disk.writtenBy(r.handle)
	time.Sleep(3 * time.Minute)
	expect.Equal(r, r.Disk.writtenBy(r.handle), by, "writes of the former leader")
}

// loseLead runs a case, loses the lead at a moment and checks what the other replica makes of it.
func (r *Rig) loseLead(other *otherReplica, c Case, m moment, l loss) {
	r.Helper()
	p := c.Plan(r)
	if !r.handle.Leads() { // the case has started its process again
		r.handle.Elect()
	}
	lose, lost := r.loses(other, l)
	var held *simcluster.Planted
	switch strike := func(w Write) error {
		if w.What == m.what {
			lose()
		}
		return nil
	}; {
	case m.at != "":
		held = r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: m.at, Hold: true})
	case m.after:
		r.Disk.Fail(nil, strike)
	default:
		r.Disk.Fail(strike, nil)
	}
	started, _, err := r.RunPlan(Anna, p)
	if held != nil {
		r.Must(err)
		must.That(r, r.waitStruck(held, started.ID), "the command was not sent")
		lose()
		time.Sleep(5 * time.Second) // the other replica looks at the command in flight
		held.Remove()
	}
	select {
	case <-lost:
	case <-time.After(runLimit):
		run, _ := r.Engine.RunOfPlan(r.Context(), p.ID)
		r.Fatalf("the moment did not come: %v, %s %s %+v", err, run.State, run.Why.Code, run.Steps)
	}
	r.Disk.Fail(nil, nil)
	run, err := other.RunOfPlan(r.Context(), p.ID)
	if m.what == "run" && !m.after {
		expect.That(r, err != nil && len(r.Disk.allRuns()) == 0, "the former leader stored a run: %v", run.State)
		return
	}
	r.Must(err)
	run = r.waitEndAt(other, run.ID)
	r.checkWritesNoMore()
	r.CheckSentOnce(run)
	// One that knows it before the command is written sends nothing, also after the lead was confirmed.
	early := m.what == "run" || m.what == "intent" || m.what == "confirm" && (!m.after || l.name == "told")
	if n := len(r.Sent(run.ID)); early && n > 0 {
		r.Errorf("%d commands were sent after the lead was lost", n)
	}
	w := r.ReadState()
	for i, s := range run.Steps {
		if did := w.HasEffect(s.Step); s.Sends() && s.State != engine.Deferred && did != (s.State == engine.Succeeded) {
			r.Errorf("step %d is called %s (%s), its effect is there: %v", i, s.State, s.Why.Code, did)
		}
	}
	if again, created, err := other.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm}); err != nil || created ||
		again.ID != run.ID {
		r.Errorf("the plan ran again: %v %v %v", created, again.ID, err)
	}
	if l.name != "killed" {
		if _, _, err := r.RunPlan(Anna, p); !errors.Is(err, store.ErrNotLeading) {
			r.Errorf("the former leader runs plans: %v", err)
		}
	}
}

// waitEndAt waits for the end of a run at another replica.
func (r *Rig) waitEndAt(other *otherReplica, id string) engine.Run {
	r.Helper()
	for end := time.Now().Add(runLimit); ; time.Sleep(time.Second) {
		run, err := other.RunByID(r.Context(), id)
		r.Must(err)
		if hasEnded(run) {
			return run
		}
		must.That(r, !time.Now().After(end), "the run is still %s (%s)", run.State, run.Why.Code)
	}
}
