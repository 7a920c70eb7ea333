package api

import "time"

// Heat is one project, Yorkie document, chunk or shard and the writes that it
// takes (GET heat/projects, heat/documents, heat/chunks, heat/shards). Without ?ns=
// a project, Yorkie document or shard is one item, the sum of all collections whose
// new rows are counted; chunks are of one collection each. Collections of changed
// rows are answered for ?ns= only: at least so many, of the hottest projects.
type Heat struct {
	ID      string      `json:"id,omitempty"`      // project or document: hex ObjectID; chunk: its reference
	Name    string      `json:"name,omitempty"`    // project's name, shard's name
	Project string      `json:"project,omitempty"` // documents: of which project, hex
	NS      string      `json:"ns"`                // collection whose writes were counted; of a sum, that with most of them
	Counts  string      `json:"counts"`            // newRows or changedRows: see HeatMethod
	Bounds  *HeatBounds `json:"bounds,omitempty"`  // chunks: [min, max)
	Shard   string      `json:"shard,omitempty"`   // chunks, shards, and documents: who owns it now

	WritesPerSecond float64    `json:"writesPerSecond"`
	PlusMinus       *float64   `json:"plusMinus"`            // half of the 95 % interval; null when all was counted
	Exact           bool       `json:"exact"`                // every row of the window was counted
	AtLeast         bool       `json:"atLeast"`              // some rows were not counted: beyond the reading budget, or left out by the method
	Share           float64    `json:"share"`                // of all writes counted, 0 to 1: in the collection, or of a sum in all of its collections
	ShardShare      *float64   `json:"shardShare,omitempty"` // chunks: of what its shard takes of the same collection
	Parts           []HeatPart `json:"parts,omitempty"`      // of a sum over collections, hottest first

	Window         string     `json:"window"` // as asked for, a Go duration
	From           *time.Time `json:"from"`   // begin of what was counted
	To             *time.Time `json:"to"`
	CoveredSeconds float64    `json:"coveredSeconds"` // less than to − from where counting failed

	Projects *int     `json:"projects,omitempty"` // chunks: how many projects wrote to it
	Top      string   `json:"top,omitempty"`      // chunks: the project that wrote most, hex
	TopShare *float64 `json:"topShare,omitempty"`
	CanSplit *bool    `json:"canSplit,omitempty"`
	Why      string   `json:"why,omitempty"` // chunks: a sentence

	Updated []HeatUpdated `json:"updated,omitempty"` // projects: rows written in place, for the hottest only

	ReadsPerSecond           *float64 `json:"readsPerSecond,omitempty"`           // shards, by their own counters
	WriteOperationsPerSecond *float64 `json:"writeOperationsPerSecond,omitempty"` // the same: of all projects, inserts or not
	ReadMillis               *float64 `json:"readMillis,omitempty"`               // mean latency
	WriteMillis              *float64 `json:"writeMillis,omitempty"`
}

// HeatPart is what one collection took of a sum.
type HeatPart struct {
	NS              string   `json:"ns"`
	WritesPerSecond float64  `json:"writesPerSecond"`
	PlusMinus       *float64 `json:"plusMinus"`
	Exact           bool     `json:"exact"`
	AtLeast         bool     `json:"atLeast"`
	Share           float64  `json:"share"` // of all writes counted in the collection
}

// HeatUpdated is a collection's rows of a project whose date of writing lies in
// the last minute. A row that was written twice counts once.
type HeatUpdated struct {
	NS                   string  `json:"ns"`
	Rows                 int64   `json:"rows"`
	AtLeastRowsPerSecond float64 `json:"atLeastRowsPerSecond"`
}

// HeatBounds are a chunk's as shard-key values.
type HeatBounds struct {
	Min Key `json:"min"`
	Max Key `json:"max"`
}
