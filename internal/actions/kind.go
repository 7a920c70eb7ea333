package actions

import "slices"

// Kind names what can be done, as the API and the command line name it.
type Kind string

// The kinds, each in a file of its own name.
const (
	Split             Kind = "split"
	SplitProject      Kind = "split-project"
	SplitHot          Kind = "split-hot"
	Merge             Kind = "merge"
	MoveChunk         Kind = "move"
	Pin               Kind = "pin"
	Isolate           Kind = "isolate"
	Unpin             Kind = "unpin"
	Spread            Kind = "spread"
	ZoneAddShard      Kind = "zone-add-shard"
	ZoneRemoveShard   Kind = "zone-remove-shard"
	ZoneSetRange      Kind = "zone-set-range"
	ZoneRemoveRange   Kind = "zone-remove-range"
	BalancerOn        Kind = "balancer-on"
	BalancerOff       Kind = "balancer-off"
	BalancerWindow    Kind = "balancer-window"
	BalanceCollection Kind = "balance-collection"
	ClearJumbo        Kind = "clear-jumbo"
)

// Kinds are all kinds in the order of the documentation.
func Kinds() []Kind {
	return []Kind{Split, SplitProject, SplitHot, Merge, MoveChunk, Pin, Isolate, Unpin, Spread, ZoneAddShard, ZoneRemoveShard,
		ZoneSetRange, ZoneRemoveRange, BalancerOn, BalancerOff, BalancerWindow, BalanceCollection, ClearJumbo}
}

// Known tells whether there is such a kind.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }
