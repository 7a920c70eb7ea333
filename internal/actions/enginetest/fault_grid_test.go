package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

// gridFault is something that goes wrong at a step of a command.
type gridFault struct {
	name    string
	applies func(c Case, p simcluster.FaultPoint) bool // nil: everywhere
	rule    func(c Case, plan actions.Plan) simcluster.Rule
	// meanwhile is called when the fault has struck, before all faults are healed.
	meanwhile func(r *Rig, run string)
	// otherClient means that another client makes the same change or reverts it, so
	// what the run found at its end need not hold later.
	otherClient bool
}

// settleLimit is how long an outcome may stay unknown after the cluster has
// recovered.
const settleLimit = time.Minute

func atStep(name string, rule simcluster.Rule) gridFault {
	return gridFault{name: name, rule: func(Case, actions.Plan) simcluster.Rule { return rule }}
}

func gridFaults() []gridFault {
	// The time limit of a migration is half a day, so try only some of its steps.
	seldom := func(c Case, p simcluster.FaultPoint) bool {
		return !strings.HasPrefix(c.Command, "move") || p.At == simcluster.Received || p.At == simcluster.Cloned || p.At == simcluster.Replying
	}
	early := func(_ Case, p simcluster.FaultPoint) bool { return p.At == simcluster.Received }
	chunks := func(c Case, _ simcluster.FaultPoint) bool { return c.Args.NS != "" }
	act := func(db string, cmd bson.D) func(Case, actions.Plan) simcluster.Rule {
		return func(Case, actions.Plan) simcluster.Rule {
			return simcluster.Rule{Do: simcluster.Other(db, cmd)}
		}
	}
	var out []gridFault
	for _, code := range []int32{10107, 11602, 189, 13388, 150, 117, 46, 194, 153, 200, 70} {
		out = append(out, atStep(fmt.Sprintf("error %d", code), simcluster.Rule{Err: simcluster.Fail(code)}))
	}
	out = append(
		out,
		atStep("cut", simcluster.Rule{Cut: true}),
		atStep("cut, and it goes on", simcluster.Rule{Cut: true, GoOn: true}),
		atStep("lost primary of a router, and it goes on", simcluster.Rule{Err: simcluster.Fail(10107), GoOn: true}),
		gridFault{name: "delay beyond the deadline", applies: seldom, rule: func(c Case, _ actions.Plan) simcluster.Rule {
			if strings.HasPrefix(c.Command, "move") {
				return simcluster.Rule{Delay: 13 * time.Hour}
			}
			return simcluster.Rule{Delay: 11 * time.Minute}
		}},
		atStep("slow", simcluster.Rule{Delay: 20 * time.Second}),
		gridFault{name: "delivered twice", applies: early, rule: atStep("", simcluster.Rule{Twice: true}).rule},
		atStep("step-down", simcluster.Rule{StepDown: true}),
		gridFault{name: "frozen config server", rule: atStep("", simcluster.Rule{Freeze: "config"}).rule,
			meanwhile: func(*Rig, string) { time.Sleep(time.Minute) }},
		gridFault{name: "frozen shard", rule: atStep("", simcluster.Rule{Freeze: "shard-rs-1"}).rule,
			meanwhile: func(*Rig, string) { time.Sleep(time.Minute) }},
		gridFault{name: "the balancer moves it", applies: chunks, otherClient: true, rule: func(c Case, _ actions.Plan) simcluster.Rule {
			return simcluster.Rule{Do: simcluster.Move(string(NS), keyDoc(c.firstKey()), "shard-rs-3")}
		}},
		gridFault{name: "a round of the balancer", otherClient: true, rule: atStep("", simcluster.Rule{Do: simcluster.Round}).rule},
		gridFault{name: "a second operator splits", applies: chunks, otherClient: true,
			rule: act("admin", bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: bson.D{{Key: "p", Value: 3}}}})},
		gridFault{
			name: "a second operator does the same", applies: chunks, otherClient: true,
			rule: func(_ Case, p actions.Plan) simcluster.Rule {
				same := p.Commands[len(p.Commands)-1]
				return simcluster.Rule{Do: simcluster.Other(same.DB, same.Doc)}
			},
		},
		gridFault{name: "a second operator turns the balancer", otherClient: true, rule: func(c Case, _ actions.Plan) simcluster.Rule {
			what := "balancerStart"
			if c.Kind == actions.BalancerOn {
				what = "balancerStop"
			}
			return simcluster.Rule{Do: simcluster.Other("admin", bson.D{{Key: what, Value: 1}})}
		}},
		gridFault{name: "the collection is dropped", applies: chunks, otherClient: true, rule: act("app", bson.D{{Key: "drop", Value: "users"}})},
		gridFault{name: "our process is killed", rule: atStep("", simcluster.Rule{Hold: true}).rule,
			meanwhile: func(r *Rig, _ string) { r.Kill() }},
		gridFault{name: "our process is started again", rule: atStep("", simcluster.Rule{Hold: true}).rule,
			meanwhile: func(r *Rig, _ string) { r.Restart(); time.Sleep(time.Minute) }},
		gridFault{
			name: "the network is cut",
			rule: atStep("", simcluster.Rule{Hold: true}).rule,
			meanwhile: func(r *Rig, id string) {
				r.Network.Cut()
				time.Sleep(time.Second)
				// It is shown before our own reads, which may take long, have failed too.
				if run := r.runNow(id); !run.IsBatch() && run.State != engine.Unknown {
					r.Errorf("%s a second after the network was cut", run.State)
				}
				time.Sleep(time.Minute)
			},
		},
		gridFault{name: "the disk is full", rule: atStep("", simcluster.Rule{Hold: true}).rule, meanwhile: func(r *Rig, _ string) {
			r.Disk.Fail(FailNth("", 1, true), nil)
			r.Sim.Faults().Heal()
			time.Sleep(time.Minute)
		}},
		gridFault{name: "every fsync fails", rule: atStep("", simcluster.Rule{Hold: true}).rule, meanwhile: func(r *Rig, _ string) {
			r.Disk.Fail(nil, FailNth("", 1, true))
			r.Sim.Faults().Heal()
			time.Sleep(time.Minute)
		}},
	)
	return out
}

