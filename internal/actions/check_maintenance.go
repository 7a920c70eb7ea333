package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"slices"
	"time"
)

// CheckMaintenance is the id of the check of maintenance windows.
const CheckMaintenance = "maintenance"

// checkMaintenance warns outside the maintenance windows. It does not block, because
// whoever is on call must be able to act, but the plan then has to be confirmed by
// typing. Without windows there is no such check.
func (d *draftBuilder) checkMaintenance() (out findings) {
	if len(d.s.Maintenance) == 0 || d.description.AnyTime && !slices.ContainsFunc(d.steps, operation.Step.AffectsPlacement) {
		return out
	}
	m, open, at := currentOrNextWindow(d.s.Maintenance, d.s.Now)
	c := Check{ID: CheckMaintenance, Verdict: Pass, Source: message.New("setting", "The setting --maintenance-window")}
	switch {
	case open && at.IsZero():
		c.Text = message.New("maintenance.always",
			"Inside the maintenance window {window}, which never ends.",
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
	out.check(c)
	return out
}

// OutsideMaintenance reports whether checks were made outside the maintenance windows.
func OutsideMaintenance(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.ID == CheckMaintenance && c.Verdict == Warn })
}

// ClosedSince reports whether a plan was made inside a maintenance window and none is open now,
// and when the next one begins; zero if none does.
func ClosedSince(made []Check, windows []Maintenance, now time.Time) (at time.Time, closed bool) {
	if len(windows) == 0 || OutsideMaintenance(made) || !slices.ContainsFunc(made, func(c Check) bool { return c.ID == CheckMaintenance }) {
		return time.Time{}, false
	}
	_, open, at := currentOrNextWindow(windows, now)
	return at, !open
}

// MaintenanceClosed returns the difference of a plan that was made inside a maintenance
// window and is about to run outside; nil otherwise.
func MaintenanceClosed(made, now []Check) []operation.Difference {
	if OutsideMaintenance(made) || !OutsideMaintenance(now) {
		return nil
	}
	return []operation.Difference{{Fact: operation.Fact{Kind: operation.FactMaintenance}, Field: "state", Want: "open", Got: "closed"}}
}
