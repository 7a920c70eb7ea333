package simcluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// operations are what $currentOp shows: what runs on the shards, the migrations and reshardings above all.
type operations struct {
	catalog *catalog.Cluster
	version version
	faults  *Faults
}

// operations lists the rows of $currentOp: the $currentOp itself, the threads of
// migrations and of a resharding, and commands that a fault delays. Fields are those of
// 5.0.7. The caller holds catalog.Mu.
func (o *operations) rows(ns string) []bson.Raw {
	rows := []bson.Raw{o.currentOpRow(ns)}
	for _, m := range o.catalog.Migrations() {
		rows = append(rows, o.migrationRows(m)...)
	}
	for i, m := range o.catalog.PrimaryMoves() {
		rows = append(rows, o.primaryMoveRow(i, m))
	}
	if r, ok := o.catalog.Resharding(); ok {
		rows = append(rows, o.reshardingRows(r)...)
	}
	return append(rows, o.faults.inflightRows(o.relaysMoves())...)
}

// currentOpRow is the row of the $currentOp itself.
func (o *operations) currentOpRow(ns string) bson.Raw {
	return encode(value.D(o.operation(configShard, "conn1", ""), "secs_running", int64(0), "op", "command", "ns", ns))
}

// routerOperations are the rows of $currentOp with localOps: what mongos itself is doing, here the commands that a
// fault delays.
func (o *operations) routerOperations(ns string) []bson.Raw {
	return append([]bson.Raw{o.currentOpRow(ns)}, o.faults.inflightRows(false)...)
}

// operation has the fields that every row begins with. app is the client's application
// name, if known.
func (o *operations) operation(shard, desc, app string) bson.D {
	return value.D("shard", shard, "type", "op", "host", addressOf(o.catalog, shard), "desc", desc, value.When(app != "", "appName", app),
		"active", true, "currentOpTime", o.catalog.Now().UTC().Format("2006-01-02T15:04:05.000+00:00"))
}

