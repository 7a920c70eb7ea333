package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// StopDraining ends the draining of a shard (8.3+).
const StopDraining Kind = "stop-draining"

func describeStopDraining() Description {
	return Description{
		Kind:  StopDraining,
		Title: "End the draining of a shard",
		Lead: "The shard may then get chunks again. Chunks that have left it stay where they are until the balancer evens out the shards. " +
			"Needs MongoDB 8.3 or later.",
		Proof:     "The shard is not draining.",
		Undo:      "Begins to drain it again.",
		Arguments: []Argument{argShard.needed().about()},
		LeastRisk: Medium,
		Sends:     []operation.Op{operation.OpStopDraining},
		plan:      planStopDraining,
	}
}

func planStopDraining(d *draftBuilder) (Draft, Args, error) {
	name := d.a.Shard
	shard := message.Shard("shard", name)
	switch {
	case name == configShard:
		d.block("config-shard", d.fromRule(), message.New("config-shard.stop",
			"{shard} is the config server itself, whose draining shardboard does not end.", shard))
	case !d.shard(name).Draining:
		d.block("draining", d.fromTable(topology.PartShards), message.New("draining.not", "{shard} is not draining.", shard))
	case !d.s.Release.Known():
		d.block("release", d.fromRule(), message.New("release.stopDrainingUnknown",
			"Ending a draining needs MongoDB 8.3 or later; which version this cluster runs is not known."))
	case !d.hasDrainCommands():
		d.suggest(Check{ID: "release", Verdict: Block, Source: d.fromRule(), Text: message.New("release.stopDraining",
			"Ending a draining needs MongoDB 8.3 or later; this cluster runs {release}. With the balancer off, no more chunks leave "+
				"{shard}, but it stays marked as draining and takes none. Otherwise let it become empty, remove it, and add it again.",
			message.Text("release", d.s.Release.String()), shard)}, d.balancerOff()...)
	default:
		d.endDraining(name)
	}
	return d.finish(message.New("stop-draining", "End the draining of the shard {shard}.", shard),
		Undo{Possible: true, Kind: DrainShard, Args: Args{Shard: name},
			Text: message.New("stop-draining", "Begins to drain {shard} again.", shard)})
}

// endDraining plans to end the draining.
func (d *plannedSteps) endDraining(shard string) {
	d.step(operation.Step{Op: operation.OpStopDraining, Shard: shard, Needs: []operation.Fact{drainingIs(shard, true)},
		Proof: []operation.Fact{drainingIs(shard, false)}})
}

// balancerOff suggests to turn the balancer off, if it may be on.
func (d *plannedCluster) balancerOff() []Suggestion {
	if b := d.now.Balancer; b.Known && !b.Enabled() {
		return nil
	}
	return []Suggestion{suggestion(BalancerOff, message.New("suggest.balancerOff", "Turn the balancer off"))}
}

// undoDraining ends the draining that a step has begun.
func (d *draftBuilder) undoDraining(s operation.Step) error {
	switch now := d.shard(s.Shard); {
	case now == nil:
		return d.shardIsGone(s.Shard)
	case !now.Draining: // it is as it was before
	case !d.hasDrainCommands():
		return fault.New(fault.Conflict, "Ending a draining needs MongoDB 8.3 or later; this cluster runs %s.", d.s.Release)
	default:
		d.endDraining(s.Shard)
	}
	return nil
}

// undoStopDraining begins to drain the shard again.
func (d *draftBuilder) undoStopDraining(s operation.Step) error {
	switch now := d.shard(s.Shard); {
	case now == nil:
		return d.shardIsGone(s.Shard)
	case !now.Draining:
		d.step(operation.Step{Op: operation.OpStartDraining, Shard: s.Shard,
			Needs: []operation.Fact{drainingIs(s.Shard, false), spare(s.Shard)}, Proof: []operation.Fact{drainingIs(s.Shard, true)}})
	}
	return nil
}

func (d *plannedCluster) shardIsGone(shard string) error {
	return undoConflict("the shard no longer exists", d.differences(shardExists(shard))...)
}
