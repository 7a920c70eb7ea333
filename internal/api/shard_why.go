package api

import (
	"time"

	"shardboard/internal/message"
)

// ShardWhy is why a shard has more or less than its even share, one level at a time (GET
// shards/{name}/why). The differences of the items add up to Difference.
type ShardWhy struct {
	Shard   string `json:"shard"`
	By      string `json:"by"`                // bytes, documents or writes (per second)
	Level   string `json:"level"`             // collections, projects or chunks: what the items are
	NS      string `json:"ns,omitempty"`      // of projects and chunks
	Project string `json:"project,omitempty"` // of chunks: their project, hex; "several" for chunks that several projects share

	Here       *float64 `json:"here"` // what is on the shard; null if unknown
	Even       *float64 `json:"even"` // an even share
	Difference *float64 `json:"difference"`
	Exact      bool     `json:"exact"`   // as the servers report it: shardboard estimates nothing of it and nothing is missing
	AtLeast    bool     `json:"atLeast"` // writes: some exceeded the reading budget
	Reason     string   `json:"reason,omitempty"`

	Window         string         `json:"window,omitempty"`         // writes: the time that was counted, a Go duration
	CoveredSeconds float64        `json:"coveredSeconds,omitempty"` // writes: seconds of the least counted collection
	EvenMeans      string         `json:"evenMeans"`                // what an even share is here
	Items          []ShardWhyPart `json:"items"`
	Next           Cursor         `json:"next"` // always null: what limit leaves out is one item
	Freshness

	// For pages only.
	Headline    message.Message `json:"-"`
	ProjectName string          `json:"-"`
	Estimate    string          `json:"-"` // how the sizes of projects were estimated; "" if they were not
	ByChunk     string          `json:"-"` // address of the chunks that several projects share, or of all chunks, beside estimated projects
	ByProject   string          `json:"-"` // address of the estimated projects, beside chunks of rows that are placed by document
	Skipped     bool            `json:"-"` // there is no level of projects between the collection and its chunks
}

// ShardWhyPart is one collection, project or chunk, or several of them together. Kind: collection,
// project, several (rows in chunks that several projects share), chunk, elsewhere (chunks on other shards), others
// (what limit leaves out), rest (of the collection, in no single item) or unknown.
type ShardWhyPart struct {
	Kind        string `json:"kind"`
	Text        string `json:"text"`
	NS          string `json:"ns"`
	Project     string `json:"project,omitempty"` // hex
	ProjectName string `json:"projectName,omitempty"`
	Chunk       string `json:"chunk,omitempty"` // reference; "" where bounds are hidden
	Count       int    `json:"count"`           // collections, projects or chunks that it stands for

	Here       *float64 `json:"here"`
	Even       *float64 `json:"even"`
	Difference *float64 `json:"difference"` // positive: more than an even share; null if unknown
	Exact      bool     `json:"exact"`
	AtLeast    bool     `json:"atLeast"`
	Reason     string   `json:"reason,omitempty"` // why it is unknown
	// Low and High are the range of Here where it is estimated from random rows, ReadAt when the last of
	// them was read.
	Low    *float64   `json:"low,omitempty"`
	High   *float64   `json:"high,omitempty"`
	ReadAt *time.Time `json:"readAt,omitempty"`

	Plans  []AdvicePlan `json:"plans"`            // that would help, the best first
	WhyNot string       `json:"whyNot,omitempty"` // why there is none

	Number int        `json:"-"` // chunk: position in key order, from 1
	Since  *time.Time `json:"-"`
	Opens  string     `json:"-"` // address of the next level; "" for none
	Page   string     `json:"-"` // address of its page
}
