package actions

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Op is one command of Admin, or waiting for what the cluster does by itself.
type Op string

// The ops; each but OpAwait sends exactly one command.
const (
	OpSplitAt        Op = "splitAt"
	OpSplitMedian    Op = "splitMedian"
	OpMerge          Op = "merge"
	OpMove           Op = "move"      // MoveChunk
	OpMoveRange      Op = "moveRange" // 6.0 and later
	OpClearJumbo     Op = "clearJumbo"
	OpAddZone        Op = "addShardToZone"
	OpRemoveZone     Op = "removeShardFromZone"
	OpSetRange       Op = "setZoneRange"
	OpRemoveRange    Op = "removeZoneRange"
	OpBalancerOn     Op = "startBalancer"
	OpBalancerOff    Op = "stopBalancer"
	OpBalancerWindow Op = "setBalancerWindow"
	OpBalancing      Op = "setBalancing"
	OpAwait          Op = "await" // sends nothing: until the proof holds, with progress
)

// Step is one command as data, so that it can be shown, hashed, stored and sent
// without being made twice.
type Step struct {
	Op       Op
	NS       topology.Namespace
	At       bson.Raw
	Min, Max bson.Raw
	Shard    string // where to, or which
	Zone     string
	Start    string
	Stop     string
	On       bool
	Force    bool
	Wait     bool // a move ends only when the donor has deleted the range

	Needs []Fact // hold immediately before it is sent, else nothing is sent
	Proof []Fact // hold when it has had its effect
	Goal  []Fact `json:",omitempty"` // when all hold there is nothing to send; empty: Proof

	Pauses   bool `json:",omitempty"` // switches balancing off for the time of the run
	Restores bool `json:",omitempty"` // switches it on again, however the run ends
}

// Send asks an Admin for the step. OpAwait is none of its methods.
func (s Step) Send(ctx context.Context, a Admin, run string) error {
	switch s.Op {
	case OpSplitAt:
		return a.SplitAt(ctx, run, s.NS, s.At)
	case OpSplitMedian:
		return a.SplitMedian(ctx, run, s.NS, s.Min, s.Max)
	case OpMerge:
		return a.MergeChunks(ctx, run, s.NS, s.Min, s.Max)
	case OpMove, OpMoveRange:
		m := topology.Move{NS: s.NS, Min: s.Min, Max: s.Max, To: s.Shard, Force: s.Force, Wait: s.Wait}
		if s.Op == OpMoveRange {
			return a.MoveRange(ctx, run, m)
		}
		return a.MoveChunk(ctx, run, m)
	case OpClearJumbo:
		return a.ClearJumbo(ctx, run, s.NS, s.Min, s.Max)
	case OpAddZone:
		return a.AddShardToZone(ctx, run, s.Shard, s.Zone)
	case OpRemoveZone:
		return a.RemoveShardFromZone(ctx, run, s.Shard, s.Zone)
	case OpSetRange:
		return a.SetZoneRange(ctx, run, s.NS, s.Min, s.Max, s.Zone)
	case OpRemoveRange:
		return a.RemoveZoneRange(ctx, run, s.NS, s.Min, s.Max)
	case OpBalancerOn:
		return a.StartBalancer(ctx, run)
	case OpBalancerOff:
		return a.StopBalancer(ctx, run)
	case OpBalancerWindow:
		return a.SetBalancerWindow(ctx, run, s.Start, s.Stop)
	case OpBalancing:
		return a.SetBalancing(ctx, run, s.NS, s.On)
	}
	return fmt.Errorf("send step: %q is no command", s.Op)
}
