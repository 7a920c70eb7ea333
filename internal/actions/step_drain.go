package actions

import (
	"context"
	"fmt"
)

// sendDrain sends the command of a step on a shard that is drained or removed.
func (s Step) sendDrain(ctx context.Context, a DrainAdmin, run string) error {
	switch s.Op {
	case OpBeginRemoval:
		return a.BeginRemoval(ctx, run, s.Shard)
	case OpStartDraining:
		return a.StartDraining(ctx, run, s.Shard)
	case OpStopDraining:
		return a.StopDraining(ctx, run, s.Shard)
	case OpRemoveShard:
		return a.RemoveShard(ctx, run, s.Shard)
	}
	return fmt.Errorf("send step: %q does not drain", s.Op)
}

// ChangesDraining reports whether the step begins or ends the draining of a shard, or
// removes it. Such a step is never tried a second time, and two runs never send one for
// the same shard at the same time: a second removeShard can remove the shard.
func (s Step) ChangesDraining() bool {
	switch s.Op {
	case OpBeginRemoval, OpStartDraining, OpStopDraining, OpRemoveShard:
		return true
	}
	return false
}

// Drains reports whether the step begins to drain a shard.
func (s Step) Drains() bool { return s.Op == OpBeginRemoval || s.Op == OpStartDraining }

// AwaitsDrain reports whether the step waits until a shard is empty.
func (s Step) AwaitsDrain() bool {
	return s.Op == OpAwait && len(s.Proof) == 1 && s.Proof[0].Kind == FactRemains
}

// drainingIs: the shard exists, and is draining or not.
func drainingIs(shard string, is bool) Fact {
	f := shardTakesChunks(shard)
	if is {
		f.Want["draining"] = "true"
	}
	return f
}

func shardGone(shard string) Fact {
	return Fact{Kind: FactShard, Shard: shard, Want: map[string]string{"exists": "false"}}
}

// nothingOn: the shard has no chunk and is no database's primary shard.
func nothingOn(shard string) Fact {
	return Fact{Kind: FactRemains, Shard: shard, Want: map[string]string{"chunks": "0", "databases": "0"}}
}

// spare: the other shards can take over from this one.
func spare(shard string) Fact {
	return Fact{Kind: FactSpare, Shard: shard, Want: map[string]string{"others": "true", "onlyOf": ""}}
}
