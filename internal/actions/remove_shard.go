package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// RemoveShard removes an empty, draining shard from the cluster.
const RemoveShard Kind = "remove-shard"

func describeRemoveShard() Description {
	return Description{
		Kind:  RemoveShard,
		Title: "Remove a drained shard",
		Lead: "The cluster forgets the shard. Its servers continue to run, and are yours to stop. The shard must be draining, and nothing " +
			"may be left on it. A config server that is a shard (8.0) becomes a dedicated one.",
		Proof:      "The shard is not in the cluster.",
		Undo:       "Cannot be undone. To use the servers again, add them as a new shard.",
		Arguments:  []Argument{argShard.needed().about()},
		LeastRisk:  High,
		TypesShard: true,
		Sends:      []operation.Op{operation.OpRemoveShard, operation.OpDedicate},
		plan:       planRemoveShard,
	}
}

func planRemoveShard(d *draftBuilder) (Draft, Args, error) {
	name := d.a.Shard
	shard := message.Shard("shard", name)
	d.add(d.checkConfigRelease())
	if !d.shard(name).Draining {
		d.suggest(Check{ID: "draining", Verdict: Block, Source: d.fromTable(topology.PartShards), Text: message.New("draining.first",
			"{shard} is not draining. Only a shard that has been drained can be removed.", shard)},
			suggestion(DrainShard, message.New("suggest.drain", "Drain {shard}", shard), "shard", name))
	}
	d.add(d.checkNothingLeft(d.s.Table.RemainsOn(name)))
	op := operation.OpRemoveShard
	if name == configShard {
		op = operation.OpDedicate
	}
	d.step(operation.Step{Op: op, Shard: name, Needs: []operation.Fact{drainingIs(name, true), nothingOn(name)},
		Proof: []operation.Fact{shardGone(name)}})
	if name == configShard {
		d.add(d.checkConfigCleaned())
		return d.finish(message.New("remove-shard.config", "Make the config server a dedicated one: {shard} is no shard any more.", shard),
			Undo{Text: message.New("remove-shard.config",
				"shardboard does not make the config server a shard. transitionFromDedicatedConfigServer does.")})
	}
	return d.finish(message.New("remove-shard", "Remove the shard {shard} from the cluster.", shard),
		Undo{Text: message.New("remove-shard", "The cluster forgets {shard}. To use its servers again, remove their data and add them "+
			"as a new shard.", shard)})
}

// checkNothingLeft blocks while anything is left on the shard.
func (d *draftBuilder) checkNothingLeft(left topology.Remains) (out findings) {
	shard := message.Shard("shard", d.a.Shard)
	switch {
	case !left.Known:
		out.warn("left", d.fromTable(topology.PartRouting), message.New("left.unknown",
			"What is left on {shard} is not known yet. It is read again right before the command.", shard))
	case left.Empty():
		out.pass("left", d.fromTable(topology.PartRouting), message.New("left.nothing", "Nothing is left on {shard}.", shard))
	}
	if left.Chunks > 0 {
		out.suggest(Check{ID: "left", Verdict: Block, Source: d.fromTable(topology.PartRouting), Text: message.New("left.chunks",
			message.Plural(left.Chunks, "1 chunk is", "{chunks} chunks are")+" left on {shard}. Wait until the balancer has moved "+
				message.Plural(left.Chunks, "it.", "them."), shard, message.Count("chunks", left.Chunks))},
			suggestion(DrainShard, message.New("suggest.wait", "Wait until {shard} is empty", shard), "shard", d.a.Shard))
	}
	out.add(d.checkUnsharded(left, Block))
	out.add(d.checkDatabases(left, Block))
	return out
}

// checkConfigCleaned: the documents of all chunks that left the config server have to be deleted before.
func (d *draftBuilder) checkConfigCleaned() (out findings) {
	out.warn("cleanup", d.fromRule(), message.New("cleanup.config",
		"The server refuses this while documents of chunks that left {shard} are not deleted yet, which is 15 minutes after the last one by "+
			"default. Nothing is changed then.", message.Shard("shard", d.a.Shard)))
	return out
}
