package actions

import (
	"slices"
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// What a run may pause for its own time. Pausing collections is the smaller change, but
// needs a privilege that the cluster user may lack.
const (
	PauseCollections = "collections"
	PauseBalancer    = "balancer"
)

// addPauseSteps adds a first step that turns balancing off, and a last one that turns it
// on again. It adds none for what is off already, or if there are no other steps.
func (d *draftBuilder) addPauseSteps() {
	if d.a.Pause == "" || d.continuing || len(d.steps) == 0 {
		return
	}
	var first, last []operation.Step
	b := d.s.Table.Balancer
	switch {
	case d.a.Pause == PauseBalancer && (!b.Known || b.Enabled()):
		first = []operation.Step{{Op: operation.OpBalancerOff, Pauses: true, Proof: []operation.Fact{balancerIs(false)}}}
		last = []operation.Step{{Op: operation.OpBalancerOn, Restores: true, Proof: []operation.Fact{balancerIs(true)}}}
	case d.a.Pause == PauseCollections:
		for _, ns := range d.namespaces() {
			c := d.s.Table.Collection(ns)
			if c == nil || c.NoBalance {
				continue
			}
			first = append(first, switchBalancing(c, false))
			last = append(last, switchBalancing(c, true))
		}
	}
	d.pausesBalancing = len(first) > 0
	d.steps = slices.Concat(first, d.steps, last)
}

// switchBalancing turns balancing of a collection off or on for a run. The only
// precondition is that the collection is still the same, so that it is always turned on
// again at the end.
func switchBalancing(c *topology.Collection, on bool) operation.Step {
	return operation.Step{Op: operation.OpBalancing, NS: c.NS, On: on, Pauses: !on, Restores: on, Needs: []operation.Fact{sameCollection(c)},
		Proof: []operation.Fact{{Kind: operation.FactCollection, NS: c.NS, Want: map[string]string{"noBalance": strconv.FormatBool(!on)}}}}
}
