package actions

import (
	"regexp"

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
		Lead:      "Sets the hours in which the balancer may move chunks. Leave both empty to let it run at any time.",
		Proof:     "The balancer’s settings.",
		Undo:      "Sets the previous window, if it was known.",
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
			"The arguments \"start\" and \"stop\" are the same time, which the server does not accept as a window.")
	}
	b := s.Table.Balancer
	src := d.fromTable(topology.PartSettings)
	step := Step{Op: OpBalancerWindow, Start: a.Start, Stop: a.Stop, Proof: []Fact{windowIs(a.Start, a.Stop)}}
	undo := Undo{Text: message.New("window.unknown",
		"Cannot be undone: the previous window is not known.")}
	switch {
	case !b.Known:
		d.warn("switch", src, switchUnknown())
		d.step(step)
	case b.WindowStart == a.Start && b.WindowStop == a.Stop:
		d.block("switch", src, message.New("switch.window",
			"The window is already set to these times."))
	default:
		step.Needs = []Fact{windowIs(b.WindowStart, b.WindowStop)}
		undo = Undo{Possible: true, Kind: BalancerWindow, Args: Args{Start: b.WindowStart, Stop: b.WindowStop},
			Text: message.New("window", "Sets the window to {start} – {stop} again.",
				message.Text("start", b.WindowStart), message.Text("stop", b.WindowStop))}
		if b.WindowStart == "" {
			undo.Text = message.New("window.always", "Removes the window.")
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
