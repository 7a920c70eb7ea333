package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// checkServer refuses servers that cannot be a store: a store needs transactions and the primary.
func (db *DB) checkServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.o.Timeout)
	defer cancel()
	hello, err := db.client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Raw()
	if err != nil {
		return db.failed(ctx, err)
	}
	db.state.worked()
	db.sharded = isMongos(hello)
	return checkHello(hello, db.address.Hosts())
}

func isMongos(hello bson.Raw) bool {
	msg, _ := hello.Lookup("msg").StringValueOK()
	return msg == "isdbgrid"
}

// wireVersion44 is the greatest wire version of MongoDB 4.4.
const wireVersion44 = 9

func checkHello(hello bson.Raw, hosts string) error {
	if v, ok := hello.Lookup("maxWireVersion").AsInt64OK(); ok && v < wireVersion44 {
		return fault.New(fault.Invalid, "%s is a MongoDB before 4.4, which cannot be a store.", hosts)
	}
	if isMongos(hello) {
		return nil
	}
	// A number, by which members of a config server's replica set identify themselves.
	if kind := hello.Lookup("configsvr").Type; kind != 0 && kind != bson.TypeNull {
		return fault.New(fault.Invalid,
			"%s is a config server, where nobody may keep other data. Give --store the address of a mongos, or of another replica set.", hosts)
	}
	if _, member := hello.Lookup("setName").StringValueOK(); !member {
		return fault.New(fault.Invalid,
			"%s is a standalone mongod, which has no transactions. Give --store a replica set (one of a single member is enough) "+
				"or a sharded cluster.", hosts)
	}
	if primary, _ := hello.Lookup("isWritablePrimary").BooleanOK(); !primary {
		return fault.New(fault.Invalid,
			"%s is not the primary of its replica set, so nothing can be written there. Name the replica set in the address "+
				"(replicaSet=…) and leave directConnection out.", hosts)
	}
	return nil
}

// Sharded reports whether the store is behind a mongos.
func (db *DB) Sharded() bool { return db.sharded }

// Hosts are the hosts of the address, without user and password.
func (db *DB) Hosts() string { return db.address.Hosts() }
