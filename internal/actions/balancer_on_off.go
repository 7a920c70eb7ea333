package actions

import (
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// BalancerOn turns the balancer on. BalancerOff turns it off and waits for the end of the
// current round.
const (
	BalancerOn  Kind = "balancer-on"
	BalancerOff Kind = "balancer-off"
)

func describeBalancerOn() Description {
	return Description{
		Kind:      BalancerOn,
		Title:     "Turn the balancer on",
		Lead:      "Turns it on for the whole cluster.",
		Proof:     "The balancer’s settings.",
		Undo:      "Turns it off. Chunks that the balancer has moved by then stay where they are.",
		LeastRisk: Medium,
		Sends:     []operation.Op{operation.OpBalancerOn},
		plan:      planBalancerSwitch,
	}
}

func describeBalancerOff() Description {
	return Description{
		Kind:      BalancerOff,
		Title:     "Turn the balancer off",
		Lead:      "Turns it off for the whole cluster, after the moves of the current round.",
		Proof:     "The balancer’s settings.",
		Undo:      "Turns it on.",
		LeastRisk: Medium,
		Sends:     []operation.Op{operation.OpBalancerOff},
		plan:      planBalancerSwitch,
	}
}

func planBalancerSwitch(d *draftBuilder) (Draft, Args, error) {
	s, kind := d.s, d.description.Kind
	on := kind == BalancerOn
	b := s.Table.Balancer
	step, back := operation.Step{Op: operation.OpBalancerOff, Proof: []operation.Fact{balancerIs(false)}}, BalancerOn
	if on {
		step, back = operation.Step{Op: operation.OpBalancerOn, Proof: []operation.Fact{balancerIs(true)}}, BalancerOff
	}
	src := d.fromTable(topology.PartSettings)
	switch {
	case !b.Known:
		d.warn("switch", src, switchUnknown())
		d.step(step)
	case on && b.Enabled() && b.Mode != "autoSplitOnly", !on && !b.Enabled():
		d.block("switch", src, message.New("switch.already",
			"It is already set this way.", message.Text("on", strconv.FormatBool(on))))
	default:
		step.Needs = []operation.Fact{balancerIs(b.Enabled())}
		d.step(step)
		if !on {
			d.add(d.checkRound())
		} else if b.Limited() {
			d.warn("window", src, message.New("window.set",
				"The balancer may move chunks only {window}, by the config server’s clock, whose time zone is not known here.",
				message.Text("window", b.When())))
		}
	}
	undo := Undo{Possible: true, Kind: back}
	if on {
		undo.Text = message.New("balancer-on",
			"Turns the balancer off. Chunks that it has moved by then stay where they are.")
		return d.finish(message.New("balancer-on", "Turn the balancer on."), undo)
	}
	undo.Text = message.New("balancer-off", "Turns the balancer on again.")
	return d.finish(message.New("balancer-off", "Turn the balancer off, and wait for the current round to end."), undo)
}

// checkRound says how long turning the balancer off takes: the command ends only when
// the migrations of the current round have ended.
func (d *draftBuilder) checkRound() (out findings) {
	c := Check{ID: "switch", Verdict: Pass, Text: message.New("switch.idle",
		"The balancer is idle: it stops at once."), Source: d.fromTable(topology.PartBalancer)}
	switch b := d.s.Table.Balancer; {
	case !b.StatusKnown:
		c.Verdict, c.Text = Warn, message.New("switch.mayWait",
			"It is not known whether a round is running: the command ends when the round has ended.")
	case b.InRound || len(d.s.Activity.Migrations) > 0:
		c.Verdict, c.Text = Warn, message.New("switch.waits",
			"A round is running: the command ends when its moves have ended (known moves: {migrations}).",
			message.Count("migrations", len(d.s.Activity.Migrations)))
	}
	for _, s := range d.s.Table.Shards {
		if s.Draining {
			out.warn("switch", d.fromTable(topology.PartShards), message.New("switch.draining",
				"{shard} is draining; that stops too.", message.Shard("shard", s.Name)))
		}
	}
	out.check(c)
	return out
}

func balancerIs(on bool) operation.Fact {
	return operation.Fact{Kind: operation.FactBalancer, Want: map[string]string{"on": strconv.FormatBool(on)}}
}

func switchUnknown() message.Message {
	return message.New("switch.unknown", "The current setting is not known.")
}
