package actions

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Op is a command of Admin, or waiting for the balancer.
type Op string

// The ops. Each sends exactly one command, except OpAwait and OpItem, which send none.
const (
	OpSplitAt        Op = "splitAt"
	OpSplitMedian    Op = "splitMedian"
	OpMerge          Op = "merge"
	OpMove           Op = "move"      // MoveChunk
	OpMoveRange      Op = "moveRange" // 6.0 and later
	OpClearJumbo     Op = "clearJumbo"
	OpRefineKey      Op = "refineKey" // 4.4 and later; sets Key
	OpAddZone        Op = "addShardToZone"
	OpRemoveZone     Op = "removeShardFromZone"
	OpSetRange       Op = "setZoneRange"
	OpRemoveRange    Op = "removeZoneRange"
	OpBalancerOn     Op = "startBalancer"
	OpBalancerOff    Op = "stopBalancer"
	OpBalancerWindow Op = "setBalancerWindow"
	OpBalancing      Op = "setBalancing"
	OpBeginRemoval   Op = "beginRemoval"       // of a shard, with the first removeShard
	OpStartDraining  Op = "startShardDraining" // 8.3 and later
	OpStopDraining   Op = "stopShardDraining"  // 8.3 and later
	OpRemoveShard    Op = "removeShard"
	OpMigrations     Op = "setMigrations"
	OpChunkSize      Op = "setChunkSize"
	OpAutoMerge      Op = "setAutoMerge"
	OpDefragment     Op = "defragment"
	OpReshard        Op = "reshardCollection" // 5.0 and later, as the next two
	OpReshardCommit  Op = "commitReshardCollection"
	OpReshardAbort   Op = "abortReshardCollection"
	OpMovePrimary    Op = "movePrimary"
	OpMoveCollection Op = "moveCollection" // 8.0 and later, as the next three
	OpUnshard        Op = "unshardCollection"
	OpAbortMove      Op = "abortMoveCollection"
	OpAbortUnshard   Op = "abortUnshardCollection"
	OpAwait          Op = "await" // waits until the proof holds, and shows progress
	OpItem           Op = "item"  // of a batch: runs an item as a run of its own; sends no command itself
)

// Step is one command as data, so that what is shown, hashed, stored and sent is the
// same.
type Step struct {
	Op       Op
	NS       topology.Namespace
	DB       string `json:",omitempty"` // of movePrimary, which has no NS
	At       bson.Raw
	Min, Max bson.Raw
	Shard    string // the recipient of a move; else the shard that is changed
	Zone     string
	Start    string
	Stop     string
	Days     string `json:",omitempty"` // windows by day, as topology.DaysText
	On       bool
	Size     int `json:",omitempty"` // chunk size in MB; 0: the cluster's
	Force    bool
	Wait     bool     // the move ends only when the donor has deleted the range
	Key      bson.Raw `json:",omitempty"` // the pattern of a shard key, such as {p: 1, q: 1}

	Others []string `json:",omitempty"` // of a move: the shards that it may go to when Shard is blocked

	Reshard *Reshard `json:",omitempty"` // of OpReshard

	Needs []Fact // preconditions, read right before it is sent; otherwise nothing is sent
	Proof []Fact // true once it has had its effect
	Goal  []Fact `json:",omitempty"` // if all are true there is nothing to send; empty: as Proof

	Pauses   bool `json:",omitempty"` // turns balancing off for the time of the run
	Restores bool `json:",omitempty"` // turns it on again, however the run ends

	Item *Item `json:",omitempty"` // of OpItem
}

// Send sends the command of the step. OpAwait has none, and is an error.
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
	case OpRefineKey:
		return a.RefineKey(ctx, run, s.NS, s.Key)
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
		return a.SetBalancerWindow(ctx, run, s.Start, s.Stop, s.Days)
	case OpBalancing:
		return a.SetBalancing(ctx, run, s.NS, s.On)
	case OpMovePrimary:
		return a.MovePrimary(ctx, run, s.DB, s.Shard)
	case OpMoveCollection:
		return a.MoveCollection(ctx, run, s.NS, s.Shard)
	case OpUnshard:
		return a.UnshardCollection(ctx, run, s.NS, s.Shard)
	case OpAbortMove:
		return a.AbortMoveCollection(ctx, run, s.NS)
	case OpAbortUnshard:
		return a.AbortUnshardCollection(ctx, run, s.NS)
	case OpBeginRemoval, OpStartDraining, OpStopDraining, OpRemoveShard:
		return s.sendDrain(ctx, a, run)
	case OpMigrations:
		return a.SetMigrations(ctx, run, s.NS, s.On)
	case OpChunkSize:
		return a.SetChunkSize(ctx, run, s.NS, s.Size)
	case OpAutoMerge:
		return a.SetAutoMerge(ctx, run, s.NS, s.On)
	case OpDefragment:
		return a.Defragment(ctx, run, s.NS, s.On)
	}
	if s.controlsResharding() {
		return s.sendReshard(ctx, a, run)
	}
	return fmt.Errorf("send step: %q is not a command", s.Op)
}

// Migrates reports whether the step moves data between shards. A shard takes part in
// one migration at a time, and a time limit does not stop a migration.
func (s Step) Migrates() bool { return s.Op == OpMove || s.Op == OpMoveRange }

// MovesWhole reports whether the step moves whole collections, not chunks.
func (s Step) MovesWhole() bool {
	return s.Op == OpMovePrimary || s.Op == OpMoveCollection || s.Op == OpUnshard
}

// isBuiltOnResharding reports whether the server moves the collection by resharding it.
func (s Step) isBuiltOnResharding() bool { return s.Op == OpMoveCollection || s.Op == OpUnshard }

// Copies reports whether the step copies data between shards: its command may run for
// hours, and a time limit does not stop it.
func (s Step) Copies() bool { return s.Migrates() || s.MovesWhole() || s.InBackground() }

// Sends reports whether the step sends a command.
func (s Step) Sends() bool { return s.Op != OpAwait && s.Op != OpItem }

// Invertible reports whether a command can undo the step. No command sets a jumbo flag or
// shortens a shard key, a balancing window that was not known before cannot be restored,
// and shardboard does not shard collections. Only since 8.3 can draining be ended, and a
// removed shard does not come back.
func (s Step) Invertible() bool {
	switch s.Op {
	case OpClearJumbo, OpRefineKey, OpReshardCommit, OpReshardAbort, OpUnshard, OpAbortMove, OpAbortUnshard,
		OpBeginRemoval, OpRemoveShard:
		return false
	case OpBalancerWindow:
		return slices.ContainsFunc(s.Needs, func(f Fact) bool {
			_, known := f.Want["windowStart"]
			return f.Kind == FactBalancer && known
		})
	case OpChunkSize:
		_, known := s.previousChunkSize()
		return known
	}
	return true
}
