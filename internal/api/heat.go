package api

import (
	"encoding/json"
	"time"

	"shardboard/internal/message"
)

// Heat is the writes of one project, Yorkie document, chunk or shard, or of one project on one shard (GET
// heat/projects, heat/documents, heat/chunks, heat/shards, heat/project-shards). Without ?ns= a project,
// document or shard is the sum over all collections whose new rows are counted; chunks belong to one
// collection. Collections with changed rows are returned for ?ns= only: lower bounds for the hottest
// projects.
type Heat struct {
	ID      string      `json:"id,omitempty"`      // project: 24 hex digits; document: as people write it; chunk: its reference
	Name    string      `json:"name,omitempty"`    // project's name, shard's name
	Project string      `json:"project,omitempty"` // documents: their project, hex
	NS      string      `json:"ns"`                // collection of the writes; of a sum, the one with most of them
	Counts  string      `json:"counts"`            // newRows or changedRows: see HeatMethod
	Bounds  *HeatBounds `json:"bounds,omitempty"`  // chunks: [min, max)
	Shard   string      `json:"shard,omitempty"`   // all but projects: current owner

	WritesPerSecond float64  `json:"writesPerSecond"`
	PlusMinus       *float64 `json:"plusMinus"` // half of the 95 % interval; null for a full count
	Exact           bool     `json:"exact"`     // every row of the window was counted
	// a lower bound: some rows exceeded the reading budget or are omitted by the method
	AtLeast bool `json:"atLeast"`
	// share of all counted writes, 0 to 1: in the collection, or for a sum in all its collections
	Share float64 `json:"share"`
	// chunks: share of its shard's writes in the same collection; project-shards: of its shard's writes
	ShardShare *float64 `json:"shardShare,omitempty"`
	// project-shards: share of the project's writes
	ProjectShare *float64   `json:"projectShare,omitempty"`
	Parts        []HeatPart `json:"parts,omitempty"` // parts of a sum over collections, hottest first

	Window         string     `json:"window"` // requested window, a Go duration
	From           *time.Time `json:"from"`   // begin of what was counted
	To             *time.Time `json:"to"`
	CoveredSeconds float64    `json:"coveredSeconds"` // seconds counted; less than to − from where counting failed

	Projects *int     `json:"projects,omitempty"` // chunks: number of projects that wrote to it
	Top      string   `json:"top,omitempty"`      // chunks: the project that wrote most, hex
	TopShare *float64 `json:"topShare,omitempty"`
	// Since is when a split made the chunk, where keys of earlier writes are not known: its rate is of the
	// time since then.
	Since    *time.Time `json:"since,omitempty"`
	CanSplit *bool      `json:"canSplit,omitempty"` // chunks: whether a split is possible; absent if unknown
	// Split is a code for what a split would achieve: single (one key value), document or project
	// (one of these takes almost all writes, and a split does not divide them), divides, projects,
	// within (it divides the load, or may), few (too few writes to decide) or unknown.
	Split string `json:"split,omitempty"`
	Why   string `json:"why,omitempty"` // chunks: the same as a sentence
	// Plan is the recommended plan for a hot chunk; absent if none is known to help.
	Plan *HeatPlan `json:"plan,omitempty"`

	Updated []HeatUpdated `json:"updated,omitempty"` // projects: rows updated in place, for the hottest projects only

	ReadsPerSecond           *float64 `json:"readsPerSecond,omitempty"`           // shards, by their own counters
	WriteOperationsPerSecond *float64 `json:"writeOperationsPerSecond,omitempty"` // the same: of all projects, inserts or not
	ReadMillis               *float64 `json:"readMillis,omitempty"`               // mean latency
	WriteMillis              *float64 `json:"writeMillis,omitempty"`
	// The time between the two reads of the counters, for the four fields above, independent of the
	// window.
	OperationsFrom *time.Time `json:"operationsFrom,omitempty"`
	OperationsTo   *time.Time `json:"operationsTo,omitempty"`

	Key         string          `json:"-"` // chunks: stable name of the row
	Number      int             `json:"-"` // chunks: position, from 1
	Of          int             `json:"-"` // chunks: number of chunks of the collection
	ProjectName string          `json:"-"` // documents: name of their project, or its id
	TopName     string          `json:"-"` // chunks: name of the project that wrote most
	Takes       message.Message `json:"-"` // chunks: what it takes of its shard and collection
	Writers     message.Message `json:"-"` // chunks: who writes to it
	NoMove      bool            `json:"-"` // chunks: a move would help, but no other shard takes so few writes
}

