package actions

import (
	"regexp"
	"strconv"

	"shardboard/internal/fault"
	"shardboard/internal/message"
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
		d.warn("switch", src, message.New("switch.unknown",
			"The current setting is not known."))
		d.step(step)
	case on && b.Enabled() && b.Mode != "autoSplitOnly", !on && !b.Enabled():
		d.block("switch", src, message.New("switch.already",
			"It is already set this way.", message.Text("on", strconv.FormatBool(on))))
	default:
		step.Needs = []Fact{balancerIs(b.Enabled())}
		d.step(step)
		if !on {
			d.checkRound()
		} else if b.WindowStart != "" {
			d.warn("window", src, message.New("window.set",
				"The balancing window is {start} to {stop} by the config server’s clock, whose time zone is not "+
					"known here.",
				message.Text("start", b.WindowStart), message.Text("stop", b.WindowStop)))
		}
	}
	undo := Undo{Possible: true, Kind: back}
	if on {
		undo.Text = message.New("balancer-on",
			"The balancer is turned off again. Chunks that it has moved by then stay where they are.")
		return d.finish(message.New("balancer-on", "Turn the balancer on."), undo)
	}
	undo.Text = message.New("balancer-off", "The balancer is turned on again.")
	return d.finish(message.New("balancer-off", "Turn the balancer off, and wait for the current round to end."), undo)
}

// checkRound: turning it off ends only when the migrations of its round have.
func (d *draftBuilder) checkRound() {
	c := Check{ID: "switch", Verdict: Pass, Text: message.New("switch.idle",
		"The balancer is between two rounds: it stops at once."), Source: d.fromTable(topology.PartBalancer)}
	switch b := d.s.Table.Balancer; {
	case !b.StatusKnown:
		c.Verdict, c.Text = Warn, message.New("switch.mayWait",
			"It is not known whether a round is running: the command ends when the round has ended.")
	case b.InRound || len(d.s.Activity.Migrations) > 0:
		c.Verdict, c.Text = Warn, message.New("switch.waits",
			"A round is running: the command ends when its migrations have ended ({migrations} are known).",
			message.Count("migrations", len(d.s.Activity.Migrations)))
	}
	for _, s := range d.s.Table.Shards {
		if s.Draining {
			d.warn("switch", d.fromTable(topology.PartShards), message.New("switch.draining",
				"{shard} is draining; that stops too.", message.Shard("shard", s.Name)))
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
	undo := Undo{Text: message.New("window.unknown",
		"The previous window is not known, so it cannot be set again.")}
	switch {
	case !b.Known:
		d.warn("switch", src, message.New("switch.unknown",
			"The current setting is not known."))
		d.step(step)
	case b.WindowStart == a.Start && b.WindowStop == a.Stop:
		d.block("switch", src, message.New("switch.window",
			"The window is already set to these times."))
	default:
		step.Needs = []Fact{windowIs(b.WindowStart, b.WindowStop)}
		undo = Undo{Possible: true, Text: message.New(
			"window",
			"The window is set to {start} – {stop} again.",
			message.Text(
				"start",
				b.WindowStart,
			),
			message.Text("stop", b.WindowStop),
		), Kind: BalancerWindow, Args: Args{Start: b.WindowStart, Stop: b.WindowStop}}
		if b.WindowStart == "" {
			undo.Text = message.New("window.always", "The window is removed again.")
		}
		d.step(step)
	}
	if a.Start != "" {
		d.warn("window", d.fromRule(), message.New("window.clock",
			"{start} to {stop} is in the time zone of the config server’s primary, which is not known here.",
			message.Text("start", a.Start), message.Text("stop", a.Stop)))
		return d.finish(message.New("balancer-window",
			"Let the balancer run only between {start} and {stop}, by the config server’s clock.",
			message.Text("start", a.Start), message.Text("stop", a.Stop)), undo)
	}
	return d.finish(message.New("balancer-window.always",
		"Let the balancer run at any time."), undo)
}

func windowIs(start, stop string) Fact {
	return Fact{Kind: FactBalancer, Want: map[string]string{"windowStart": start, "windowStop": stop}}
}
