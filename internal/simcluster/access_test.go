package simcluster

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/engine/value"
)

func TestEveryCommandHasAnAccessRule(t *testing.T) {
	for _, v := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion = v })
		for name := range c.commands {
			expect.That(t, c.access.Known(name), "%s: %s has no access rule", v, name)
		}
	}
}

func TestUsersMayHaveOnlyOneMechanism(t *testing.T) {
	c := guardedCluster(t)
	root := signedIn(t, c, "root", "root-pw")
	wantOK(t, root.runOn("admin", d("createUser", "old", "pwd", "pw", "roles", bson.A{}, "mechanisms", bson.A{"SCRAM-SHA-1"})))
	wantOK(t, newRawClient(t, c).signIn("SCRAM-SHA-1", "old", "pw"))
	wantError(t, newRawClient(t, c).signIn("SCRAM-SHA-256", "old", "pw"), 18, "Authentication failed.")
	hello := newRawClient(t, c).runOn("admin", d("hello", 1, "saslSupportedMechs", "admin.old"))
	expect.Equal(t, value.Text(hello.Lookup("saslSupportedMechs")), `[ "SCRAM-SHA-1" ]`, "mechanisms")
	if hello := newRawClient(t, c).runOn("admin", d("hello", 1, "saslSupportedMechs",
		"admin.x")); hello.Lookup("saslSupportedMechs").Type != 0 {
		t.Errorf("hello lists mechanisms for an unknown user: %s", hello)
	}
	wantError(t, newRawClient(t, c).signIn("GSSAPI", "old", "pw"), 334, "GSSAPI")
	wantOK(t, root.runOn("admin", d("createUser", "hashed", "pwd", "0805ffb344b3e5fa8cc10d61cc692dfd", "roles", bson.A{},
		"mechanisms", bson.A{"SCRAM-SHA-1"}, "digestPassword", false)))
	wantOK(t, newRawClient(t, c).signIn("SCRAM-SHA-1", "hashed", "pw"))
	wantOK(t, root.runOn("admin", d("updateUser", "old", "pwd", "other")))
	wantError(t, newRawClient(t, c).signIn("SCRAM-SHA-1", "old", "pw"), 18, "Authentication failed.")
	wantOK(t, newRawClient(t, c).signIn("SCRAM-SHA-256", "old", "other"))
}

func TestOutOfOrderSignInFails(t *testing.T) {
	c := guardedCluster(t)
	p := newRawClient(t, c)
	more := func(payload string) bson.Raw {
		return p.runOn("admin", d("saslContinue", 1, "conversationId", 1, "payload", []byte(payload)))
	}
	wantError(t, more("c=biws,r=x,p=AAAA"), 17, "No SASL session state found")
	start := d("saslStart", 1, "mechanism", "SCRAM-SHA-256", "payload", []byte("n,,n=root,r=abc"))
	wantOK(t, p.runOn("admin", start))
	wantError(t, p.runOn("admin", d("saslContinue", 1, "conversationId", 2, "payload", []byte{})), 17, "Mismatched conversation id")
	wantOK(t, p.runOn("admin", start))
	wantError(t, more("c=biws,r=abc,p=AAAA"), 18, "Authentication failed.")
	wantError(t, more(""), 17, "No SASL session state found")
	wantOK(t, p.runOn("admin", start))
	wantError(t, more(""), 18, "Authentication failed.")
	wantError(t, p.runOn("admin", d("listShards", 1)), 13, "command listShards requires authentication")
}

func TestARevokedRoleTakesEffectAtOnce(t *testing.T) {
	c := guardedCluster(t)
	root := signedIn(t, c, "root", "root-pw")
	wantOK(t, root.runOn("admin", d("createRole", "sees", "privileges", bson.A{}, "roles", bson.A{d("role", "read", "db", "db")})))
	wantOK(t, root.runOn("admin", d("createUser", "u", "pwd", "pw", "roles", bson.A{"sees"})))
	u := signedIn(t, c, "u", "pw")
	find := func() bson.Raw { return u.runOn("db", d("find", "c")) }
	wantOK(t, find())
	wantOK(t, root.runOn("admin", d("updateRole", "sees", "roles", bson.A{})))
	wantError(t, find(), 13, `not authorized on db to execute command { find: "c", $db: "db" }`)
	privilege := bson.A{d("resource", d("db", "db", "collection", "c"), "actions", bson.A{"find", "insert"})}
	wantOK(t, root.runOn("admin", d("grantPrivilegesToRole", "sees", "privileges", privilege)))
	wantOK(t, find())
	wantError(t, u.runOn("db", d("find", "other")), 13, "not authorized on db")
	privilege = bson.A{d("resource", d("db", "db", "collection", "c"), "actions", bson.A{"insert"})}
	wantOK(t, root.runOn("admin", d("updateRole", "sees", "privileges", privilege)))
	wantError(t, find(), 13, "not authorized")
	wantOK(t, u.runOn("db", d("insert", "c", "documents", bson.A{d("_id", 1)})))
	wantOK(t, root.runOn("admin", d("updateRole", "sees", "privileges", bson.A{}, "roles", bson.A{d("role", "read", "db", "db")})))
	wantOK(t, find())
	wantOK(t, root.runOn("admin", d("updateUser", "u", "roles", bson.A{})))
	wantError(t, find(), 13, "not authorized")
	wantOK(t, root.runOn("admin", d("grantRolesToUser", "u", "roles", bson.A{"sees"})))
	wantOK(t, find())
	wantOK(t, root.runOn("admin", d("dropUser", "u")))
	wantOK(t, root.runOn("admin", d("createUser", "u", "pwd", "pw", "roles", bson.A{"root"})))
	wantError(t, find(), 13, "command find requires authentication") // a new user of the same name
}

