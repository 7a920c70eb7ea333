package api

import (
	"encoding/json"
	"time"
)

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
	CanSplit *bool    `json:"canSplit,omitempty"` // chunks: whether a cut is possible at all; absent when it is not known
	// Split is what a cut would do, a code: single (it holds one value of the key),
	// document, project (one of these takes almost all, and a cut does not divide it),
	// divides, projects, within (it divides the load, or may), few (too little was
	// written to tell) or unknown.
	Split string `json:"split,omitempty"`
	Why   string `json:"why,omitempty"` // chunks: the same as a sentence
	// Plan is what to plan for a chunk that is hot; absent when nothing is known to help.
	Plan *HeatPlan `json:"plan,omitempty"`

	Updated []HeatUpdated `json:"updated,omitempty"` // projects: rows written in place, for the hottest only

	ReadsPerSecond           *float64 `json:"readsPerSecond,omitempty"`           // shards, by their own counters
	WriteOperationsPerSecond *float64 `json:"writeOperationsPerSecond,omitempty"` // the same: of all projects, inserts or not
	ReadMillis               *float64 `json:"readMillis,omitempty"`               // mean latency
	WriteMillis              *float64 `json:"writeMillis,omitempty"`
	// Of these four alone: they are between two reads of the counters, whatever the window.
	OperationsFrom *time.Time `json:"operationsFrom,omitempty"`
	OperationsTo   *time.Time `json:"operationsTo,omitempty"`
}

// HeatList are the hottest of a kind. An empty list means that nothing was written
// only where coveredSeconds is more than zero.
type HeatList struct {
	Items          []Heat     `json:"items"`
	Next           Cursor     `json:"next"`           // always null: limit is the only page
	AsOf           *time.Time `json:"asOf"`           // end of the last count of that collection which was counted longest ago; null when none was
	Stale          bool       `json:"stale"`          // a count failed or is overdue
	Window         string     `json:"window"`         // as asked for, a Go duration
	From           *time.Time `json:"from"`           // begin of what was counted in the window; null when nothing was
	To             *time.Time `json:"to"`             // its end
	CoveredSeconds float64    `json:"coveredSeconds"` // of the collection that was counted least; 0 when one was not counted
	// Reason is a code, there when coveredSeconds is 0: begun (nothing was counted
	// yet), failed, denied, or noCollection (there is none whose new rows can be counted).
	Reason string `json:"reason,omitempty"`
	Why    string `json:"why,omitempty"` // the same as a sentence, with the collection
}

// MarshalJSON keeps an empty list an array: clients loop over items unasked.
func (l HeatList) MarshalJSON() ([]byte, error) {
	type plain HeatList // drops the method, keeps the tags
	if l.Items == nil {
		l.Items = []Heat{}
	}
	return json.Marshal(plain(l))
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
// one minute, whatever the window. A row that was written twice counts once.
type HeatUpdated struct {
	NS                   string     `json:"ns"`
	From                 *time.Time `json:"from"`
	To                   *time.Time `json:"to"`
	Rows                 int64      `json:"rows"`
	AtLeastRowsPerSecond float64    `json:"atLeastRowsPerSecond"`
}

// HeatBounds are a chunk's as shard-key values.
type HeatBounds struct {
	Min Key `json:"min"`
	Max Key `json:"max"`
}

// HeatPlan is a plan as POST plans takes it, but for the reason.
type HeatPlan struct {
	Kind string   `json:"kind"`
	Args PlanArgs `json:"args"`
}
