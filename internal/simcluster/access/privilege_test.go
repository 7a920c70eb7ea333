package access

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestPrivilegesCoverTheirResources(t *testing.T) {
	of := func(roles ...Name) Privileges {
		p := Privileges{}
		for _, r := range roles {
			more, ok := builtin(r, 5)
			must.That(t, ok, "no role %s", r)
			p.addAll(more)
		}
		return p
	}
	admin := func(name string) Name { return Name{name, "admin"} }
	// Those of root, read and of who manages or watches a cluster are recorded.
	for _, x := range []struct {
		who    Name
		on     Resource
		action string
		may    bool
	}{
		{Name{"readWrite", "db"}, OnNamespace("db", "c"), "insert", true},
		{Name{"readWrite", "db"}, OnDatabase("db"), "dropDatabase", false},
		{Name{"dbAdmin", "db"}, OnDatabase("db"), "dropDatabase", true},
		{Name{"dbAdmin", "db"}, OnNamespace("db", "c"), "find", false},
		{Name{"dbOwner", "db"}, OnDatabase("db"), "createUser", true},
		{Name{"userAdmin", "db"}, OnDatabase("db"), "grantRole", true},
		{Name{"enableSharding", "db"}, OnNamespace("db", "c"), "enableSharding", true},
		{Name{"enableSharding", "db"}, OnNamespace("config", "shards"), "find", false},
		{admin("readAnyDatabase"), OnNamespace("db", "c"), "find", true},
		{admin("readAnyDatabase"), OnNamespace("config", "shards"), "find", false},
		{admin("readAnyDatabase"), OnNamespace("local", "oplog.rs"), "find", false},
		{admin("readWriteAnyDatabase"), OnNamespace("db", "c"), "remove", true},
		{admin("dbAdminAnyDatabase"), OnNamespace("db", "system.buckets.c"), "collMod", true},
		{admin("userAdminAnyDatabase"), OnNamespace("admin", "system.users"), "find", true},
		{admin("userAdminAnyDatabase"), OnNamespace("admin", "c"), "find", false},
		{admin("hostManager"), OnCluster(), "killop", true},
		{admin("root"), OnNamespace("db", "c"), "update", true},
		{admin("root"), OnNamespace("db", "system.buckets.c"), "insert", true},
		{admin("root"), OnCluster(), "internal", false},
	} {
		expect.Equal(t, of(x.who).May(x.on, x.action), x.may, "%s: %s on %+v", x.who, x.action, x.on)
	}
	if !of(Name{"read", "db"}, Name{"readWrite", "db"}).May(OnNamespace("db", "c"), "find", "update") {
		t.Error("privileges of two roles are not combined")
	}
}

func TestNewerRolesHaveNewerActions(t *testing.T) {
	for major, may := range map[int]bool{5: false, 6: true, 8: true} {
		p, _ := builtin(Name{"clusterMonitor", "admin"}, major)
		if p.May(OnCluster(), "shardedDataDistribution") != may {
			t.Errorf("%d.0: clusterMonitor and shardedDataDistribution", major)
		}
	}
	for major, may := range map[int]bool{5: false, 7: true, 8: true} {
		for _, role := range []string{"enableSharding", "clusterManager"} {
			if p, _ := builtin(Name{role, "admin"}, major); p.May(OnNamespace("db", "c"), "analyzeShardKey") != may {
				t.Errorf("%d.0: %s and analyzeShardKey", major, role)
			}
		}
		if p, _ := builtin(Name{"read", "db"}, major); p.May(OnNamespace("db", "c"), "listSearchIndexes") != may {
			t.Errorf("%d.0: read and listSearchIndexes", major)
		}
	}
	for major, may := range map[int]bool{5: true, 8: false} {
		if p, _ := builtin(Name{"clusterMonitor", "admin"}, major); p.May(OnCluster(), "checkFreeMonitoringStatus") != may {
			t.Errorf("%d.0: clusterMonitor and free monitoring", major)
		}
	}
	if p, _ := builtin(Name{"clusterManager", "admin"}, 8); !p.May(OnNamespace("db", "c"), "moveCollection") {
		t.Error("8.0: clusterManager may not move collections")
	}
	for _, n := range []Name{{"clusterMonitor", "db"}, {"root", "db"}, {"nothing", "admin"}} {
		if _, ok := builtin(n, 5); ok {
			t.Errorf("%s exists", n)
		}
	}
}

func TestUserFilesAreParsed(t *testing.T) {
	users, err := readUsers(strings.NewReader("# who\n\nroot secret\nviewer s2 clusterMonitor read@yorkie-meta\n" +
		"\"CN=board,O=Big Corp\" $external clusterMonitor\n"))
	if err != nil || len(users) != 3 || users[1].Password != "s2" || users[1].Roles[1] != "read@yorkie-meta" || users[1].Certificate ||
		users[2].Name != "CN=board,O=Big Corp" || !users[2].Certificate {
		t.Fatalf("got %v, %v", users, err)
	}
	if s := users[0].String() + users[0].GoString(); strings.Contains(s, "secret") {
		t.Errorf("%s shows the password", s)
	}
	for _, s := range []string{"", "# nobody\n", "root\n", "\"CN=board $external", "\"\" $external", "\"CN=board\""} {
		expect.That(t, must.Err(readUsers(strings.NewReader(s))) != nil, "%q is read", s)
	}
	if _, err := New(Options{Users: []User{{Name: "a", Password: "b", Roles: []string{"nothing"}}}}); err == nil {
		t.Error("a user with a role that does not exist")
	}
}
