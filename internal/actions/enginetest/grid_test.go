package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

// trouble is what goes wrong at a step of a command. strike plants it before the
// run begins and gives the rules that hold something, if any.
type trouble struct {
	name string
	fits func(c Case, p simcluster.FaultPoint) bool // nil: everywhere
	rule func(c Case, plan actions.Plan) simcluster.Rule
	// meanwhile happens when the rule has struck; nil: nothing. Afterwards all faults
	// are healed.
	meanwhile func(r *Rig)
	// others says that another client does the same or undoes it: then what the run
	// found at its end need not be so later.
	others bool
}

// settled is how long after the cluster is whole again a run may be unknown.
const settled = time.Minute

func simple(name string, rule simcluster.Rule) trouble {
	return trouble{name: name, rule: func(Case, actions.Plan) simcluster.Rule { return rule }}
}

func troubles() []trouble {
	// A migration has half a day: only at some of its steps.
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
	var out []trouble
	for _, code := range []int32{10107, 11602, 189, 13388, 150, 117, 46, 194, 153, 200, 70} {
		out = append(out, simple(fmt.Sprintf("error %d", code), simcluster.Rule{Err: simcluster.Fail(code)}))
	}
	out = append(
		out,
		simple("cut", simcluster.Rule{Cut: true}),
		simple("cut, and it goes on", simcluster.Rule{Cut: true, GoOn: true}),
		simple("lost primary of a router, and it goes on", simcluster.Rule{Err: simcluster.Fail(10107), GoOn: true}),
		trouble{name: "delay beyond the deadline", fits: seldom, rule: func(c Case, _ actions.Plan) simcluster.Rule {
			if strings.HasPrefix(c.Command, "move") {
				return simcluster.Rule{Delay: 13 * time.Hour}
			}
			return simcluster.Rule{Delay: 11 * time.Minute}
		}},
		simple("slow", simcluster.Rule{Delay: 20 * time.Second}),
		trouble{name: "delivered twice", fits: early, rule: simple("", simcluster.Rule{Twice: true}).rule},
		simple("step-down", simcluster.Rule{StepDown: true}),
		trouble{
			name:      "frozen config server",
			rule:      simple("", simcluster.Rule{Freeze: "config"}).rule,
			meanwhile: func(*Rig) { time.Sleep(time.Minute) },
		},
		trouble{
			name:      "frozen shard",
			rule:      simple("", simcluster.Rule{Freeze: "shard-rs-1"}).rule,
			meanwhile: func(*Rig) { time.Sleep(time.Minute) },
		},
		trouble{name: "the balancer moves it", fits: chunks, others: true, rule: func(c Case, _ actions.Plan) simcluster.Rule {
			return simcluster.Rule{Do: simcluster.Move(string(NS), keyDoc(c.at()), "shard-rs-3")}
		}},
		trouble{name: "a round of the balancer", others: true, rule: simple("", simcluster.Rule{Do: simcluster.Round}).rule},
		trouble{
			name:   "a second operator splits",
			fits:   chunks,
			others: true,
			rule:   act("admin", bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: bson.D{{Key: "p", Value: 3}}}}),
		},
		trouble{name: "a second operator does the same", fits: chunks, others: true, rule: func(_ Case, p actions.Plan) simcluster.Rule {
			same := p.Commands[len(p.Commands)-1]
			return simcluster.Rule{Do: simcluster.Other(same.DB, same.Doc)}
		}},
		trouble{name: "a second operator turns the balancer", others: true, rule: func(c Case, _ actions.Plan) simcluster.Rule {
			what := "balancerStart"
			if c.Kind == actions.BalancerOn {
				what = "balancerStop"
			}
			return simcluster.Rule{Do: simcluster.Other("admin", bson.D{{Key: what, Value: 1}})}
		}},
		trouble{name: "the collection is dropped", fits: chunks, others: true, rule: act("app", bson.D{{Key: "drop", Value: "users"}})},
		trouble{name: "our process is killed", rule: simple("", simcluster.Rule{Hold: true}).rule, meanwhile: func(r *Rig) { r.Kill() }},
		trouble{
			name:      "our process is started again",
			rule:      simple("", simcluster.Rule{Hold: true}).rule,
			meanwhile: func(r *Rig) { r.Restart(); time.Sleep(time.Minute) },
		},
		trouble{
			name:      "the line is cut",
			rule:      simple("", simcluster.Rule{Hold: true}).rule,
			meanwhile: func(r *Rig) { r.Line.Cut(); time.Sleep(time.Minute) },
		},
		trouble{name: "the disk is full", rule: simple("", simcluster.Rule{Hold: true}).rule, meanwhile: func(r *Rig) {
			r.Disk.Fail(Nth("", 1, true), nil)
			r.Sim.Faults().Heal()
			time.Sleep(time.Minute)
		}},
		trouble{name: "every fsync fails", rule: simple("", simcluster.Rule{Hold: true}).rule, meanwhile: func(r *Rig) {
			r.Disk.Fail(nil, Nth("", 1, true))
			r.Sim.Faults().Heal()
			time.Sleep(time.Minute)
		}},
	)
	return out
}

