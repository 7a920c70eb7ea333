package simcluster

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster/engine/value"
)

// limitedUser signs in as a user with only these privileges.
func limitedUser(t testing.TB, c *Cluster, privileges ...any) *rawClient {
	t.Helper()
	root := signedIn(t, c, "root", "root-pw")
	list := bson.A{}
	for i := 0; i < len(privileges); i += 2 {
		list = append(list, d("resource", privileges[i], "actions", privileges[i+1]))
	}
	wantOK(t, root.runOn("admin", d("createRole", "limited", "privileges", list, "roles", bson.A{})))
	wantOK(t, root.runOn("admin", d("createUser", "limited", "pwd", "pw", "roles", bson.A{"limited"})))
	wantOK(t, root.runOn("db", d("insert", "c", "documents", bson.A{d("_id", 1)})))
	wantOK(t, root.runOn("db", d("insert", "secret", "documents", bson.A{d("_id", 1)})))
	wantOK(t, root.runOn("other", d("insert", "c", "documents", bson.A{d("_id", 1)})))
	return signedIn(t, c, "limited", "pw")
}

func collection(db, coll string) bson.D { return d("db", db, "collection", coll) }

func TestEveryStageNeedsItsOwnPrivilege(t *testing.T) {
	c := guardedCluster(t)
	u := limitedUser(t, c, collection("db", "c"), bson.A{"find"})
	root := signedIn(t, c, "root", "root-pw")
	stages := func(list ...bson.D) bson.A {
		out := bson.A{}
		for _, s := range list {
			out = append(out, s)
		}
		return out
	}
	allowed := []bson.A{
		stages(), stages(d("$match", d("a", 1))),
		stages(d("$lookup", d("from", "c", "localField", "a", "foreignField", "b", "as", "x"))),
		stages(d("$unionWith", "c")),
	}
	denied := []bson.A{
		stages(d("$collStats", d("storageStats", bson.D{}))), stages(d("$indexStats", bson.D{})),
		stages(d("$lookup", d("from", "secret", "localField", "a", "foreignField", "b", "as", "x"))),
		stages(d("$lookup", d("from", "c", "pipeline", stages(d("$unionWith", "secret")), "as", "x"))),
		stages(d("$match", d("a", 1)), d("$unionWith", d("coll", "secret", "pipeline", bson.A{}))),
	}
	run := func(p *rawClient, s bson.A) bson.Raw {
		return p.runOn("db", d("aggregate", "c", "pipeline", s, "cursor", bson.D{}))
	}
	for _, s := range allowed {
		wantOK(t, run(u, s))
	}
	for _, s := range denied {
		wantError(t, run(u, s), 13, "not authorized on db to execute command { aggregate: \"c\"")
		if code, _ := wholeNumber(value.Field(run(root, s), "code")); code == 13 {
			t.Errorf("root is refused too: %v", s)
		}
	}
	wantError(t, u.runOn("db", d("aggregate", "secret", "pipeline", bson.A{}, "cursor", bson.D{})), 13, "not authorized")
	wantError(t, u.runOn("admin", d("aggregate", 1, "pipeline", stages(d("$currentOp", bson.D{})), "cursor", bson.D{})), 13, "not authorized")
	wantOK(t, u.runOn("db", d("explain", d("find", "c"))))
	wantError(t, u.runOn("db", d("explain", d("find", "secret"))), 13,
		"not authorized on db to execute command { explain: { find: \"secret\" }")
	wantError(t, u.runOn("db", d("explain", d("aggregate", "c", "pipeline", denied[0], "cursor", bson.D{}))), 13, "not authorized")
}

func TestListsShowWhatAUserMaySee(t *testing.T) {
	c := guardedCluster(t)
	u := limitedUser(t, c, collection("db", "c"), bson.A{"find"})
	if got := names(wantOK(t, u.runOn("admin", d("listDatabases", 1))).Lookup("databases")); !slices.Equal(got, []string{"db"}) {
		t.Errorf("databases %v", got)
	}
	wantError(t, u.runOn("admin", d("listDatabases", 1, "authorizedDatabases", false)), 13, "Insufficient permissions to list all databases")
	root := signedIn(t, c, "root", "root-pw")
	all := wantOK(t, root.runOn("admin", d("listDatabases", 1, "nameOnly", true)))
	expect.EqualSlices(t, names(all.Lookup("databases")), []string{"admin", "config", "db", "other"}, "root's databases")
	wantError(t, u.runOn("db", d("listCollections", 1)), 13, "not authorized")
	wantError(t, u.runOn("other", d("listCollections", 1, "nameOnly", true, "authorizedCollections", true)), 13, "not authorized")
	reply := wantOK(t, u.runOn("db", d("listCollections", 1, "nameOnly", true, "authorizedCollections", true)))
	expect.EqualSlices(t, names(reply.Lookup("cursor", "firstBatch")), []string{"c"}, "collections")
}

func TestWritesNeedThePrivilegesOfTheirEffects(t *testing.T) {
	c := guardedCluster(t)
	u := limitedUser(t, c, collection("db", "c"), bson.A{"update", "find"})
	update := func(upsert bool) bson.Raw {
		return u.runOn("db", d("update", "c", "updates", bson.A{d("q", d("_id", 1), "u", d("$set", d("a", 1)), "upsert", upsert)}))
	}
	wantOK(t, update(false))
	wantError(t, update(true), 13, "not authorized")
	wantError(t, u.runOn("db", d("delete", "c", "deletes", bson.A{d("q", bson.D{}, "limit", 0)})), 13, "not authorized")
	wantOK(t, u.runOn("db", d("findAndModify", "c", "query", d("_id", 1), "update", d("$set", d("a", 2)))))
	wantError(t, u.runOn("db", d("findAndModify", "c", "query", d("_id", 1), "remove", true)), 13, "not authorized")
	wantError(t, u.runOn("db", d("create", "new")), 13, "not authorized")
	wantError(t, u.runOn("db", d("drop", "c")), 13, "not authorized")
	wantError(t, u.runOn("db", d("dropDatabase", 1)), 13, "not authorized")
	wantError(t, u.runOn("admin", d("renameCollection", "db.c", "to", "db.x")), 13, "not authorized")
	wantError(t, u.runOn("db", d("moveChunk", "db.c")), 13, "may only be run against the admin database.")
}
