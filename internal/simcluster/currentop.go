package simcluster

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
)

// operations lists the rows of $currentOp: the $currentOp itself, the threads of
// migrations and of a resharding, and commands that a fault delays. Fields are those of
// 5.0.7. The caller holds catalog.Mu.
func (c *Cluster) operations(ns string) []bson.Raw {
	rows := []bson.Raw{c.currentOpRow(ns)}
	for _, m := range c.catalog.Migrations() {
		rows = append(rows, c.migrationRows(m)...)
	}
	for i, m := range c.catalog.PrimaryMoves() {
		rows = append(rows, c.primaryMoveRow(i, m))
	}
	if r, ok := c.catalog.Resharding(); ok {
		rows = append(rows, c.reshardingRows(r)...)
	}
	return append(rows, c.faults.inflightRows(c.relaysMoves())...)
}

// currentOpRow is the row of the $currentOp itself.
func (c *Cluster) currentOpRow(ns string) bson.Raw {
	return encode(append(c.operation(configShard, "conn1", ""), bson.E{Key: "secs_running", Value: int64(0)},
		bson.E{Key: "op", Value: "command"}, bson.E{Key: "ns", Value: ns}))
}

// routerOperations are the rows of $currentOp with localOps: what mongos itself is doing, here the commands that a
// fault delays.
func (c *Cluster) routerOperations(ns string) []bson.Raw {
	return append([]bson.Raw{c.currentOpRow(ns)}, c.faults.inflightRows(false)...)
}

// operation has the fields that every row begins with. app is the client's application
// name, if known.
func (c *Cluster) operation(shard, desc, app string) bson.D {
	d := bson.D{
		{Key: "shard", Value: shard}, {Key: "type", Value: "op"},
		{Key: "host", Value: c.address(shard)}, {Key: "desc", Value: desc},
	}
	if app != "" {
		d = append(d, bson.E{Key: "appName", Value: app})
	}
	return append(d, bson.E{Key: "active", Value: true},
		bson.E{Key: "currentOpTime", Value: c.catalog.Now().UTC().Format("2006-01-02T15:04:05.000+00:00")})
}

// service has the first fields of the row of a background service.
func service(shard, desc string) bson.D {
	return bson.D{{Key: "shard", Value: shard}, {Key: "type", Value: "op"}, {Key: "desc", Value: desc}}
}

// donorState and recipientState name the state of a shard by that of the
// coordinator (s/resharding/common_types.idl).
func donorState(coordinator string) string {
	switch coordinator {
	case "cloning":
		return "donating-initial-data"
	case "applying":
		return "donating-oplog-entries"
	case "blocking-writes":
		return "blocking-writes"
	}
	return "preparing-to-donate"
}

func recipientState(coordinator string) string {
	switch coordinator {
	case "cloning":
		return "cloning"
	case "applying", "blocking-writes":
		return "applying"
	}
	return "awaiting-fetch-timestamp"
}

// reshardingRows has one row for every recipient and every donor; a mongos does not
// show the coordinator.
func (c *Cluster) reshardingRows(r catalog.Resharding) []bson.Raw {
	id := strings.ToLower(fmt.Sprintf("%x-%x-%x-%x-%x", r.UUID[:4], r.UUID[4:6], r.UUID[6:8], r.UUID[8:10], r.UUID[10:]))
	origin := originating(r)
	elapsed := int64(r.Elapsed.Seconds())
	var rows []bson.Raw
	if c.version.atLeast(8, 0, 0) {
		return c.reshardingRows8(r, id)
	}
	if t := c.catalog.Routing(r.TempNS); t != nil {
		for _, shard := range t.ShardsOwning() {
			rows = append(rows, encode(append(service(shard, "ReshardingRecipientService "+id),
				bson.E{Key: "op", Value: "command"}, bson.E{Key: "ns", Value: r.NS}, origin,
				bson.E{Key: "totalOperationTimeElapsedSecs", Value: elapsed},
				bson.E{Key: "remainingOperationTimeEstimatedSecs", Value: int64(-1)},
				bson.E{Key: "approxDocumentsToCopy", Value: r.Docs}, bson.E{Key: "documentsCopied", Value: r.Progress[shard].Docs},
				bson.E{Key: "approxBytesToCopy", Value: r.Bytes}, bson.E{Key: "bytesCopied", Value: r.Progress[shard].Bytes},
				bson.E{Key: "totalCopyTimeElapsedSecs", Value: int64(0)},
				bson.E{Key: "oplogEntriesFetched", Value: r.Progress[shard].Applied},
				bson.E{Key: "oplogEntriesApplied", Value: r.Progress[shard].Applied},
				bson.E{Key: "totalApplyTimeElapsedSecs", Value: int64(0)},
				bson.E{Key: "recipientState", Value: recipientState(r.State)}, bson.E{Key: "opStatus", Value: "running"},
				bson.E{Key: "oplogApplierApplyBatchLatencyMillis", Value: bson.D{{Key: "ops", Value: int64(0)}}},
				bson.E{Key: "collClonerFillBatchForInsertLatencyMillis", Value: bson.D{{Key: "ops", Value: int64(0)}}})))
		}
	}
	if t := c.catalog.Routing(r.NS); t != nil {
		for _, shard := range t.ShardsOwning() {
			rows = append(rows, encode(append(service(shard, "ReshardingDonorService "+id),
				bson.E{Key: "op", Value: "command"}, bson.E{Key: "ns", Value: r.NS}, origin,
				bson.E{Key: "totalOperationTimeElapsedSecs", Value: elapsed},
				bson.E{Key: "countWritesDuringCriticalSection", Value: int64(0)},
				bson.E{Key: "totalCriticalSectionTimeElapsedSecs", Value: int64(0)},
				bson.E{Key: "donorState", Value: donorState(r.State)}, bson.E{Key: "opStatus", Value: "running"})))
		}
	}
	return rows
}

// currentOp answers the currentOp command with the rows of $currentOp.
func (c *Cluster) currentOp(_ context.Context, r *engine.Request) (bson.D, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	rows := c.operations("admin.$cmd")
	if hasKey(r.Body, "$ownOps") {
		rows = rows[:1]
	}
	return bson.D{{Key: "inprog", Value: rawArray(rows)}}, nil
}
