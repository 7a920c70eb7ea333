package simcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// currentOpRows lists the rows of $currentOp: the $currentOp itself, the threads of
// migrations and of a resharding, and commands that a fault delays. Fields are those of
// 5.0.7. The caller holds catalog.Mu.
func (c *Cluster) currentOpRows(ns string) []bson.Raw {
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
	return encode(value.D(c.operation(configShard, "conn1", ""), "secs_running", int64(0), "op", "command", "ns", ns))
}

// operation has the fields that every row begins with. app is the client's application
// name, if known.
func (c *Cluster) operation(shard, desc, app string) bson.D {
	return value.D("shard", shard, "type", "op", "host", addressOf(c.catalog, shard), "desc", desc, value.When(app != "", "appName", app),
		"active", true, "currentOpTime", c.catalog.Now().UTC().Format("2006-01-02T15:04:05.000+00:00"))
}

// commandRow is the row of a command that a shard runs for the cluster since a time ago.
func (c *Cluster) commandRow(shard, desc, app string, number int64, running time.Duration, command bson.D) bson.Raw {
	return encode(value.D(c.operation(shard, desc, app), "opid", opid(shard, number), "secs_running", int64(running/time.Second),
		"microsecs_running", running.Microseconds(), "op", "command", "ns", "admin.$cmd", "command", command, "numYields", int32(0),
		"waitingForLock", false, "waitingForFlowControl", false))
}

// donorStates and recipientStates name the state of a shard by that of the coordinator (s/resharding/common_types.idl).
var (
	donorStates = map[string]string{"cloning": "donating-initial-data", "applying": "donating-oplog-entries",
		"blocking-writes": "blocking-writes"}
	recipientStates = map[string]string{"cloning": "cloning", "applying": "applying", "blocking-writes": "applying"}
)

func donorState(coordinator string) string {
	return cmp.Or(donorStates[coordinator], "preparing-to-donate")
}

func recipientState(coordinator string) string {
	return cmp.Or(recipientStates[coordinator], "awaiting-fetch-timestamp")
}

// reshardingRows has one row for every recipient and every donor; a mongos does not
// show the coordinator.
func (c *Cluster) reshardingRows(r catalog.Resharding) (rows []bson.Raw) {
	id := fmt.Sprintf("%x-%x-%x-%x-%x", r.UUID[:4], r.UUID[4:6], r.UUID[6:8], r.UUID[8:10], r.UUID[10:])
	if c.version.atLeast(8, 0, 0) {
		return c.reshardingRows8(r, id)
	}
	head := func(shard, desc string) bson.D {
		return value.D("shard", shard, "type", "op", "desc", desc+id, "op", "command", "ns", r.NS,
			"originatingCommand", originating(r, false), "totalOperationTimeElapsedSecs", int64(r.Elapsed.Seconds()))
	}
	if t := c.catalog.Routing(r.TempNS); t != nil {
		for _, shard := range t.ShardsOwning() {
			p := r.Progress[shard]
			rows = append(rows, encode(value.D(head(shard, "ReshardingRecipientService "),
				"remainingOperationTimeEstimatedSecs", int64(-1), "approxDocumentsToCopy", r.Docs, "documentsCopied", p.Docs,
				"approxBytesToCopy", r.Bytes, "bytesCopied", p.Bytes, "totalCopyTimeElapsedSecs", int64(0),
				"oplogEntriesFetched", p.Applied, "oplogEntriesApplied", p.Applied, "totalApplyTimeElapsedSecs", int64(0),
				"recipientState", recipientState(r.State), "opStatus", "running",
				"oplogApplierApplyBatchLatencyMillis", value.D("ops", int64(0)),
				"collClonerFillBatchForInsertLatencyMillis", value.D("ops", int64(0)))))
		}
	}
	if t := c.catalog.Routing(r.NS); t != nil {
		for _, shard := range t.ShardsOwning() {
			rows = append(rows, encode(value.D(head(shard, "ReshardingDonorService "), "countWritesDuringCriticalSection", int64(0),
				"totalCriticalSectionTimeElapsedSecs", int64(0), "donorState", donorState(r.State), "opStatus", "running")))
		}
	}
	return rows
}

