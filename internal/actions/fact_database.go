package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// primaryIs: the database has this primary shard.
func primaryIs(db, shard string) operation.Fact {
	return operation.Fact{Kind: operation.FactDatabase, DB: db, Want: map[string]string{"primary": shard}}
}

// sameDatabase is the state of a database that a command depends on.
func sameDatabase(t *topology.Table, db string) operation.Fact {
	want := operation.DatabaseFields(t, db)
	if want["version"] == "" {
		delete(want, "version")
	}
	return operation.Fact{Kind: operation.FactDatabase, DB: db, Want: want}
}

// placedAs: the collection is as it is in the table.
func placedAs(t *topology.Table, ns topology.Namespace) operation.Fact {
	return operation.Fact{Kind: operation.FactPlace, NS: ns, Want: operation.PlaceFields(t, ns)}
}

// unshardedOn: the collection is not sharded, and on the shard; "" for any shard.
func unshardedOn(ns topology.Namespace, shard string) operation.Fact {
	want := map[string]string{"exists": "true", "sharded": "false"}
	if shard != "" {
		want["shard"] = shard
	}
	return operation.Fact{Kind: operation.FactPlace, NS: ns, Want: want}
}