// commandRow is the row of a command that a shard runs for the cluster since a time ago.
func (o *operations) commandRow(shard, desc, app string, number int64, running time.Duration, command bson.D) bson.Raw {
	return encode(value.D(o.operation(shard, desc, app), "opid", opid(shard, number), "secs_running", int64(running/time.Second),
		"microsecs_running", running.Microseconds(), "op", "command", "ns", "admin.$cmd", "command", command, "numYields", int32(0),
		"waitingForLock", false, "waitingForFlowControl", false))
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
func (o *operations) reshardingRows(r catalog.Resharding) (rows []bson.Raw) {
	id := fmt.Sprintf("%x-%x-%x-%x-%x", r.UUID[:4], r.UUID[4:6], r.UUID[6:8], r.UUID[8:10], r.UUID[10:])
	if o.version.atLeast(8, 0, 0) {
		return o.reshardingRows8(r, id)
	}
	head := func(shard, desc string) bson.D {
		return value.D("shard", shard, "type", "op", "desc", desc+id, "op", "command", "ns", r.NS,
			"originatingCommand", originating(r, false), "totalOperationTimeElapsedSecs", int64(r.Elapsed.Seconds()))
	}
	if t := o.catalog.Routing(r.TempNS); t != nil {
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
	if t := o.catalog.Routing(r.NS); t != nil {
		for _, shard := range t.ShardsOwning() {
			rows = append(rows, encode(value.D(head(shard, "ReshardingDonorService "), "countWritesDuringCriticalSection", int64(0),
				"totalCriticalSectionTimeElapsedSecs", int64(0), "donorState", donorState(r.State), "opStatus", "running")))
		}
	}
	return rows
}

// currentOp answers the currentOp command with the rows of $currentOp.
func (o *operations) run(_ context.Context, r *engine.Request) (bson.D, error) {
	o.catalog.Mu.RLock()
	defer o.catalog.Mu.RUnlock()
	rows := o.rows("admin.$cmd")
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
func (o *operations) migrationRows(m catalog.Migration) (rows []bson.Raw) {
	if m.Begun.IsZero() {
		return nil // on its way from the config server to the donor
	}
	running := o.catalog.Now().Sub(m.Begun)
	number := 900 + 8*m.Number
	app := m.Options.App
	if o.relaysMoves() {
		app = "" // the config server asks the donor, whoever asked it
	}
	rows = append(rows, o.commandRow(m.From, "conn22", app, number, running, o.donorCommand(m)))
	copying := m.Receives && m.Received < 5
	if ended := m.Step - 1; ended > 0 && !copying {
		rows = append(rows, o.thread(m.From, donorThread, number+3, stepsEnded(ended, 6), nil))
	}
	if !m.Receives {
		return rows // not asked yet, or done as soon as the donor commits
	}
	sessions := value.When(m.Received >= 3, "transaction", value.D("parameters", value.D("txnNumber", int64(0))))
	rows = append(rows, o.thread(m.To, recipientThread, number+1, o.recipientSteps(m.Received), sessions))
	if m.Cloned && m.Received == 3 {
		rows = append(rows, o.thread(m.To, recipientSessions, number+5, nil, nil))
	}
	return rows
}

// stepsEnded is the message of a thread, nil before its first step ended.
func stepsEnded(ended, of int) bson.D {
	return value.When(ended > 0, "msg", fmt.Sprintf("step %d of %d", ended, of))
}

// recipientSteps is the message of a recipient. 8.0 has one step more at the end, the wait for the donor's outcome.
func (o *operations) recipientSteps(ended int) bson.D {
	if !o.version.atLeast(8, 0, 0) {
		return stepsEnded(ended, 7)
	}
	return stepsEnded(ended, 8)
}

func opid(shard string, number int64) string { return fmt.Sprintf("%s:%d", shard, number) }

// thread is the row of a thread that runs no command.
func (o *operations) thread(shard, desc string, number int64, message, transaction bson.D) bson.Raw {
	return encode(value.D(o.operation(shard, desc, ""), "opid", opid(shard, number), "op", "none", "ns", "", "command", bson.D{}, message,
		"numYields", int32(0), transaction, "waitingForLock", false, "waitingForFlowControl", false))
}

// donorCommand is what the config server sends to a donor.
func (o *operations) donorCommand(m catalog.Migration) bson.D {
	force := int32(0)
	switch {
	case m.Options.ForceJumbo && m.Options.Balancer():
		force = 2
	case m.Options.ForceJumbo:
		force = 1
	}
	if o.relaysMoves() {
		v8 := o.version.atLeast(8, 0, 0)
		return value.D("_shardsvrMoveRange", m.NS, "toShard", m.To, "min", m.Min,
			value.When(!m.Options.Balancer() || !v8, "max", m.Max), // the donor finds the end of what the balancer moves
			"waitForDelete", m.Options.WaitForDelete, "epoch", m.Version[1], value.When(v8, "collectionTimestamp", m.Version[2]),
			"fromShard", m.From, "maxChunkSizeBytes", o.catalog.ChunkSize(), "forceJumbo", force,
			"secondaryThrottle", false, "writeConcern", value.D("w", int32(1), "wtimeout", int32(0)), "$db", "admin")
	}
	return value.D("moveChunk", m.NS, "shardVersion", m.Version, "epoch", m.Version[1],
		"configdb", o.catalog.Host(configShard), "fromShard", m.From, "toShard", m.To, "min", m.Min, "max", m.Max,
		"maxChunkSizeBytes", o.catalog.ChunkSize(), "waitForDelete", m.Options.WaitForDelete, "forceJumbo", force,
		"writeConcern", bson.D{}, "$db", "admin")
}

// primaryMoveRow is the command that mongos sends to the old primary shard, as a 5.0.7
// showed it: the application name is that of the client. The number makes the operation's
// id unique.
func (o *operations) primaryMoveRow(number int, m catalog.PrimaryMove) bson.Raw {
	return o.commandRow(m.From, "conn34", m.App, int64(700+number), o.catalog.Now().Sub(m.Begun), value.D(
		"_shardsvrMovePrimary", m.DB, "to", m.To, "commandIsFromRouter", true,
		"writeConcern", value.D("w", "majority", "wtimeout", int32(60000)), "databaseVersion", o.catalog.DatabaseVersion(m.DB),
		"$db", "admin"))
}

// relaysMoves tells whether the config server sends every migration to its donor, as a command of its own that names no
// application (seen on 8.0.10, assumed of 6.0 and 7.0; on 5.0.7 the client's moveChunk shows).
func (o *operations) relaysMoves() bool { return o.version.atLeast(6, 0, 0) }

// originating is the originatingCommand of a resharding's rows; 8.0 has "unique" as a text.
func originating(r catalog.Resharding, unique any) bson.D {
	return value.D("reshardCollection", r.NS, "key", r.Key, "unique", unique, "collation", value.D("locale", "simple"))
}

// reshardingRows8 are the rows of a resharding, a moveCollection or an unshardCollection as 8.0.10 shows them: the
// command on the primary shard, with the client's application, and a donor's and a recipient's row for each shard.
func (o *operations) reshardingRows8(r catalog.Resharding, id string) []bson.Raw {
	db, _, _ := cut(r.NS)
	primary, _ := o.catalog.Primary(db)
	rows := []bson.Raw{o.commandRow(primary, "conn26", r.App, 600, r.Elapsed, value.D(
		"_shardsvrReshardCollection", r.NS, "key", r.Key, "numInitialChunks", r.Initial,
		value.When(r.To != "", "shardDistribution", r.Distribution, "forceRedistribution", true),
		value.When(r.Zones.Type != 0, "zones", r.Zones), "provenance", r.Command,
		"writeConcern", value.D("w", "majority", "wtimeout", int32(60000)), "databaseVersion", o.catalog.DatabaseVersion(db),
		"$db", "admin"))}
	for _, shard := range o.catalog.ShardNames() {
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
