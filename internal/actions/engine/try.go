package engine

import (
	"reflect"
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
	d, resolved, err := actions.PlanChange(e.knownSituation(t, dir), k, a)
	if err == nil {
		if r, open := e.running(k, resolved); open {
			text := r.Summary
			text.Code, text.Pattern = "sameRun.open", "Already running: "+text.Pattern
			d.Checks = append(d.Checks, actions.Check{ID: actions.CheckSameRun, Verdict: actions.Block, Text: text})
		}
	}
	if len(d.Needs.Writes) > 0 { // they are read only when the plan is made
		d.Checks = slices.DeleteFunc(d.Checks,
			func(c actions.Check) bool { return c.Verdict == actions.Block && c.Text.Code == "writes.unknown" })
	}
	return d, err
}

// running finds a run of the same change that has not ended. Nobody should be led to a second one.
func (e *Engine) running(k actions.Kind, a actions.Args) (Run, bool) {
	for _, r := range e.runsInMemory() {
		if r.Kind == k && r.State.Open() && reflect.DeepEqual(r.Args, a) {
			return r, true
		}
	}
	return Run{}, false
}
