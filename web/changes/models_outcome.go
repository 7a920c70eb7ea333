package changes

import (
	"shardboard/web/templates"
)

// RunOutcome answers whether a run helped.
type RunOutcome struct {
	Level, Word string
	Text        string
	Windows     string // which windows, and how much of them was counted
	Sure        string // how sure the difference is
	Notes       []string
	Others      []string // addresses of other runs that changed the same
	Shards      []OutcomeRow
	Total       *OutcomeRow
	Chunks      []OutcomeChunk
	More        string
}

// OutcomeRow is one shard before and after.
type OutcomeRow struct {
	Shard         templates.ShardRef
	Before, After templates.Cell
}

// OutcomeChunk is one chunk before and after. A shard without a name: there was
// no such chunk.
type OutcomeChunk struct {
	NS            string // hostile text
	Min, Max      templates.Key
	From, To      templates.ShardRef
	Before, After templates.Cell
}

// RunCost is what migrations were estimated to cost and did.
type RunCost struct {
	Lead string
	Rows []CostRow
}

// CostRow is one amount.
type CostRow struct {
	Name              string
	Estimated, Actual templates.Figure
}
