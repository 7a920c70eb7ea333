package simcluster

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
)

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
	rows = append(rows, encode(append(c.operation(m.From, "conn22", app),
		bson.E{Key: "opid", Value: opid(m.From, number)},
		bson.E{Key: "secs_running", Value: int64(running / time.Second)},
		bson.E{Key: "microsecs_running", Value: running.Microseconds()},
		bson.E{Key: "op", Value: "command"}, bson.E{Key: "ns", Value: "admin.$cmd"},
		bson.E{Key: "command", Value: c.donorCommand(m)},
		bson.E{Key: "numYields", Value: int32(0)},
		bson.E{Key: "waitingForLock", Value: false}, bson.E{Key: "waitingForFlowControl", Value: false})))
	copying := m.Receives && m.Received < 5
	if ended := m.Step - 1; ended > 0 && !copying {
		rows = append(rows, c.thread(m.From, donorThread, number+3, stepsEnded(ended, 6), nil))
	}
	if !m.Receives {
		return rows // not asked yet, or done as soon as the donor commits
	}
	var sessions *bson.E
	if m.Received >= 3 {
		sessions = &bson.E{Key: "transaction", Value: bson.D{{Key: "parameters", Value: bson.D{{Key: "txnNumber", Value: int64(0)}}}}}
	}
	rows = append(rows, c.thread(m.To, recipientThread, number+1, c.recipientSteps(m.Received), sessions))
	if m.Cloned && m.Received == 3 {
		rows = append(rows, c.thread(m.To, recipientSessions, number+5, nil, nil))
	}
	return rows
}

// stepsEnded is the message of a thread, nil before its first step ended.
func stepsEnded(ended, of int) *bson.E {
	if ended == 0 {
		return nil
	}
	return &bson.E{Key: "msg", Value: fmt.Sprintf("step %d of %d", ended, of)}
}

// recipientSteps is the message of a recipient. 8.0 has one step more at the end, the wait for the donor's outcome.
func (c *Cluster) recipientSteps(ended int) *bson.E {
	if !c.version.atLeast(8, 0, 0) {
		return stepsEnded(ended, 7)
	}
	return stepsEnded(ended, 8)
}

func opid(shard string, number int64) string { return fmt.Sprintf("%s:%d", shard, number) }

// thread is the row of a thread that runs no command.
func (c *Cluster) thread(shard, desc string, number int64, message, transaction *bson.E) bson.Raw {
	d := append(c.operation(shard, desc, ""),
		bson.E{Key: "opid", Value: opid(shard, number)},
		bson.E{Key: "op", Value: "none"}, bson.E{Key: "ns", Value: ""}, bson.E{Key: "command", Value: bson.D{}})
	if message != nil {
		d = append(d, *message)
	}
	d = append(d, bson.E{Key: "numYields", Value: int32(0)})
	if transaction != nil {
		d = append(d, *transaction)
	}
	return encode(append(d, bson.E{Key: "waitingForLock", Value: false}, bson.E{Key: "waitingForFlowControl", Value: false}))
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
		d := bson.D{{Key: "_shardsvrMoveRange", Value: m.NS}, {Key: "toShard", Value: m.To}, {Key: "min", Value: m.Min}}
		if !m.Options.Balancer() || !c.version.atLeast(8, 0, 0) {
			d = append(d, bson.E{Key: "max", Value: m.Max}) // the donor finds the end of what the balancer moves
		}
		d = append(d, bson.E{Key: "waitForDelete", Value: m.Options.WaitForDelete}, bson.E{Key: "epoch", Value: m.Version[1]})
		if c.version.atLeast(8, 0, 0) {
			d = append(d, bson.E{Key: "collectionTimestamp", Value: m.Version[2]})
		}
		return append(d, bson.D{
			{Key: "fromShard", Value: m.From}, {Key: "maxChunkSizeBytes", Value: c.catalog.ChunkSize()}, {Key: "forceJumbo", Value: force},
			{Key: "secondaryThrottle", Value: false},
			{Key: "writeConcern", Value: bson.D{{Key: "w", Value: int32(1)}, {Key: "wtimeout", Value: int32(0)}}}, {Key: "$db", Value: "admin"},
		}...)
	}
	return bson.D{
		{Key: "moveChunk", Value: m.NS},
		{Key: "shardVersion", Value: m.Version}, {Key: "epoch", Value: m.Version[1]},
		{Key: "configdb", Value: c.catalog.Host(configShard)},
		{Key: "fromShard", Value: m.From}, {Key: "toShard", Value: m.To},
		{Key: "min", Value: m.Min}, {Key: "max", Value: m.Max},
		{Key: "maxChunkSizeBytes", Value: c.catalog.ChunkSize()},
		{Key: "waitForDelete", Value: m.Options.WaitForDelete}, {Key: "forceJumbo", Value: force},
		{Key: "writeConcern", Value: bson.D{}}, {Key: "$db", Value: "admin"},
	}
}
