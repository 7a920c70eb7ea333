package access

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func d(pairs ...any) bson.D {
	doc := bson.D{}
	for i := 0; i < len(pairs); i += 2 {
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return doc
}

// request makes a request from a command.
func request(t testing.TB, db string, cmd bson.D) *engine.Request {
	t.Helper()
	raw := must.Get(bson.Marshal(cmd))
	return &engine.Request{DB: db, Name: cmd[0].Key, Body: raw, Conn: &engine.Conn{}}
}

// runUnchecked runs a command without an access check.
func runUnchecked(t testing.TB, c *Control, db string, cmd bson.D) (bson.Raw, error) {
	t.Helper()
	reply, err := c.Handlers()[cmd[0].Key](t.Context(), request(t, db, cmd))
	if err != nil {
		return nil, err
	}
	raw := must.Get(bson.Marshal(reply))
	return raw, nil
}

func controlWithUsers(t testing.TB) *Control {
	t.Helper()
	c, err := New(Options{Enforced: true, Major: 5})
	must.Do(t, err)
	return c
}

func TestInvalidUserAndRoleCommandsAreRefused(t *testing.T) {
	c := controlWithUsers(t)
	privileges := func(resource bson.D, actions ...string) bson.A {
		return bson.A{d("resource", resource, "actions", actions)}
	}
	none := bson.A{}
	for _, setUp := range []bson.D{
		d("createRole", "a", "privileges", none, "roles", bson.A{"read"}),
		d("createRole", "b", "privileges", none, "roles", bson.A{"a"}),
		d("createUser", "u", "pwd", "p", "roles", bson.A{"a"}, "customData", d("x", 1)),
	} {
		must.Do(t, must.Err(runUnchecked(t, c, "db", setUp)))
	}
	for _, x := range []struct {
		cmd  bson.D
		code int32
		text string
	}{
		{d("createUser", "u", "pwd", "p", "roles", none), 51003, `User "u@db" already exists`},
		{d("createUser", "v", "roles", none), 2, "Must provide a 'pwd' field"},
		{d("createUser", "CN=v", "pwd", "p", "roles", none), 2, "Cannot set the password"},
		{d("createUser", "v", "pwd", "", "roles", none), 2, "Password cannot be empty"},
		{d("createUser", "v", "pwd", "p"), 40414, "'createUser.roles' is missing"},
		{d("createUser", "v", "pwd", "p", "roles", bson.A{"nothing"}), 31, "Could not find role: nothing@db"},
		{d("createUser", "v", "pwd", "p", "roles", bson.A{1}), 2, "must be either strings or objects"},
		{d("createUser", "v", "pwd", "p", "roles", none, "mechanisms", bson.A{"PLAIN"}), 2, "Unknown auth mechanism"},
		{d("createUser", "v", "pwd", "p", "roles", none, "digestPassword", false), 2, "undigested"},
		{d("createUser", "v", "pwd", "p", "roles", none, "authenticationRestrictions", bson.A{d("clientSource", bson.A{"10.0.0.1"})}),
			115, "restrict"},
		{d("createUser", 1, "pwd", "p", "roles", none), 14, "wrong type"},
		{d("createUser", "", "pwd", "p", "roles", none), 2, "must not be empty"},
		{d("updateUser", "v", "pwd", "p"), 11, "User v@db not found"},
		{d("updateUser", "u"), 2, "at least one field"},
		{d("dropUser", "v"), 11, "User 'v@db' not found"},
		{d("grantRolesToUser", "v", "roles", bson.A{"a"}), 11, "Could not find user"},
		{d("grantRolesToUser", "u", "roles", none), 2, "non-empty"},
		{d("grantRolesToUser", "u", "roles", bson.A{"nothing"}), 31, "Could not find role"},
		{d("createRole", "a", "privileges", none, "roles", none), 51002, `Role "a@db" already exists`},
		{d("createRole", "read", "privileges", none, "roles", none), 2, "same name as a built-in role"},
		{d("createRole", "c", "roles", none), 40414, "'createRole.privileges' is missing"},
		{d("createRole", "c", "privileges", privileges(d("cluster", true), "inprog"), "roles", none), 49, "other databases or the cluster"},
		{d("createRole", "c", "privileges", none, "roles", bson.A{d("role", "root", "db", "admin")}), 49, "other databases"},
		{d("createRole", "c", "privileges", privileges(d("db", "db", "collection", ""), "fly"), "roles", none), 9,
			"Unrecognized action privilege strings: fly"},
		{d("createRole", "c", "privileges", privileges(d("db", "db"), "find"), "roles", none), 9, "both db and collection"},
		{d("createRole", "c", "privileges", privileges(d("planet", true), "find"), "roles", none), 9, "must specify"},
		{d("createRole", "c", "privileges", privileges(d("db", "db", "collection", "")), "roles", none), 9, "at least one action"},
		{d("createRole", "c", "privileges", "all", "roles", none), 14, "array"},
		{d("updateRole", "read", "roles", none), 49, "built-in role"},
		{d("updateRole", "x", "roles", none), 31, "Could not find role"},
		{d("updateRole", "a", "roles", bson.A{"b"}), 49, "cycle"},
		{d("updateRole", "a", "roles", bson.A{"a"}), 49, "cycle"},
		{d("grantPrivilegesToRole", "a", "privileges", none), 2, "non-empty"},
	} {
		db := "db"
		if name, _ := x.cmd[0].Value.(string); strings.HasPrefix(name, "CN=") {
			db = "$external"
		}
		_, err := runUnchecked(t, c, db, x.cmd)
		var e *status.Error
		if !errors.As(err, &e) || e.Code != x.code || !strings.Contains(e.Message, x.text) {
			t.Errorf("%v: %v, want %d %s", x.cmd, err, x.code, x.text)
		}
	}
}

func TestInfoCommandsShowUsersAndRoles(t *testing.T) {
	c := controlWithUsers(t)
	for _, setUp := range []bson.D{
		d("createRole", "outer", "privileges",
			bson.A{d("resource", d("db", "", "collection", "c"), "actions", bson.A{"find"})}, "roles", bson.A{"clusterMonitor"}),
		d("createUser", "u", "pwd", "p", "roles", bson.A{"outer"}, "customData", d("x", 1)),
	} {
		must.Do(t, must.Err(runUnchecked(t, c, "admin", setUp)))
	}
	users, err := runUnchecked(t, c, "admin", d("usersInfo", 1, "showPrivileges", true))
	must.Do(t, err)
	text := value.Text(users.Lookup("users"))
	for _, want := range []string{
		`_id: "admin.u"`, `user: "u", db: "admin"`, `customData: { x: 1 }`, `roles: [ { role: "outer", db: "admin" } ]`,
		`inheritedRoles: [ { role: "clusterMonitor", db: "admin" }, { role: "outer", db: "admin" } ]`,
		`{ resource: { db: "", collection: "c" }, actions: [ "find" ] }`, `mechanisms: [ "SCRAM-SHA-1", "SCRAM-SHA-256" ]`,
	} {
		expect.Contains(t, text, want, "the text")
	}
	roles, err := runUnchecked(t, c, "admin", d("rolesInfo", bson.A{"outer", d("role", "read", "db", "db"), "nothing"}))
	expect.That(t, err == nil && value.Len(bson.Raw(roles.Lookup("roles").Value)) == 2, "%s, %v", roles, err)
	all, err := runUnchecked(t, c, "admin", d("rolesInfo", 1, "showBuiltinRoles", true, "showPrivileges", true))
	if n := value.Len(bson.Raw(all.Lookup("roles").Value)); err != nil || n != 16 {
		t.Errorf("%d roles on admin, %v, want 16", n, err)
	}
}

func TestUserAdministratorsGrantOnlyWithinTheirDatabases(t *testing.T) {
	c := controlWithUsers(t)
	for name, roles := range map[string]bson.A{"ua": {d("role", "userAdmin", "db", "db")}, "any": {"userAdminAnyDatabase"}, "no": {}} {
		must.Do(t, must.Err(runUnchecked(t, c, "admin", d("createUser", name, "pwd", "p", "roles", roles))))
	}
	root := bson.A{d("role", "root", "db", "admin")}
	everywhere := bson.A{d("resource", d("anyResource", true), "actions", bson.A{"find"})}
	for _, x := range []struct {
		who, db string
		cmd     bson.D
		may     bool
	}{
		{"ua", "db", d("createUser", "x", "pwd", "p", "roles", bson.A{"read"}), true},
		{"ua", "db", d("createUser", "x", "pwd", "p", "roles", root), false},
		{"ua", "admin", d("createUser", "x", "pwd", "p", "roles", bson.A{}), false},
		{"ua", "db", d("createRole", "x", "privileges", everywhere, "roles", bson.A{}), false},
		{"ua", "db", d("updateUser", "x", "roles", bson.A{}), false},
		{"any", "admin", d("updateUser", "x", "roles", root), true},
		{"any", "db", d("createRole", "x", "privileges", everywhere, "roles", bson.A{}), true},
		{"any", "admin", d("usersInfo", d("forAllDBs", true)), true},
		{"ua", "admin", d("usersInfo", d("forAllDBs", true)), false},
		{"no", "admin", d("usersInfo", "no"), true},
		{"no", "admin", d("usersInfo", "any"), false},
		{"no", "admin", d("updateUser", "no", "pwd", "mine"), false},
		{"no", "admin", d("grantRolesToUser", "no", "roles", root), false},
		{"any", "admin", d("rolesInfo", "userAdminAnyDatabase"), true},
		{"no", "admin", d("rolesInfo", "userAdminAnyDatabase"), false},
		{"no", "db", d("noSuchCommandAtAll", 1), false},
	} {
		s := c.NewSession()
		s.join(Name{x.who, "admin"})
		if err := c.Authorize(s, request(t, x.db, x.cmd)); (err == nil) != x.may {
			t.Errorf("%s: %v on %s: %v", x.who, x.cmd, x.db, err)
		}
	}
}
