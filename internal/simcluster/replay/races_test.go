package replay

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// heldPace makes each phase of a migration last a quarter of a minute and more, which
// is what holding it at a step means.
const heldPace = 1000

// faults is the world of the scenario of races: a migration that stays at a step
// while others try to get in. It is let go where the recorded donor stepped down.
func faults() script {
	var held chan bson.Raw // made inside of the bubble
	hold := func(n, atStep int) func(*player, step) bool {
		return func(p *player, _ step) bool {
			held = make(chan bson.Raw, 1)
			move := at(p.t, "faults", n)
			go func() { held <- p.run(move.DB, p.request(move)) }()
			p.reach(atStep)
			return false
		}
	}
	release := func(p *player, s step) bool {
		<-held
		return false
	}
	return script{
		8: func(p *player, _ step) bool {
			p.insert("faulty", "a", 3000, 2031)
			return false
		},
		43: hold(51, 3), 51: release,
		56: hold(64, 4), 64: release,
		69: hold(77, 5), 77: release,
		83: func(p *player, _ step) bool {
			// Nearly at its end, so that who joins it gets its answer in time.
			p.reach(6)
			time.Sleep(45 * time.Second)
			return false
		},
	}
}

// reach waits until the running migration is at a step.
func (p *player) reach(step int) {
	p.t.Helper()
	c := p.cluster.Catalog()
	for range 1000 {
		time.Sleep(time.Second)
		c.Mu.RLock()
		running := c.Migrations()
		c.Mu.RUnlock()
		if len(running) == 1 && running[0].Step == step {
			return
		}
	}
	p.t.Fatalf("no migration came to step %d", step)
}