// currentOp answers the currentOp command with the rows of $currentOp.
func (c *Cluster) currentOp(_ context.Context, r *engine.Request) (bson.D, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	rows := c.currentOpRows("admin.$cmd")
	if hasKey(r.Body, "$ownOps") {
		rows = rows[:1]
	}
	return value.D("inprog", rawArray(rows)), nil
}

// Threads of a shard that work for a migration, as $currentOp names them.
const (
	donorThread       = "MoveChunk"
	recipientThread   = "migrateThread"
	recipientSessions = "MigrationCoordinator"
)

// migrationRows are the rows of one migration, as a 5.0.7 showed them. The donor has
// the command with the client's application name, and a thread that names the last of
// its six completed steps. The recipient has a thread with seven steps, and a second
// one while it copies. The donor's thread was never seen while the recipient copied.
func (c *Cluster) migrationRows(m catalog.Migration) (rows []bson.Raw) {
	if m.Begun.IsZero() {
		return nil // on its way from the config server to the donor
	}
	running := c.catalog.Now().Sub(m.Begun)
	number := 900 + 8*m.Number
	app := m.Options.App
	if c.relaysMoves() {
		app = "" // the config server asks the donor, whoever asked it
	}
	rows = append(rows, c.commandRow(m.From, "conn22", app, number, running, c.donorCommand(m)))
	copying := m.Receives && m.Received < 5
	if ended := m.Step - 1; ended > 0 && !copying {
		rows = append(rows, c.thread(m.From, donorThread, number+3, stepsEnded(ended, 6), nil))
	}
	if !m.Receives {
		return rows // not asked yet, or done as soon as the donor commits
	}
	sessions := value.When(m.Received >= 3, "transaction", value.D("parameters", value.D("txnNumber", int64(0))))
	rows = append(rows, c.thread(m.To, recipientThread, number+1, c.recipientSteps(m.Received), sessions))
	if m.Cloned && m.Received == 3 {
		rows = append(rows, c.thread(m.To, recipientSessions, number+5, nil, nil))
	}
	return rows
}

// stepsEnded is the message of a thread, nil before its first step ended.
func stepsEnded(ended, of int) bson.D {
	return value.When(ended > 0, "msg", fmt.Sprintf("step %d of %d", ended, of))
}

// recipientSteps is the message of a recipient. 8.0 has one step more at the end, the wait for the donor's outcome.
func (c *Cluster) recipientSteps(ended int) bson.D {
	if !c.version.atLeast(8, 0, 0) {
		return stepsEnded(ended, 7)
	}
	return stepsEnded(ended, 8)
}

func opid(shard string, number int64) string { return fmt.Sprintf("%s:%d", shard, number) }

// thread is the row of a thread that runs no command.
func (c *Cluster) thread(shard, desc string, number int64, message, transaction bson.D) bson.Raw {
	return encode(value.D(c.operation(shard, desc, ""), "opid", opid(shard, number), "op", "none", "ns", "", "command", bson.D{}, message,
		"numYields", int32(0), transaction, "waitingForLock", false, "waitingForFlowControl", false))
}

// donorCommand is what the config server sends to a donor.
func (c *Cluster) donorCommand(m catalog.Migration) bson.D {
	force := int32(0)
	switch {
	case m.Options.ForceJumbo && m.Options.Balancer():
		force = 2
	case m.Options.ForceJumbo:
		force = 1
	}
	if c.relaysMoves() {
		v8 := c.version.atLeast(8, 0, 0)
		return value.D("_shardsvrMoveRange", m.NS, "toShard", m.To, "min", m.Min,
			value.When(!m.Options.Balancer() || !v8, "max", m.Max), // the donor finds the end of what the balancer moves
			"waitForDelete", m.Options.WaitForDelete, "epoch", m.Version[1], value.When(v8, "collectionTimestamp", m.Version[2]),
			"fromShard", m.From, "maxChunkSizeBytes", c.catalog.ChunkSize(), "forceJumbo", force,
			"secondaryThrottle", false, "writeConcern", value.D("w", int32(1), "wtimeout", int32(0)), "$db", "admin")
	}
	return value.D("moveChunk", m.NS, "shardVersion", m.Version, "epoch", m.Version[1],
		"configdb", c.catalog.Host(configShard), "fromShard", m.From, "toShard", m.To, "min", m.Min, "max", m.Max,
		"maxChunkSizeBytes", c.catalog.ChunkSize(), "waitForDelete", m.Options.WaitForDelete, "forceJumbo", force,
		"writeConcern", bson.D{}, "$db", "admin")
}

