package actions

import "slices"

// CheckMaintenance is the id of the check of maintenance windows.
const CheckMaintenance = "maintenance"

// disturbs tells whether a step moves data, or makes the balancer move some.
func (s Step) disturbs() bool {
	switch s.Op {
	case OpMove, OpMoveRange, OpAwait, OpAddZone, OpRemoveZone, OpSetRange, OpRemoveRange, OpBalancerOn, OpBalancerOff, OpBalancerWindow, OpBalancing:
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
	c := Check{ID: CheckMaintenance, Verdict: Pass, Source: say("setting")}
	switch {
	case open && at.IsZero():
		c.Text = say("maintenance.always", "window", m.String())
	case open:
		c.Text = say("maintenance.inside", "window", m.String(), "at", moment(at))
	default:
		c.Verdict, c.Text = Warn, say("maintenance.outside", "window", m.String(), "at", moment(at))
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
