package actions

import (
	"fmt"
	"slices"
	"strconv"

	"shardboard/internal/topology"
)

// databaseFields returns the fields of FactDatabase.
func databaseFields(t *topology.Table, db string) map[string]string {
	for _, d := range t.Databases {
		if d.Name == db {
			return map[string]string{"exists": "true", "primary": d.Primary, "version": databaseVersionText(d.Version)}
		}
	}
	return map[string]string{"exists": "false"}
}

// databaseVersionText is UUID and number of a version; "" when it is not known.
func databaseVersionText(v topology.DatabaseVersion) string {
	if v == (topology.DatabaseVersion{}) {
		return ""
	}
	return fmt.Sprintf("%s|%d", UUIDText(v.UUID), v.LastMod)
}

// placeFields returns the fields of FactPlace. A collection that is neither sharded nor
// tracked is on the primary shard of its database, and has no uuid here.
func placeFields(t *topology.Table, ns topology.Namespace) map[string]string {
	if c := t.Collection(ns); c != nil {
		out := map[string]string{"exists": "true", "sharded": strconv.FormatBool(!c.Unsplittable), "shard": "",
			"uuid": UUIDText(c.Incarnation.UUID)}
		if c.Unsplittable && c.Chunks.Len() > 0 {
			out["shard"] = c.Chunks.Owner(0)
		}
		return out
	}
	if !slices.Contains(t.Unsharded, ns) {
		return map[string]string{"exists": "false"}
	}
	return map[string]string{"exists": "true", "sharded": "false", "shard": t.Primary(ns.Database()), "uuid": ""}
}

// primaryIs: the database has this primary shard.
func primaryIs(db, shard string) Fact {
	return Fact{Kind: FactDatabase, DB: db, Want: map[string]string{"primary": shard}}
}

// sameDatabase is the state of a database that a command depends on.
func sameDatabase(t *topology.Table, db string) Fact {
	want := databaseFields(t, db)
	if want["version"] == "" {
		delete(want, "version")
	}
	return Fact{Kind: FactDatabase, DB: db, Want: want}
}

// placedAs: the collection is as it is in the table.
func placedAs(t *topology.Table, ns topology.Namespace) Fact {
	return Fact{Kind: FactPlace, NS: ns, Want: placeFields(t, ns)}
}

// unshardedOn: the collection is not sharded, and on the shard; "" for any shard.
func unshardedOn(ns topology.Namespace, shard string) Fact {
	want := map[string]string{"exists": "true", "sharded": "false"}
	if shard != "" {
		want["shard"] = shard
	}
	return Fact{Kind: FactPlace, NS: ns, Want: want}
}
