package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// DrainShard empties a shard: the balancer moves its chunks to the others, and the run
// waits until nothing is left.
const DrainShard Kind = "drain-shard"

// configShard is the name of a config server that is also a shard (8.0).
const configShard = "config"

func describeDrainShard() Description {
	return Description{
		Kind:  DrainShard,
		Title: "Drain a shard",
		Lead: "The balancer moves all chunks of the shard to the other shards, which can take hours. It does not move databases that " +
			"have the shard as their primary. The shard stays in the cluster until it is removed by a plan of its own.",
		Proof:      "The shard is draining; then: no chunk is on it, and no database has it as primary shard.",
		Undo:       "Ends the draining, from MongoDB 8.3 on. Chunks that have left by then stay where they are.",
		Arguments:  []Argument{argShard.needed().about()},
		LeastRisk:  High,
		TypesShard: true,
		Sends:      []operation.Op{operation.OpBeginRemoval, operation.OpStartDraining, operation.OpBeginDedicated},
		plan:       planDrainShard,
	}
}

func (d *draftBuilder) hasDrainCommands() bool { return operation.HasDrainCommands(d.s.Release) }

func planDrainShard(d *draftBuilder) (Draft, Args, error) {
	name := d.a.Shard
	left := d.s.Table.RemainsOn(name)
	d.add(d.checkConfigRelease())
	already := d.shard(name).Draining
	if already {
		d.pass("draining", d.fromTable(topology.PartShards), message.New("draining.already",
			"{shard} is draining already. This plan sends nothing and waits until it is empty.", message.Shard("shard", name)))
		d.description.LeastRisk = Low
	} else {
		d.add(d.checkStaying())
		op := operation.OpBeginRemoval
		switch {
		case name == configShard:
			op = operation.OpBeginDedicated
		case d.hasDrainCommands():
			op = operation.OpStartDraining
		}
		d.step(operation.Step{Op: op, Shard: name, Needs: []operation.Fact{drainingIs(name, false), spare(name)},
			Proof: []operation.Fact{drainingIs(name, true)}})
	}
	d.step(operation.Step{Op: operation.OpAwait, Shard: name, Needs: []operation.Fact{drainingIs(name, true)},
		Proof: []operation.Fact{nothingOn(name)}})
	d.add(d.checkDrainObstacles(left))
	out, a, err := d.finish(message.New("drain-shard", "Drain the shard {shard}: move everything on it to the other shards.",
		message.Shard("shard", name)), d.drainUndo(already))
	out.Effect = d.drainEffect(left)
	return out, a, err
}

// drainUndo says how a draining is undone.
func (d *draftBuilder) drainUndo(already bool) Undo {
	name := message.Shard("shard", d.a.Shard)
	switch {
	case already:
		return Undo{Text: message.New("drain-shard.waits", "This plan only waits, so there is nothing to undo.")}
	case d.a.Shard == configShard:
		return Undo{Text: message.New("drain-shard.config",
			"shardboard does not end the draining of the config server. {shard} drains until it is empty; until it is made a dedicated "+
				"config server it can keep its databases, but it takes no chunks.", name)}
	case d.hasDrainCommands():
		return Undo{Possible: true, Kind: StopDraining, Args: Args{Shard: d.a.Shard}, Text: message.New("drain-shard",
			"Ends the draining of {shard}. Chunks that have left by then stay where they are.", name)}
	}
	return Undo{Text: message.New("drain-shard.forGood",
		"Ending a draining needs MongoDB 8.3 or later; this cluster runs {release}. {shard} drains until it is empty. "+
			"Until it is removed it can keep its databases, but it takes no chunks.", name, message.Text("release", d.s.Release.String()))}
}

// drainEffect is what leaves the shard. Where it goes is the balancer's choice.
func (d *draftBuilder) drainEffect(left topology.Remains) Effect {
	name := d.a.Shard
	e := Effect{Chunks: topology.Figure{Reason: reasonNotLoaded}, Bytes: left.Bytes}
	e.Bytes.Exact = false
	if left.Known {
		e.Chunks = topology.Figure{Known: true, Exact: true, Method: methodRouting, Value: int64(left.Chunks),
			At: d.s.Table.Health[topology.PartRouting].At}
		e.Shards = []ShardEffect{{Shard: name, ChunksBefore: int64(left.Chunks), BytesBefore: e.Bytes,
			BytesAfter: topology.Figure{Known: true, Exact: true, Method: methodNothing, At: d.s.Now}}}
	}
	var documents []topology.Figure
	for _, c := range d.s.Table.Collections {
		if c.Chunks != nil && c.Chunks.CountByShard()[name] > 0 && !topology.IsInternal(c.NS) {
			documents = append(documents, d.s.Table.SizeOn(c.NS, name).Documents)
		}
	}
	e.Documents = sumOf(documents...)
	e.Duration = d.moveSpeed().time(e.Bytes, left.Chunks, d.s.Now)
	if pace, known := d.s.Table.PaceOf(name, d.s.Now); known && d.shard(name).Draining {
		if took, ok := left.TimeLeft(pace); ok {
			e.Duration = topology.Figure{Known: true, Value: took.Milliseconds(), Method: "drainPace", At: d.s.Now}
		}
	}
	return e
}
