package actions

import (
	"regexp"
	"strconv"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// BalancerOn turns the balancer on; BalancerOff turns it off and waits for the end
// of the round that is on.
const (
	BalancerOn  Kind = "balancer-on"
	BalancerOff Kind = "balancer-off"
)

func describeBalancerOn() Description {
	return Description{
		Kind:      BalancerOn,
		Title:     "Turn the balancer on",
		Lead:      "For the whole cluster.",
		Proof:     "The balancer’s settings.",
		Undo:      "Turning it off. What the balancer has moved meanwhile stays there.",
		LeastRisk: Medium,
		plan:      planSwitch,
	}
}

func describeBalancerOff() Description {
	return Description{
		Kind:      BalancerOff,
		Title:     "Turn the balancer off",
		Lead:      "For the whole cluster, after the migrations of its current round.",
		Proof:     "The balancer’s settings.",
		Undo:      "Turning it on.",
		LeastRisk: Medium,
		plan:      planSwitch,
	}
}

func planSwitch(d *draftBuilder) (Draft, Args, error) {
	s, kind := d.s, d.kind
	on := kind == BalancerOn
	b := s.Table.Balancer
	step, back := Step{Op: OpBalancerOff, Proof: []Fact{balancerIs(false)}}, BalancerOn
	if on {
		step, back = Step{Op: OpBalancerOn, Proof: []Fact{balancerIs(true)}}, BalancerOff
	}
	src := d.fromTable(topology.PartSettings)
	switch {
	case !b.Known:
		d.check(Check{ID: "switch", Verdict: Warn, Text: say("switch.unknown"), Source: src})
		d.step(step)
	case on && b.Enabled() && b.Mode != "autoSplitOnly", !on && !b.Enabled():
		d.check(Check{ID: "switch", Verdict: Block, Text: say("switch.already", "on", strconv.FormatBool(on)), Source: src})
	default:
		step.Needs = []Fact{balancerIs(b.Enabled())}
		d.step(step)
		if !on {
			d.checkRound()
		} else if b.WindowStart != "" {
			d.check(Check{ID: "window", Verdict: Warn, Text: say("window.set", "start", b.WindowStart, "stop", b.WindowStop), Source: src})
		}
	}
	return d.finish(say(string(kind)), Undo{Possible: true, Text: say(string(kind)), Kind: back})
}

// checkRound: turning it off ends only when the migrations of its round have.
func (d *draftBuilder) checkRound() {
	c := Check{ID: "switch", Verdict: Pass, Text: say("switch.idle"), Source: d.fromTable(topology.PartBalancer)}
	switch b := d.s.Table.Balancer; {
	case !b.StatusKnown:
		c.Verdict, c.Text = Warn, say("switch.mayWait")
	case b.InRound || len(d.s.Activity.Migrations) > 0:
		c.Verdict, c.Text = Warn, say("switch.waits", "migrations", count(len(d.s.Activity.Migrations)))
	}
	for _, s := range d.s.Table.Shards {
		if s.Draining {
			d.check(Check{ID: "switch", Verdict: Warn, Text: say("switch.draining", "shard", s.Name), Source: d.fromTable(topology.PartShards)})
		}
	}
	d.check(c)
}

func balancerIs(on bool) Fact {
	return Fact{Kind: FactBalancer, Want: map[string]string{"on": strconv.FormatBool(on)}}
}

var clockTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

// BalancerWindow sets or removes the hours in which the balancer may run.
const BalancerWindow Kind = "balancer-window"

func describeBalancerWindow() Description {
	return Description{
		Kind:      BalancerWindow,
		Title:     "Set the balancing window",
		Lead:      "The hours in which the balancer may move chunks. Leave both empty to let it run always.",
		Proof:     "The balancer’s settings.",
		Undo:      "Setting the window of before, if that was known.",
		Arguments: []Argument{argStart, argStop},
		plan:      planBalancerWindow,
	}
}

func planBalancerWindow(d *draftBuilder) (Draft, Args, error) {
	s, a := d.s, d.a
	if (a.Start == "") != (a.Stop == "") {
		return Draft{}, a, fault.New(fault.Invalid,
			"The arguments \"start\" and \"stop\" go together; without both the balancer may run at any time.")
	}
	if a.Start != "" && a.Start == a.Stop {
		return Draft{}, a, fault.New(fault.Invalid,
			"The arguments \"start\" and \"stop\" are the same time; the server does not take that for a window.")
	}
	b := s.Table.Balancer
	src := d.fromTable(topology.PartSettings)
	step := Step{Op: OpBalancerWindow, Start: a.Start, Stop: a.Stop, Proof: []Fact{windowIs(a.Start, a.Stop)}}
	undo := Undo{Text: say("window.unknown")}
	switch {
	case !b.Known:
		d.check(Check{ID: "switch", Verdict: Warn, Text: say("switch.unknown"), Source: src})
		d.step(step)
	case b.WindowStart == a.Start && b.WindowStop == a.Stop:
		d.check(Check{ID: "switch", Verdict: Block, Text: say("switch.window"), Source: src})
	default:
		step.Needs = []Fact{windowIs(b.WindowStart, b.WindowStop)}
		undo = Undo{Possible: true, Text: say("window", "start", b.WindowStart, "stop", b.WindowStop), Kind: BalancerWindow, Args: Args{Start: b.WindowStart, Stop: b.WindowStop}}
		if b.WindowStart == "" {
			undo.Text = say("window.always")
		}
		d.step(step)
	}
	if a.Start != "" {
		d.check(Check{ID: "window", Verdict: Warn, Text: say("window.clock", "start", a.Start, "stop", a.Stop), Source: d.fromRule()})
		return d.finish(say("balancer-window", "start", a.Start, "stop", a.Stop), undo)
	}
	return d.finish(say("balancer-window.always"), undo)
}

func windowIs(start, stop string) Fact {
	return Fact{Kind: FactBalancer, Want: map[string]string{"windowStart": start, "windowStop": stop}}
}
