package simcluster

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
)

// relaysMoves tells whether the config server sends every migration to its donor, as a command of its own that names no
// application (seen on 8.0.10, assumed of 6.0 and 7.0; on 5.0.7 the client's moveChunk shows).
func (c *Cluster) relaysMoves() bool { return c.version.atLeast(6, 0, 0) }

// originating is the originatingCommand of a resharding's rows.
func originating(r catalog.Resharding) bson.E {
	return bson.E{Key: "originatingCommand", Value: bson.D{
		{Key: "reshardCollection", Value: r.NS}, {Key: "key", Value: r.Key}, {Key: "unique", Value: false},
		{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}},
	}}
}

// reshardingRows8 are the rows of a resharding, a moveCollection or an unshardCollection as 8.0.10 shows them: the
// command on the primary shard, with the client's application, and a donor's and a recipient's row for each shard.
func (c *Cluster) reshardingRows8(r catalog.Resharding, id string) []bson.Raw {
	db, _, _ := cut(r.NS)
	primary, _ := c.catalog.Primary(db)
	command := bson.D{{Key: "_shardsvrReshardCollection", Value: r.NS}, {Key: "key", Value: r.Key},
		{Key: "numInitialChunks", Value: r.Initial}}
	if r.To != "" {
		command = append(command, bson.E{Key: "shardDistribution", Value: r.Distribution}, bson.E{Key: "forceRedistribution", Value: true})
	}
	if r.Zones.Type != 0 {
		command = append(command, bson.E{Key: "zones", Value: r.Zones})
	}
	command = append(command, bson.E{Key: "provenance", Value: r.Command},
		bson.E{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}, {Key: "wtimeout", Value: int32(60000)}}},
		bson.E{Key: "databaseVersion", Value: c.catalog.DatabaseVersion(db)}, bson.E{Key: "$db", Value: "admin"})
	rows := []bson.Raw{encode(append(c.operation(primary, "conn26", r.App),
		bson.E{Key: "opid", Value: opid(primary, 600)},
		bson.E{Key: "secs_running", Value: int64(r.Elapsed.Seconds())}, bson.E{Key: "microsecs_running", Value: r.Elapsed.Microseconds()},
		bson.E{Key: "op", Value: "command"}, bson.E{Key: "ns", Value: "admin.$cmd"}, bson.E{Key: "command", Value: command},
		bson.E{Key: "numYields", Value: int32(0)},
		bson.E{Key: "waitingForLock", Value: false}, bson.E{Key: "waitingForFlowControl", Value: false}))}
	for _, shard := range c.catalog.ShardNames() {
		if slices.Contains(r.Donors, shard) {
			rows = append(rows, reshardingRow8(r, shard, "Donor", id, nil, bson.D{
				{Key: "donorState", Value: donorState(r.State)},
				{Key: "countWritesDuringCriticalSection", Value: int64(0)}, {Key: "countReadsDuringCriticalSection", Value: int64(0)},
			}))
		}
		if !slices.Contains(r.Recipients, shard) {
			continue
		}
		p := r.Progress[shard]
		counts := bson.D{}
		for _, name := range []string{"indexesToBuild", "indexesBuilt", "oplogEntriesFetched", "oplogEntriesApplied", "insertsApplied",
			"updatesApplied", "deletesApplied"} {
			n := int64(0)
			if strings.HasPrefix(name, "oplog") {
				n = p.Applied
			}
			counts = append(counts, bson.E{Key: name, Value: n})
		}
		state := bson.D{{Key: "recipientState", Value: recipientState(r.State)}}
		if r.State == "cloning" && p.Bytes > 0 || r.Applying > 0 {
			state = append(state, bson.E{Key: "remainingOperationTimeEstimatedSecs", Value: remaining(r, p)})
		}
		rows = append(rows, reshardingRow8(r, shard, "Recipient", id, counts, append(state,
			bson.E{Key: "approxDocumentsToCopy", Value: r.Docs}, bson.E{Key: "approxBytesToCopy", Value: r.Bytes},
			bson.E{Key: "bytesCopied", Value: p.Bytes}, bson.E{Key: "countWritesToStashCollections", Value: int64(0)},
			bson.E{Key: "documentsCopied", Value: p.Docs})))
	}
	return rows
}

// remaining is the server's estimate of the seconds that a recipient has left while it copies: to apply what happened
// meanwhile takes as long as to copy (db/s/resharding/resharding_metrics_helpers.cpp, as far as the recording shows).
func remaining(r catalog.Resharding, p catalog.Progress) int64 {
	if r.State != "cloning" {
		return 0
	}
	return int64(r.Copying.Seconds() * float64(max(2*r.Bytes-p.Bytes, 0)) / float64(p.Bytes))
}

func reshardingRow8(r catalog.Resharding, shard, role, id string, counts, state bson.D) bson.Raw {
	d := bson.D{{Key: "shard", Value: shard}, {Key: "totalCopyTimeElapsedSecs", Value: int64(r.Copying.Seconds())},
		{Key: "totalApplyTimeElapsedSecs", Value: int64(r.Applying.Seconds())},
		{Key: "totalCriticalSectionTimeElapsedSecs", Value: int64(r.Critical.Seconds())},
		{Key: "totalIndexBuildTimeElapsedSecs", Value: int64(0)}}
	origin := originating(r)
	origin.Value.(bson.D)[2].Value = "false" // a text there
	d = append(append(d, counts...), bson.E{Key: "type", Value: "op"},
		bson.E{Key: "desc", Value: "ReshardingMetrics" + role + "Service " + id},
		bson.E{Key: "op", Value: "command"}, bson.E{Key: "ns", Value: r.NS}, origin,
		bson.E{Key: "totalOperationTimeElapsedSecs", Value: int64(r.Elapsed.Seconds())})
	return encode(append(append(d, state...), bson.E{Key: "provenance", Value: r.Command}))
}
