package engine

import (
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Try drafts a plan from a table as it is known, for pages that offer plans: it
// asks the cluster nothing, keeps nothing and costs no audit entry. What goes on in
// the cluster at that moment is left to the plan itself, so that a draft without a
// blocking check can still be blocked when it is made.
func (e *Engine) Try(t *topology.Table, dir *placement.Directory, k actions.Kind, a actions.Args) (actions.Draft, error) {
	planner := e.o.Planners[k]
	if planner == nil {
		return actions.Draft{}, fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(string(k), shownOfInput))
	}
	s := actions.Situation{Table: t, Directory: dir, Profile: e.o.Profile, Release: balance.ReleaseOf(t.ServerInfo.Version), Now: now(),
		Cleaned: e.cleanups.list(), Maintenance: e.o.Maintenance}
	if e.o.Shared != nil {
		s.Shared, s.SharedAt = e.o.Shared.SharedIDs()
	}
	d, _, err := planner(s, a)
	if len(d.Written) > 0 { // where a range is written is read for the plan itself
		d.Checks = slices.DeleteFunc(
			d.Checks,
			func(c actions.Check) bool { return c.Verdict == actions.Block && c.Text.Code == "writes.unknown" },
		)
	}
	return d, err
}
