package mongosh_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

const composeInit = "../../deploy/compose/init"

// runInit runs a script of deploy/compose as its container does, on an address of ours.
func runInit(t *testing.T, path, script string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--quiet", "--norc", "--nodb", "--file", filepath.Join(composeInit, script))
	cmd.Env = append(append(os.Environ(), "HOME="+t.TempDir(), "NO_COLOR=1"), env...)
	out, err := cmd.CombinedOutput()
	must.That(t, err == nil, "%s: %v\n%s", script, err, out)
	return string(out)
}

// The shards are there already, because the simulated cluster cannot add any.
func TestComposeSetsUpShardingRolesAndUsersAndMayDoSoAgain(t *testing.T) {
	path := mongoshPath(t)
	users, err := access.ReadUsers(strings.NewReader("admin admin-password root\n"))
	must.Do(t, err)
	uri := startCluster(t, simcluster.Options{ServerVersion: "8.0", Empty: true, Still: true, Shards: 2, Users: users})
	address := strings.TrimSuffix(uri, "/?directConnection=true")
	secrets := t.TempDir()
	for _, name := range []string{"admin", "shardboard", "yorkie", "loader"} {
		must.Do(t, os.WriteFile(filepath.Join(secrets, name), []byte(name+"-password\n"), 0o600))
	}
	init := must.Get(filepath.Abs(composeInit))
	env := []string{"SECRETS=" + secrets, "MONGOS=" + address, "INIT=" + init, "SHARDS=shard-rs-1/shard1a:27018 shard-rs-2/shard2a:27018"}
	if out := runInit(t, path, "cluster.js", env...); strings.Count(out, "sharded yorkie-meta.") != 7 || !strings.Contains(out, "ready") {
		t.Errorf("the first time:\n%s", out)
	}
	if out := runInit(t, path, "cluster.js", env...); strings.Contains(out, "sharded") || !strings.Contains(out, "ready") {
		t.Errorf("the second time:\n%s", out)
	}
	client := signIn(t, uri, "admin")
	checkLayout(t, client)
	checkRoles(t, client)
	for _, name := range []string{"shardboard", "yorkie", "loader"} {
		if err := signIn(t, uri, name).Ping(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func signIn(t *testing.T, uri, user string) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetAuth(options.Credential{Username: user, Password: user + "-password"}))
	must.Do(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// checkLayout is the sharding of Yorkie's chart.
func checkLayout(t *testing.T, client *mongo.Client) {
	t.Helper()
	ours := bson.D{{Key: "_id", Value: bson.Regex{Pattern: "^yorkie-meta"}}}
	cur, err := client.Database("config").Collection("collections").Find(t.Context(), ours)
	must.Do(t, err)
	var rows []struct {
		ID  string `bson:"_id"`
		Key bson.D
	}
	must.Do(t, cur.All(t.Context(), &rows))
	got := map[string]string{}
	for _, r := range rows {
		text := must.Get(bson.MarshalExtJSON(r.Key, false, false))
		got[strings.TrimPrefix(r.ID, "yorkie-meta.")] = string(text)
	}
	byDocument := `{"doc_id":"hashed"}`
	want := map[string]string{"clients": `{"project_id":1,"_id":"hashed"}`, "documents": `{"project_id":1}`, "schemas": `{"project_id":1}`,
		"changes": byDocument, "snapshots": byDocument, "versionvectors": byDocument, "revisions": byDocument}
	expect.That(t, reflect.DeepEqual(got, want), "sharded as %v", got)
}

var command = regexp.MustCompile(`(?s)runCommand\((\{.*?\n\})\)`)

// checkRoles compares the roles with those that docs/roles.md gives.
func checkRoles(t *testing.T, client *mongo.Client) {
	t.Helper()
	page := must.Get(os.ReadFile("../../docs/roles.md"))
	want := map[string]map[string]bool{}
	for _, m := range command.FindAllSubmatch(page, -1) {
		var cmd struct {
			CreateRole, GrantPrivilegesToRole string
			Privileges                        []privilege
		}
		if err := json.Unmarshal(m[1], &cmd); err != nil {
			t.Fatalf("%v in %s", err, m[1])
		}
		name := cmd.CreateRole + cmd.GrantPrivilegesToRole
		for _, p := range cmd.Privileges {
			if p.Resource["collection"] == "collections" && p.Actions[0] == "update" {
				continue // not for this release, as the page says
			}
			if want[name] == nil {
				want[name] = map[string]bool{}
			}
			p.addTo(want[name])
		}
	}
	for _, name := range []string{"shardboardViewer", "shardboardOperator"} {
		info := bson.D{{Key: "rolesInfo", Value: name}, {Key: "showPrivileges", Value: true}}
		reply, err := client.Database("admin").RunCommand(t.Context(), info).Raw()
		must.Do(t, err)
		var got struct {
			Roles []struct{ Privileges []privilege }
		}
		if err := bson.Unmarshal(reply, &got); err != nil || len(got.Roles) != 1 {
			t.Fatalf("%s: %v, %v", name, err, reply)
		}
		have := map[string]bool{}
		for _, p := range got.Roles[0].Privileges {
			p.addTo(have)
		}
		if len(have) == 0 || !reflect.DeepEqual(have, want[name]) {
			t.Errorf("%s has %v\nthe page says %v", name, have, want[name])
		}
	}
}

type privilege struct {
	Resource map[string]any
	Actions  []string
}

func (p privilege) addTo(set map[string]bool) {
	resource, _ := json.Marshal(p.Resource)
	for _, a := range p.Actions {
		set[a+" on "+string(resource)] = true
	}
}

// No mongod runs here, so the script meets a replica set that answers as one does.
func TestComposeStartsReplicaSetsAndAddsMembers(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("a long test: set SHARDBOARD_LONG=1")
	}
	out, err := exec.CommandContext(t.Context(), "node", "replica_set_test.js", filepath.Join(composeInit, "replica-set.js")).CombinedOutput()
	must.That(t, err == nil, "%v\n%s", err, out)
}
