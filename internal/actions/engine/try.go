package engine

import (
	"reflect"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/message"
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
	d, resolved, err := planner(e.knownSituation(t, dir), a)
	if err == nil {
		if e.running(k, resolved) {
			d.Checks = append(d.Checks, actions.Check{ID: actions.CheckSameRun, Verdict: actions.Block,
				Text: message.New("sameRun.open", "A run that has not ended makes this change.")})
		}
	}
	if len(d.Needs.Writes) > 0 { // they are read only when the plan is made
		d.Checks = slices.DeleteFunc(
			d.Checks,
			func(c actions.Check) bool { return c.Verdict == actions.Block && c.Text.Code == "writes.unknown" },
		)
	}
	return d, err
}

// running tells whether a run of the same change has not ended. Nobody should be led to a second one.
func (e *Engine) running(k actions.Kind, a actions.Args) bool {
	for _, r := range e.runsInMemory() {
		if r.Kind == k && r.State.Open() && reflect.DeepEqual(r.Args, a) {
			return true
		}
	}
	return false
}
