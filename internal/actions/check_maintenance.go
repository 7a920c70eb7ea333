package actions

import (
	"shardboard/internal/message"
	"slices"
)

// CheckMaintenance is the id of the check of maintenance windows.
const CheckMaintenance = "maintenance"

// disturbs tells whether a step moves data, or makes the balancer move some.
func (s Step) disturbs() bool {
	switch s.Op {
	case OpMove,
		OpMoveRange,
		OpAwait,
		OpAddZone,
		OpRemoveZone,
		OpSetRange,
		OpRemoveRange,
		OpBalancerOn,
		OpBalancerOff,
		OpBalancerWindow,
		OpBalancing:
		return true
	}
	return false
}

// checkMaintenance: outside the windows a plan is not blocked, for whoever is on
// call must be able to act; it has to be confirmed by typing. Without windows
// there is nothing to check.
func (d *draftBuilder) checkMaintenance() {
	if len(d.s.Maintenance) == 0 || !slices.ContainsFunc(d.steps, Step.disturbs) {
		return
	}
	m, open, at := maintained(d.s.Maintenance, d.s.Now)
	c := Check{ID: CheckMaintenance, Verdict: Pass, Source: message.New("setting", "The setting --maintenance-window")}
	switch {
	case open && at.IsZero():
		c.Text = message.New("maintenance.always",
			"Inside the maintenance window {window}, which does not end.",
			message.Text("window", m.String()))
	case open:
		c.Text = message.New("maintenance.inside",
			"Inside the maintenance window {window}, which ends at {at}.",
			message.Text("window", m.String()), message.Time("at", at))
	default:
		c.Verdict, c.Text = Warn, message.New("maintenance.outside",
			"Outside the maintenance windows: the next one, {window}, begins at {at}. To run the plan now, type "+
				"the confirmation.",
			message.Text("window", m.String()), message.Time("at", at))
	}
	d.check(c)
}

// OutsideMaintenance tells whether checks were made outside the maintenance
// windows.
func OutsideMaintenance(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.ID == CheckMaintenance && c.Verdict == Warn })
}

// MaintenanceClosed is what has changed about a plan that was made inside a
// maintenance window and is to be run outside; nil when it is not so.
func MaintenanceClosed(made, now []Check) []Difference {
	if OutsideMaintenance(made) || !OutsideMaintenance(now) {
		return nil
	}
	return []Difference{{Fact: Fact{Kind: CheckMaintenance}, Field: "state", Want: "open", Got: "closed"}}
}
