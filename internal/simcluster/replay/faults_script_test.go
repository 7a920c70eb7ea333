package replay

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

// faultsScript prepares the scenario of faults: frozen members, and a migration that is
// held at a step, with other commands at the same time, until its donor steps down.
func faultsScript() script { return faults(64) }

// faults8Script is the same for 8.0, where the second step-down was noted earlier.
func faults8Script() script {
	steps := faults(60)
	insert := steps[8]
	steps[8] = func(p *player, s step) bool {
		p.insertNumbered("faulty", "b", 3000, 2031)
		return insert(p, s)
	}
	thaw := steps[39]
	steps[39] = func(p *player, s step) bool {
		thaw(p, s)
		time.Sleep(5 * time.Second) // the move goes on
		return false
	}
	for _, n := range []int{52, 65, 78} {
		steps[n] = func(*player, step) bool { time.Sleep(5 * time.Second); return false } // for the recovery
	}
	return steps
}

// faults is the script of faults, with the step of the second step-down.
func faults(second int) script {
	var held chan bson.Raw // created inside the synctest bubble
	var rule *simcluster.Planted
	freeze := func(member string) func(*player, step) bool {
		return func(p *player, _ step) bool {
			p.cluster.Faults().Freeze(member)
			return false
		}
	}
	thaw := func(p *player, _ step) bool {
		p.cluster.Faults().Heal()
		return false
	}
	hold := func(n int, at_ simcluster.Step) func(*player, step) bool {
		return func(p *player, _ step) bool {
			held = make(chan bson.Raw, 1)
			move := findStep(p.t, p.file, n)
			rule = p.cluster.Faults().Add(simcluster.Rule{Command: "moveChunk", At: at_, Hold: true, StepDown: true})
			go func() { held <- p.run(move.DB, p.request(move)) }()
			<-rule.Reached()
			return false
		}
	}
	stepDown := func(p *player, s step) bool {
		rule.Remove()
		p.compareStep(s, <-held, nil)
		return true
	}
	return script{
		8: func(p *player, _ step) bool {
			p.insertNumbered("faulty", "a", 3000, 2031)
			return false
		},
		9: freeze("config"), 22: thaw,
		26: freeze("shard-rs-2"), 39: thaw,
		43: hold(51, simcluster.Cloned), 51: stepDown,
		56: hold(second, simcluster.CaughtUp), second: stepDown,
		69: hold(77, simcluster.Committing), 77: stepDown,
		82: func(p *player, _ step) bool {
			rule = p.cluster.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Delay: 3 * time.Second})
			return false
		},
		86: func(p *player, s step) bool {
			rule.Remove()
			p.cluster.Faults().Freeze("config")
			held := make(chan bson.Raw, 1)
			go func() { held <- p.run(s.DB, p.request(s)) }()
			time.Sleep(4 * time.Second)
			p.cluster.Faults().Thaw("config")
			p.compareStep(s, <-held, nil)
			return true
		},
	}
}
