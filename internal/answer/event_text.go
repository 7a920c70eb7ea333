package answer

import (
	"strings"

	"shardboard/internal/format"
)

// Text is the entry in words. Entries that are not known here, as a newer
// server may write, are named as the server names them.
func (x Event) Text() string {
	switch {
	case x.What == "moveChunk.from" && x.Failed:
		return "Donor gave up moving a chunk"
	case x.What == "moveChunk.to" && x.Failed:
		return "Recipient gave up taking a chunk"
	case x.What == "moveChunk.from" && x.From == x.To && x.From != "":
		return "Asked to move a chunk to the shard that it is on"
	}
	if text, ok := eventTexts[x.What]; ok {
		return strings.ReplaceAll(text, "{n}", format.Count(x.Count))
	}
	return x.What
}

var eventTexts = map[string]string{
	"moveChunk.start":                   "Began to move a chunk",
	"moveChunk.commit":                  "Moved a chunk",
	"moveChunk.error":                   "Failed to move a chunk",
	"moveChunk.from":                    "Donor finished giving a chunk",
	"moveChunk.to":                      "Recipient finished taking a chunk",
	"split":                             "Split a chunk in two",
	"multi-split":                       "Split a chunk into {n}",
	"merge":                             "Merged {n} chunks",
	"autoMerge":                         "Merged {n} chunks automatically",
	"shardCollection.start":             "Began to shard",
	"shardCollection.end":               "Sharded",
	"refineCollectionShardKey.start":    "Began to refine the shard key of",
	"refineCollectionShardKey.end":      "Refined the shard key of",
	"renameCollection.start":            "Began to rename",
	"renameCollection.end":              "Renamed",
	"renameCollection.metadata":         "Renamed in the routing table",
	"dropCollection.start":              "Began to drop",
	"dropCollection":                    "Dropped",
	"dropDatabase.start":                "Began to drop the database",
	"dropDatabase":                      "Dropped the database",
	"movePrimary.start":                 "Began to move the primary of",
	"movePrimary.commit":                "Moved the primary of",
	"movePrimary.error":                 "Failed to move the primary of",
	"resharding.coordinator.transition": "Resharding reached its next state",
	"addShard":                          "Added shard",
	"removeShard.start":                 "Began to drain",
	"removeShard":                       "Removed shard",
}
