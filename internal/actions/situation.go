package actions

import (
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Situation is everything that a plan is made from.
type Situation struct {
	Table     *topology.Table
	Directory *placement.Directory
	Profile   *profile.Profile
	Release   balance.Release
	Shared    []placement.SharedID // ids known to be on several shards
	SharedAt  time.Time            // of the check that found them; zero: not checked
	Now       time.Time
	Activity  operation.Activity  // read from the cluster for this plan
	Cleaned   []operation.Cleanup // known to be finished, because a move of ours waited for them
	Flags     Flags               // whether the table's jumbo flags were read for this plan
	Writes    Writes              // recent writes to the ranges that the plan depends on
	Measured  Measured            // sizes that were measured for this plan
	Indexes   Indexes             // of the collection whose shard key the plan changes

	Maintenance []Maintenance // when changes are wanted; empty: always
}