func TestCursorsBelongToTheirUser(t *testing.T) {
	c := guardedCluster(t)
	root := signedIn(t, c, "root", "root-pw")
	wantOK(t, root.runOn("admin", d("createUser", "u", "pwd", "pw", "roles", bson.A{d("role", "read", "db", "db")})))
	wantOK(t, root.runOn("db", d("insert", "c", "documents", bson.A{d("_id", 1), d("_id", 2), d("_id", 3)})))
	id := wantOK(t, root.runOn("db", d("find", "c", "batchSize", 1))).Lookup("cursor", "id").Int64()
	u := signedIn(t, c, "u", "pw")
	wantError(t, u.runOn("db", d("getMore", id, "collection", "c", "batchSize", 1)), 13, "was not created by the authenticated user")
	wantError(t, u.runOn("db", d("killCursors", "c", "cursors", bson.A{id})), 13, "not authorized on db to execute command")
	wantOK(t, signedIn(t, c, "root", "root-pw").runOn("db", d("getMore", id, "collection", "c", "batchSize", 1)))
	wantOK(t, root.runOn("db", d("killCursors", "c", "cursors", bson.A{id})))
}

func TestSessionsBelongToTheirUser(t *testing.T) {
	c := guardedCluster(t)
	root := signedIn(t, c, "root", "root-pw")
	wantOK(t, root.runOn("admin", d("createUser", "u", "pwd", "pw", "roles", bson.A{d("role", "readWrite", "db", "db")})))
	insert := func(id int) bson.D {
		return d("insert", "c", "documents", bson.A{d("_id", id)}, "txnNumber", int64(1),
			"lsid", d("id", bson.Binary{Subtype: bson.TypeBinaryUUID, Data: make([]byte, 16)}))
	}
	wantOK(t, root.runOn("db", insert(1)))
	wantOK(t, root.runOn("db", insert(1))) // a retry, answered from memory
	wantOK(t, signedIn(t, c, "u", "pw").runOn("db", insert(2)))
	if n, _ := wholeNumber(wantOK(t, root.runOn("db", d("count", "c"))).Lookup("n")); n != 2 {
		t.Errorf("%d documents: one user's write was taken for another's retry, want 2", n)
	}
}

func TestPasswordsAreNotQuoted(t *testing.T) {
	c := guardedCluster(t)
	root := signedIn(t, c, "root", "root-pw")
	wantOK(t, root.runOn("admin", d("createUser", "u", "pwd", "pw", "roles", bson.A{})))
	u := signedIn(t, c, "u", "pw")
	for _, cmd := range []bson.D{d("createUser", "v", "pwd", "canary", "roles", bson.A{}), d("updateUser", "root", "pwd", "canary")} {
		reply := u.runOn("admin", cmd)
		wantError(t, reply, 13, `pwd: "xxx"`)
		expect.Lacks(t, reply.String(), "canary", "%s", reply)
	}
	info := wantOK(t, root.runOn("admin", d("usersInfo", "u", "showCredentials", true)))
	expect.That(t, strings.Contains(info.String(), "storedKey") && !strings.Contains(info.String(), "pw\""), "%s", info)
	if info := wantOK(t, u.runOn("admin", d("usersInfo", "u"))); value.Len(bson.Raw(info.Lookup("users").Value)) != 1 ||
		strings.Contains(info.String(), "storedKey") {
		t.Errorf("%s", info)
	}
	wantError(t, u.runOn("admin", d("find", "system.users")), 13, "not authorized on admin")
	wantOK(t, root.runOn("admin", d("createUser", "reader", "pwd", "pw", "roles", bson.A{"readWriteAnyDatabase"})))
	wantError(t, signedIn(t, c, "reader", "pw").runOn("admin", d("find", "system.users")), 13, "not authorized on admin")
	long := u.runOn("db", d("insert", "c", "documents", bson.A{d("s", strings.Repeat("s", 200), "b", make([]byte, 100))}))
	wantError(t, long, 13, `{ s: "`+strings.Repeat("s", 70)+`...", b: BinData(0, `+strings.Repeat("00", 70)+`...) }`)
}

func TestWithoutUsersEverythingIsAllowed(t *testing.T) {
	c := emptyCluster(t)
	p := newRawClient(t, c)
	wantOK(t, p.runOn("admin", d("createUser", "u", "pwd", "pw", "roles", bson.A{})))
	wantOK(t, p.signIn("SCRAM-SHA-256", "u", "pw"))
	wantOK(t, p.runOn("db", d("insert", "c", "documents", bson.A{d("_id", 1)})))
	status := wantOK(t, p.runOn("admin", d("connectionStatus", 1)))
	expect.Equal(t, value.Len(bson.Raw(status.Lookup("authInfo", "authenticatedUsers").Value)), 1, "%s", status)
	if _, err := New(t.Context(), Options{Empty: true, Users: []access.User{{Name: "nobody"}}}); err == nil {
		t.Error("a user without a password")
	}
}
