package actions

import (
	"slices"
	"strconv"

	"shardboard/internal/topology"
)

// What a run may switch off for its own time. Per collection is the smaller
// change; it needs a privilege that the cluster user may lack.
const (
	PauseCollections = "collections"
	PauseBalancer    = "balancer"
)

// pause puts the steps around the others that switch balancing off and on again.
// Nothing is switched that is off already, and nothing when there is nothing else
// to do.
func (d *draftBuilder) pause() {
	if d.a.Pause == "" || d.continuing || len(d.steps) == 0 {
		return
	}
	var first, last []Step
	b := d.s.Table.Balancer
	switch {
	case d.a.Pause == PauseBalancer && (!b.Known || b.Enabled()):
		first = []Step{{Op: OpBalancerOff, Pauses: true, Proof: []Fact{balancerIs(false)}}}
		last = []Step{{Op: OpBalancerOn, Restores: true, Proof: []Fact{balancerIs(true)}}}
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
	d.paused = len(first) > 0
	d.steps = slices.Concat(first, d.steps, last)
}

// switchBalancing switches a collection's balancing for the time of a run. That it is
// on again at the end needs no precondition but that it is the same collection.
func switchBalancing(c *topology.Collection, on bool) Step {
	return Step{Op: OpBalancing, NS: c.NS, On: on, Pauses: !on, Restores: on, Needs: []Fact{sameCollection(c)},
		Proof: []Fact{{Kind: FactCollection, NS: c.NS, Want: map[string]string{"noBalance": strconv.FormatBool(!on)}}}}
}
