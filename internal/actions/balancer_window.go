package actions

import (
	"regexp"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

var clockTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)

// BalancerWindow sets or removes the hours in which the balancer may run.
const BalancerWindow Kind = "balancer-window"

func describeBalancerWindow() Description {
	return Description{
		Kind:      BalancerWindow,
		Title:     "Set the balancing window",
		Lead:      "Sets the hours in which the balancer may move chunks. Leave all empty to let it run at any time.",
		Proof:     "The balancer’s settings.",
		Undo:      "Sets the previous window, if it was known.",
		Arguments: []Argument{argStart, argStop, argDays},
		Sends:     []operation.Op{operation.OpBalancerWindow},
		plan:      planBalancerWindow,
	}
}

func planBalancerWindow(d *draftBuilder) (Draft, Args, error) {
	s, a := d.s, d.a
	days, ok := topology.ParseDays(a.Days)
	switch {
	case (a.Start == "") != (a.Stop == ""):
		return Draft{}, a, fault.New(fault.Invalid,
			"The arguments \"start\" and \"stop\" go together; without both the balancer may run at any time.")
	case a.Start != "" && a.Start == a.Stop:
		return Draft{}, a, fault.New(fault.Invalid,
			"The arguments \"start\" and \"stop\" are the same time, which the server does not accept as a window.")
	case a.Days != "" && !ok:
		return Draft{}, a, fault.New(fault.Invalid,
			"The argument \"days\" must be windows by day with different ends, such as Monday 01:00-05:00, Friday 22:00-23:59.")
	case a.Days != "" && !s.Release.AtLeast(8, 3, 0):
		return Draft{}, a, fault.New(fault.Invalid, "Windows by day exist since MongoDB 8.3.")
	}
	a.Days = topology.DaysText(days)
	b := s.Table.Balancer
	src := d.fromTable(topology.PartSettings)
	was, refused := topology.DaysText(b.Days), b.Refuses("activeWindow") || b.Refuses("activeWindowDOW")
	proof := windowIs(a.Start, a.Stop, a.Days)
	proof.Want["windowRefused"] = "false"
	step := operation.Step{Op: operation.OpBalancerWindow, Start: a.Start, Stop: a.Stop, Days: a.Days, Proof: []operation.Fact{proof}}
	undo := Undo{Text: message.New("window.unknown",
		"Cannot be undone: the previous window is not known.")}
	switch {
	case !b.Known:
		d.warn("switch", src, switchUnknown())
		d.step(step)
	case refused:
		d.pass("switch", src, b.RefusedText())
		undo.Text = message.New("window.refused", "Cannot be undone: the server refuses the previous window.")
		step.Needs = []operation.Fact{{Kind: operation.FactBalancer, Want: map[string]string{"windowRefused": "true"}}}
		d.step(step)
	case b.WindowStart == a.Start && b.WindowStop == a.Stop && was == a.Days:
		d.block("switch", src, message.New("switch.window",
			"The window is already set to these times."))
	default:
		step.Needs = []operation.Fact{windowIs(b.WindowStart, b.WindowStop, was)}
		undo = Undo{Possible: true, Kind: BalancerWindow, Args: Args{Start: b.WindowStart, Stop: b.WindowStop, Days: was},
			Text: message.New("window", "Lets the balancer run {window} again.", message.Text("window", b.When()))}
		if !b.Limited() {
			undo.Text = message.New("window.always", "Removes the window.")
		}
		d.step(step)
	}
	now := topology.Balancer{WindowStart: a.Start, WindowStop: a.Stop, Days: days}
	if window := message.Text("window", now.When()); now.Limited() {
		d.warn("window", d.fromRule(), message.New("window.clock",
			"The times are in the time zone of the config server’s primary, which is not known here."))
		return d.finish(message.New("balancer-window",
			"Let the balancer run only {window}, by the config server’s clock.", window), undo)
	}
	return d.finish(message.New("balancer-window.always",
		"Let the balancer run at any time."), undo)
}

func windowIs(start, stop, days string) operation.Fact {
	return operation.Fact{Kind: operation.FactBalancer, Want: map[string]string{"windowStart": start, "windowStop": stop, "windowDays": days}}
}
