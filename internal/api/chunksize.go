package api

import (
	"time"

	"shardboard/internal/message"
)

// ChunkList is a page of a collection's chunks. Measured is how many of the matching chunks were
// measured; the others have estimates from their shard's counts, the same for all chunks of a
// shard, and are sorted by those.
type ChunkList struct {
	Items    []Chunk   `json:"items"`
	Next     Cursor    `json:"next"`     // null after the last page
	AsOf     time.Time `json:"asOf"`     // time of the routing table
	Stale    bool      `json:"stale"`    // the last poll failed or is overdue
	Measured int       `json:"measured"` // chunks of this page, or of the whole list when it is sorted by a size or filtered by oversized
	Of       int       `json:"of"`       // number of chunks that Measured refers to
	Order    string    `json:"order"`    // key, bytes, documents or heat

	// For numbered pages only.
	Page    int             `json:"-"` // from 1
	First   int             `json:"-"` // place of the first row, from 0
	Heated  bool            `json:"-"` // writes were counted
	Note    message.Message `json:"-"` // what the order is made of
	Problem string          `json:"-"` // what is wrong with the filter
}

// ChunkSize is the size of one chunk (GET and POST collections/{ns}/chunks/{ref}/size).
type ChunkSize struct {
	NS         string        `json:"ns"`
	Ref        string        `json:"ref"`
	Shard      string        `json:"shard"`
	Documents  Figure        `json:"documents"`
	Bytes      Figure        `json:"bytes"`
	MeanBytes  *int64        `json:"meanBytes"` // mean size of its documents; null if unknown or empty
	Measured   bool          `json:"measured"`  // with dataSize; else estimated from the shard's counts
	MeasuredAt *time.Time    `json:"measuredAt"`
	TookMillis *int64        `json:"tookMillis"` // on the servers
	Failed     *ChunkAttempt `json:"failed"`     // the last attempt, if it failed; null otherwise
	Move       ChunkMove     `json:"move"`
	Mean       Figure        `json:"-"` // MeanBytes with how it is known
}

// ChunkAttempt is a failed measurement.
type ChunkAttempt struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"` // notPermitted, tooSlow, unreachable, changed, failed
}

// ChunkMove is whether the chunk's shard would move it, by the rule of the server's release.
type ChunkMove struct {
	Verdict        string `json:"verdict"`        // fits, near (a fifth below or above the limit, by an estimate), tooBig, unknown
	LimitDocuments *int64 `json:"limitDocuments"` // most documents that a chunk may have; null if unknown
	ChunkBytes     *int64 `json:"chunkBytes"`     // the chunk size
	MeanBytes      *int64 `json:"meanBytes"`      // mean size of a document on the shard, from which the limit is computed
	Release        string `json:"release"`        // of the server; "" if unknown
	Text           string `json:"text"`
	Rule           string `json:"-"` // by which the limit was computed
	Balancer       string `json:"-"` // what the limit is to the balancer
}

// ChunkMeasure requests a measurement of a chunk.
type ChunkMeasure struct {
	Exact bool `json:"exact"` // read every document; otherwise count them by the index
}
