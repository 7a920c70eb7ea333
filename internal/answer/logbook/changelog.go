package logbook

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// Event is a changelog entry with its details parsed. Sources of the shapes:
// MongoDB 5.0 and 6.0, sharding_logging.cpp and its callers.
type Event struct {
	topology.Event
	From, To string
	Min, Max bson.Raw
	Failed   bool
	Why      history.Reason // of a failure
	Count    int64          // of chunks, for merges and splits
}

// ReadEvent parses the details of an entry.
func ReadEvent(e topology.Event) Event {
	d := e.Details
	x := Event{Event: e, Failed: e.FailedMove() || e.What == "movePrimary.error"}
	if x.Failed {
		x.Why = history.Reason{Text: topology.TextField(d, "errmsg"), From: e.What}
		x.Why.Code = history.CodeOf(x.Why.Text)
	}
	if len(d) == 0 {
		return x
	}
	x.From, x.To = topology.TextField(d, "from"), topology.TextField(d, "to")
	x.Min, x.Max = topology.DocumentField(d, "min"), topology.DocumentField(d, "max")
	switch e.What {
	case "split", "multi-split":
		b := topology.DocumentField(d, "before")
		x.Min, x.Max = topology.DocumentField(b, "min"), topology.DocumentField(b, "max")
		x.From = topology.TextField(d, "owningShard")
		x.Count = intAt(d, "of")
	case "merge", "autoMerge":
		x.From = topology.TextField(d, "owningShard")
		x.Count = intAt(d, "numChunks")
		if x.Min == nil {
			x.merged(d)
		}
	case "removeShard", "removeShard.start":
		x.From = topology.TextField(d, "shard")
	case "addShard":
		x.To = topology.TextField(d, "name")
	}
	return x
}

// Because adds the reason that another entry of the same move has.
func (x Event) Because(reasons map[string]history.Reason) Event {
	if r, ok := reasons[x.ID]; ok && x.Failed {
		x.Why = r
	}
	return x
}

// merged reads the bounds of a 4.4 or 5.0 merge, which lists the old chunks.
func (x *Event) merged(d bson.Raw) {
	list, ok := d.Lookup("merged").ArrayOK()
	if !ok {
		return
	}
	parts, err := list.Values()
	if err != nil || len(parts) == 0 {
		return
	}
	x.Count = int64(len(parts))
	if first, ok := parts[0].DocumentOK(); ok {
		x.Min = topology.DocumentField(first, "min")
	}
	if last, ok := parts[len(parts)-1].DocumentOK(); ok {
		x.Max = topology.DocumentField(last, "max")
	}
}

// Outcome tells whether the entry is the result of something, rather than a step
// on the way: a successful migration logs three others.
func (x Event) Outcome() bool {
	switch x.What {
	case "moveChunk.start", "moveChunk.to", "shardCollection.start", "dropCollection.start", "dropDatabase.start",
		"renameCollection.start", "renameCollection.metadata", "refineCollectionShardKey.start", "movePrimary.start", "movePrimary.end",
		"createDatabase.start", "createCollection.start", "setClusterParameter.start", "autoMerge.start", "autoMerge.end":
		return false
	case "moveChunk.from":
		return false // its failure is also a moveChunk.error
	case "multi-split":
		n, _ := x.Details.Lookup("number").AsInt64OK()
		return n <= 1
	}
	return true
}

func intAt(d bson.Raw, key string) int64 {
	n, _ := topology.Amount(d.Lookup(key))
	return n
}

// Text is the entry in words. Entries that are not known here, as a newer
// server may write, are named as the server names them.
func (x Event) Text() string {
	permits, known := x.Details.Lookup("permitMigrations").BooleanOK()
	switch {
	case x.What == "moveChunk.from" && x.Failed:
		return "Donor gave up moving a chunk"
	case x.What == "moveChunk.to" && x.Failed:
		return "Recipient gave up receiving a chunk"
	case x.What == "moveChunk.from" && x.From == x.To && x.From != "":
		return "Move requested to the shard that already has the chunk"
	case x.What == "setPermitMigrations" && known && !permits:
		return "Blocked moves of"
	case x.What == "resharding.coordinator.transition":
		if state := topology.TextField(x.Details, "newState"); state != "" {
			return "Resharding reached the state " + strconv.Quote(state)
		}
	}
	if text, ok := eventTexts[x.What]; ok {
		return strings.ReplaceAll(text, "{n}", format.Count(x.Count))
	}
	return x.What
}

// Line is Text with the shards.
func (x Event) Line() string {
	switch {
	case x.From != "" && x.To != "" && x.From != x.To:
		return x.Text() + " from " + x.From + " to " + x.To
	case x.From != "":
		return x.Text() + " on " + x.From
	}
	return x.Text()
}

var eventTexts = map[string]string{
	"moveChunk.start":                   "Began to move a chunk",
	"moveChunk.commit":                  "Moved a chunk",
	"moveChunk.error":                   "Failed to move a chunk",
	"moveChunk.from":                    "Donor finished sending a chunk",
	"moveChunk.to":                      "Recipient finished receiving a chunk",
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
	"createDatabase.start":              "Began to create the database",
	"createDatabase":                    "Created the database",
	"createCollection.start":            "Began to list in the routing table",
	"createCollection.end":              "Listed in the routing table",
	"configureCollectionBalancing":      "Changed the balancing settings of",
	"setPermitMigrations":               "Allowed moves of",
	"movePrimary.end":                   "Finished moving the primary of",
	"autoMerge.enable":                  "Turned on automatic merging",
	"autoMerge.disable":                 "Turned off automatic merging",
	"autoMerge.start":                   "Began a round of automatic merging",
	"autoMerge.end":                     "Ended a round of automatic merging",
	"setClusterParameter.start":         "Began to set a cluster parameter",
	"setClusterParameter.end":           "Set a cluster parameter",
	"Sharding minOpTime recovery":       "A shard recovered its newest time",
	"addShard":                          "Added shard",
	"removeShard.start":                 "Began to drain",
	"removeShard":                       "Removed shard",
}