// primaryMoveRow is the command that mongos sends to the old primary shard, as a 5.0.7
// showed it: the application name is that of the client. The number makes the operation's
// id unique.
func (c *Cluster) primaryMoveRow(number int, m catalog.PrimaryMove) bson.Raw {
	return c.commandRow(m.From, "conn34", m.App, int64(700+number), c.catalog.Now().Sub(m.Begun), value.D(
		"_shardsvrMovePrimary", m.DB, "to", m.To, "commandIsFromRouter", true,
		"writeConcern", value.D("w", "majority", "wtimeout", int32(60000)), "databaseVersion", c.catalog.DatabaseVersion(m.DB),
		"$db", "admin"))
}

// relaysMoves tells whether the config server sends every migration to its donor, as a command of its own that names no
// application (seen on 8.0.10, assumed of 6.0 and 7.0; on 5.0.7 the client's moveChunk shows).
func (c *Cluster) relaysMoves() bool { return c.version.atLeast(6, 0, 0) }

// originating is the originatingCommand of a resharding's rows; 8.0 has "unique" as a text.
func originating(r catalog.Resharding, unique any) bson.D {
	return value.D("reshardCollection", r.NS, "key", r.Key, "unique", unique, "collation", value.D("locale", "simple"))
}

// reshardingRows8 are the rows of a resharding, a moveCollection or an unshardCollection as 8.0.10 shows them: the
// command on the primary shard, with the client's application, and a donor's and a recipient's row for each shard.
func (c *Cluster) reshardingRows8(r catalog.Resharding, id string) []bson.Raw {
	db, _, _ := cut(r.NS)
	primary, _ := c.catalog.Primary(db)
	rows := []bson.Raw{c.commandRow(primary, "conn26", r.App, 600, r.Elapsed, value.D(
		"_shardsvrReshardCollection", r.NS, "key", r.Key, "numInitialChunks", r.Initial,
		value.When(r.To != "", "shardDistribution", r.Distribution, "forceRedistribution", true),
		value.When(r.Zones.Type != 0, "zones", r.Zones), "provenance", r.Command,
		"writeConcern", value.D("w", "majority", "wtimeout", int32(60000)), "databaseVersion", c.catalog.DatabaseVersion(db),
		"$db", "admin"))}
	for _, shard := range c.catalog.ShardNames() {
		if slices.Contains(r.Donors, shard) {
			rows = append(rows, reshardingRow8(r, shard, "Donor", id, nil, value.D("donorState", donorState(r.State),
				"countWritesDuringCriticalSection", int64(0), "countReadsDuringCriticalSection", int64(0))))
		}
		if !slices.Contains(r.Recipients, shard) {
			continue
		}
		p := r.Progress[shard]
		counts := value.D("indexesToBuild", int64(0), "indexesBuilt", int64(0), "oplogEntriesFetched", p.Applied,
			"oplogEntriesApplied", p.Applied, "insertsApplied", int64(0), "updatesApplied", int64(0), "deletesApplied", int64(0))
		state := value.D("recipientState", recipientState(r.State))
		if r.State == "cloning" && p.Bytes > 0 || r.Applying > 0 {
			state = append(state, bson.E{Key: "remainingOperationTimeEstimatedSecs", Value: remaining(r, p)})
		}
		rows = append(rows, reshardingRow8(r, shard, "Recipient", id, counts, value.D(state, "approxDocumentsToCopy", r.Docs,
			"approxBytesToCopy", r.Bytes, "bytesCopied", p.Bytes, "countWritesToStashCollections", int64(0),
			"documentsCopied", p.Docs)))
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
	return encode(value.D("shard", shard, "totalCopyTimeElapsedSecs", int64(r.Copying.Seconds()),
		"totalApplyTimeElapsedSecs", int64(r.Applying.Seconds()), "totalCriticalSectionTimeElapsedSecs", int64(r.Critical.Seconds()),
		"totalIndexBuildTimeElapsedSecs", int64(0), counts, "type", "op", "desc", "ReshardingMetrics"+role+"Service "+id,
		"op", "command", "ns", r.NS, "originatingCommand", originating(r, "false"),
		"totalOperationTimeElapsedSecs", int64(r.Elapsed.Seconds()), state, "provenance", r.Command))
}
