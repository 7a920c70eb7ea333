package api

import "time"

// CollectionChunk is a chunk in a list of several collections.
type CollectionChunk struct {
	NS string `json:"ns"`
	Chunk
}

// ClusterChunks is one page of the chunks of all collections (GET chunks).
type ClusterChunks struct {
	Items  []CollectionChunk `json:"items"`
	Next   Cursor            `json:"next"` // null after the last page
	AsOf   time.Time         `json:"asOf"` // time of the routing table
	Stale  bool              `json:"stale"`
	Hidden int               `json:"hidden"` // chunks of the server's own collections, which are left out of the whole list
	// Collections that are not placed by project, if one was asked for: any chunk of them may hold rows of it.
	ByDocument []string `json:"byDocument,omitempty"`
}