// HeatList is the hottest of a kind. An empty list means that nothing was written only if
// coveredSeconds is more than zero.
type HeatList struct {
	Items []Heat `json:"items"`
	Next  Cursor `json:"next"` // a place in the list: when the order changes between two pages, one may come twice or not at all
	// end of the last count, of the collection that was counted longest ago; null if none was
	AsOf           *time.Time `json:"asOf"`
	Stale          bool       `json:"stale"`          // a count failed or is overdue
	Window         string     `json:"window"`         // requested window, a Go duration
	From           *time.Time `json:"from"`           // begin of the counted time; null if none
	To             *time.Time `json:"to"`             // its end
	CoveredSeconds float64    `json:"coveredSeconds"` // seconds of the least counted collection; 0 if one was not counted
	// Reason is a code, present when coveredSeconds is 0: begun (nothing counted yet), failed,
	// denied, or noCollection (no collection with countable new rows).
	Reason string `json:"reason,omitempty"`
	Why    string `json:"why,omitempty"` // Reason as a sentence, with the collection
}

// MarshalJSON writes an empty list as an array, so that clients can loop over it.
func (l HeatList) MarshalJSON() ([]byte, error) {
	type plain HeatList // drops the method, keeps the tags
	if l.Items == nil {
		l.Items = []Heat{}
	}
	return json.Marshal(plain(l))
}

// HeatOperations are the reads and writes of one shard for one collection between the last two reads of the shard's own
// counters (GET heat/operations). A write is an operation, whatever rows it changes. Which project reads is not known:
// servers count by collection.
type HeatOperations struct {
	Shard           string     `json:"shard"`
	NS              string     `json:"ns"`
	ReadsPerSecond  *float64   `json:"readsPerSecond"` // null: not known, such as after an election
	ReadMillis      *float64   `json:"readMillis"`     // mean time; null without reads
	WritesPerSecond *float64   `json:"writesPerSecond"`
	WriteMillis     *float64   `json:"writeMillis"`
	ReadShare       *float64   `json:"readShare"`     // of the shard's reads of all these collections
	ReadTimeShare   *float64   `json:"readTimeShare"` // of the time that reads take on the shard
	From            *time.Time `json:"from"`          // the two reads of the counters
	To              *time.Time `json:"to"`
}

// HeatPart is one collection's part of a sum.
type HeatPart struct {
	NS              string   `json:"ns"`
	WritesPerSecond float64  `json:"writesPerSecond"`
	PlusMinus       *float64 `json:"plusMinus"`
	Exact           bool     `json:"exact"`
	AtLeast         bool     `json:"atLeast"`
	Share           float64  `json:"share"` // share of all counted writes of the collection
}

// HeatUpdated is the number of a project's rows in a collection that were updated in one minute, by
// the date in them, independent of the window. A row updated twice counts once.
type HeatUpdated struct {
	NS                   string     `json:"ns"`
	From                 *time.Time `json:"from"`
	To                   *time.Time `json:"to"`
	Rows                 int64      `json:"rows"`
	AtLeastRowsPerSecond float64    `json:"atLeastRowsPerSecond"`
}

// HeatBounds are a chunk's bounds as shard-key values.
type HeatBounds struct {
	Min Key `json:"min"`
	Max Key `json:"max"`
}

// HeatPlan is a plan for POST plans, without the reason.
type HeatPlan struct {
	Kind string   `json:"kind"`
	Args PlanArgs `json:"args"`

	Text    string `json:"-"` // what the plan does
	URL     string `json:"-"` // of the filled-in form; "" if the plan is blocked
	Blocked string `json:"-"` // why
}
