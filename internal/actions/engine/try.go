package engine

import (
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Try drafts a plan from a known table, for pages that offer plans. It reads nothing
// from the cluster, saves nothing and writes no audit entry. A draft that nothing
// blocks may still be blocked when the plan is made, because running operations are
// read only then.
func (e *Engine) Try(t *topology.Table, dir *placement.Directory, k actions.Kind, a actions.Args) (actions.Draft, error) {
	planner, err := e.planner(k)
	if err != nil {
		return actions.Draft{}, err
	}
	d, _, err := planner(e.knownSituation(t, dir), a)
	if len(d.WriteSpans) > 0 { // they are read only when the plan is made
		d.Checks = slices.DeleteFunc(
			d.Checks,
			func(c actions.Check) bool { return c.Verdict == actions.Block && c.Text.Code == "writes.unknown" },
		)
	}
	return d, err
}
