// Package engine stores the documents of one shard: databases, collections in insertion
// order, indexes, and a planner that chooses an index for a query.
//
// The package does no locking: the caller guards a Node with a read-write lock.
// Documents are stored once, as the received bytes; indexes hold slices of them.
package engine

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Request is one received command.
type Request struct {
	DB, Name string                // database and command name
	Body     bson.Raw              // the command document
	Docs     map[string][]bson.Raw // document sequences of OP_MSG, by name: "documents", "updates", "deletes"
	Conn     *Conn                 // nil for commands from inside the process
}

// Lookup is a top-level field of the command, missing (zero) when absent.
func (r *Request) Lookup(key string) bson.RawValue { return value.Field(r.Body, key) }

// oldNames are the old names of commands that the server still accepts.
var oldNames = map[string]string{
	"ismaster": "isMaster", "buildinfo": "buildInfo", "findandmodify": "findAndModify", "collstats": "collStats",
	"datasize": "dataSize", "dbstats": "dbStats", "deleteIndexes": "dropIndexes", "isdbGrid": "isdbgrid",
	"enablesharding": "enableSharding", "shardcollection": "shardCollection", "movechunk": "moveChunk",
	"removeshard": "removeShard", "moveprimary": "movePrimary", "addshard": "addShard",
}

// Command is the current name of the command, of which Name may be an old one.
func (r *Request) Command() string { return CurrentName(r.Name) }

// CurrentName is the current name of a command.
func CurrentName(name string) string { return cmp.Or(oldNames[name], name) }

// Conn describes the connection of a command.
type Conn struct {
	ID     int32
	Remote string // host:port of the client
	App    string // application name of the handshake

	// Client is the handshake's client document, nil before it.
	Client bson.Raw

	// Certificate is the subject of the client's verified certificate, such as
	// "CN=jo,O=Example"; empty without one.
	Certificate string

	// Gone is closed when the client has closed the connection.
	Gone <-chan struct{}

	// Access is the session of the access control, nil before the first use.
	Access any
}

// Handler runs a command. The server adds ok, operationTime and $clusterTime to the
// reply.
type Handler func(ctx context.Context, r *Request) (bson.D, error)
