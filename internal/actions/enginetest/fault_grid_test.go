package enginetest

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
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