// firstKey is the lower bound of the chunk that a case is about.
func (c Case) firstKey() int {
	if len(c.Args.Bounds[0]) > 0 {
		return int(number(c.Args.Bounds[0].Lookup("p")))
	}
	return 0
}

// gridCases returns one case for every command that has fault points, and every case of
// the command that has several options.
func gridCases() (out []Case, points []simcluster.FaultPoint) {
	for _, p := range simcluster.FaultPoints() {
		for _, c := range Cases() {
			if c.Command == p.Command {
				out, points = append(out, c), append(points, p)
				if c.Command != "configureCollectionBalancing" {
					break
				}
			}
		}
	}
	return out, points
}

func keyDoc(n int) bson.D { return bson.D{{Key: "p", Value: n}} }

// Every fault is tried at every step of every command. What is reported must be
// true, and nothing may be sent twice.
func TestReportsAreTrueInTheGridOfFaults(t *testing.T) {
	cases, points := gridCases()
	all := gridFaults()
	must.That(t, len(points) >= 40 && len(all) >= 22, "%d steps, %d faults", len(points), len(all))
	for n, f := range all {
		for i, p := range points {
			c := cases[i]
			if f.applies != nil && !f.applies(c, p) || (n*7+i)%sampleSize(97, 2, 1) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%s", f.name, p.Command, p.At), func(t *testing.T) {
				OnCheckedRig(t, c.Setup(), func(r *Rig, _ *RecordChecker) { r.runCell(c, p, f) })
			})
		}
	}
}

// runCell runs a case with a fault at one of its steps and heals the cluster.
func (r *Rig) runCell(c Case, p simcluster.FaultPoint, f gridFault) {
	r.Helper()
	plan := c.Plan(r)
	id, healed := r.strike(f, p, f.rule(c, plan), plan)
	run := r.WaitEnd(id)
	took := time.Since(healed)
	limit := settleLimit
	if c.Kind == actions.DrainShard { // it goes on until the balancer, as slow as the cluster was, has emptied the shard
		limit = 20 * time.Minute
	}
	expect.That(r, took <= limit, "settled %s after the cluster was whole", took)
	r.CheckSentOnce(run)
	if !f.otherClient {
		// No command of the run takes effect later, and no effect disappears.
		time.Sleep(3 * time.Minute)
		w := r.ReadState()
		for i, s := range run.Steps {
			if s.State == engine.Deferred || !s.Sends() {
				continue // the next step has the outcome, or it has no effect of its own
			}
			expect.Equal(r, w.HasEffect(s.Step), (s.State == engine.Succeeded),
				"whether the effect of step %d, called %s (%s), is there", i, s.State, s.Why.Code)
		}
	}
	if torn := r.ReadState().ChunkGap(); torn != "" {
		r.Error(torn)
	}
	r.checkStartAudited(id)
}

// strike runs a plan with a fault at a step and heals everything. It returns the run and when all was whole.
func (r *Rig) strike(f gridFault, p simcluster.FaultPoint, rule simcluster.Rule, plan actions.Plan) (id string, healed time.Time) {
	r.Helper()
	rule.Command, rule.At = p.Command, p.At
	planted := r.Sim.Faults().Add(rule)
	id = r.Start(plan).ID
	if !r.waitStruck(planted, id) {
		r.Error("the step was not reached")
	} else if f.meanwhile != nil {
		f.meanwhile(r, id)
	}
	time.Sleep(rule.Delay)
	healed = time.Now()
	r.heal()
	return id, healed
}

// heal ends all faults. A process that was killed starts again.
func (r *Rig) heal() {
	r.Helper()
	r.Sim.Faults().Heal()
	r.Network.Restore()
	r.Disk.Fail(nil, nil)
	if r.end == nil {
		r.Boot()
	}
}

// waitStruck waits until a fault has struck or the run has ended without it.
func (r *Rig) waitStruck(rule *simcluster.Planted, id string) bool {
	r.Helper()
	for range 100 {
		select {
		case <-rule.Reached():
			return true
		case <-time.After(time.Second):
		}
		if run := r.runNow(id); !run.State.Open() {
			break
		}
	}
	return rule.Struck() > 0
}

// checkStartAudited fails the test when the start of a run is not in the audit
// record. Later entries may be missing after a full disk or a crash, because the run
// itself still contains them.
func (r *Rig) checkStartAudited(id string) {
	r.Helper()
	if !slices.ContainsFunc(r.Disk.Recorded("run.started"), func(e store.AuditEntry) bool { return e.Subject == id }) {
		r.Error("the beginning of the run is not recorded")
	}
}