// at is where the chunk begins that a case is about.
func (c Case) at() int {
	if len(c.Args.Bounds[0]) > 0 {
		return int(number(c.Args.Bounds[0].Lookup("p")))
	}
	return 0
}

// gridCases are one case for every command that has fault points.
func gridCases() (out []Case, points []simcluster.FaultPoint) {
	for _, p := range simcluster.FaultPoints() {
		for _, c := range Cases() {
			if c.Command == p.Command {
				out, points = append(out, c), append(points, p)
				break
			}
		}
	}
	return out, points
}

// Every fault at every step of every command: what is reported is what is so, and
// nothing is sent twice.
func TestGridOfFaultsEveryReportIsTheTruth(t *testing.T) {
	cases, points := gridCases()
	all := troubles()
	if len(points) < 40 || len(all) < 22 {
		t.Fatalf("%d steps, %d faults", len(points), len(all))
	}
	sum := &tally{}
	var slowest atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d steps × %d faults: %v; settled after %s at most", len(points), len(all), sum, time.Duration(slowest.Load()))
	})
	for n, f := range all {
		for i, p := range points {
			c := cases[i]
			if f.fits != nil && !f.fits(c, p) || testing.Short() && (n*7+i)%41 != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%s", f.name, p.Command, p.At), func(t *testing.T) {
				t.Parallel()
				OnWatchedRig(t, c.Setup(), func(r *Rig, _ *Witness) {
					run, took := r.cell(c, p, f)
					sum.count("cells")
					sum.count(string(run.State))
					for was := slowest.Load(); int64(took) > was && !slowest.CompareAndSwap(was, int64(took)); was = slowest.Load() {
					}
				})
			})
		}
	}
}

// cell runs a case with a fault at one of its steps, heals the cluster and gives
// the run with how long it took to settle after that.
func (r *Rig) cell(c Case, p simcluster.FaultPoint, f trouble) (engine.Run, time.Duration) {
	r.Helper()
	plan := c.Plan(r)
	rule := f.rule(c, plan)
	rule.Command, rule.At = p.Command, p.At
	planted := r.Sim.Faults().Add(rule)
	id := r.Start(plan).ID
	reached := r.strikes(planted, id)
	healed := time.Now()
	if reached && f.meanwhile != nil {
		f.meanwhile(r)
		healed = time.Now()
	}
	if rule.Delay > 0 {
		time.Sleep(rule.Delay)
		healed = time.Now()
	}
	r.Sim.Faults().Heal()
	r.Line.Mend()
	r.Disk.Fail(nil, nil)
	if r.end == nil {
		r.Boot()
	}
	run := r.Ended(id)
	took := time.Since(healed)
	if !reached {
		r.Errorf("the step was not reached: %s %v", run.State, run.Why)
	}
	if took > settled {
		r.Errorf("settled %s after the cluster was whole", took)
	}
	r.SentOnce(run)
	if !f.others {
		// Nothing of ours comes later, and nothing goes away.
		time.Sleep(3 * time.Minute)
		w := r.World()
		for i, s := range run.Steps {
			if s.State == engine.Deferred {
				continue // what became of it is told by the step after it
			}
			if did := w.Did(s.Step); did != (s.State == engine.Succeeded) {
				r.Errorf("step %d is called %s (%s), its effect is there: %v", i, s.State, s.Why.Code, did)
			}
		}
	}
	if torn := r.World().Torn(); torn != "" {
		r.Error(torn)
	}
	r.onRecord(id)
	return run, took
}

// strikes waits until a rule has struck or the run has ended without it.
func (r *Rig) strikes(rule *simcluster.Planted, id string) bool {
	r.Helper()
	for range 100 {
		select {
		case <-rule.Reached():
			return true
		case <-time.After(time.Second):
		}
		if run, err := r.Engine.RunByID(r.Context(), id); err != nil || !run.State.Open() {
			break
		}
	}
	return rule.Struck() > 0
}

// onRecord fails the test unless a run's beginning, its steps and its end are
// recorded. What a full disk or the end of a process may swallow is only the
// record of what the runs themselves still say.
func (r *Rig) onRecord(id string) {
	r.Helper()
	if !slices.ContainsFunc(r.Disk.Recorded("run.started"), func(e store.AuditEntry) bool { return e.Subject == id }) {
		r.Error("the beginning of the run is not recorded")
	}
}

func keyDoc(n int) bson.D { return bson.D{{Key: "p", Value: n}} }
