package mongosh_test

import (
	"bufio"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// runSuite runs suite.js and returns its output lines by name.
func runSuite(t *testing.T, path, uri string) map[string]any {
	t.Helper()
	out := runMongosh(t, path, "--file", "suite.js", uri)
	lines := map[string]any{}
	in := bufio.NewScanner(strings.NewReader(out))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		name, value, _ := strings.Cut(in.Text(), " ")
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatalf("%v in %q\n%s", err, in.Text(), out)
		}
		lines[name] = v
	}
	return lines
}

// answers are the expected answers of every release.
const answers = `{
	"enableSharding": 1, "shardRanged": "app.ranged", "shardHashed": "app.hashed", "insertRanged": true, "insertHashed": 300, "insertPlain": 1,
	"splitAt": 1, "splitFind": 1, "moveChunk": 1, "movedTo": true,
	"moveNowhere": "moveChunk destination shard does not exist",
	"addShardToZone": 1, "updateZoneKeyRange": 1,
	"zones": [{"ns": "app.ranged", "min": {"p": 100}, "max": {"p": 150}, "tag": "east"}],
	"zoneInUse": "cannot remove a shard from zone if a chunk range is associated with it",
	"removeRangeFromZone": 1, "removeShardFromZone": 1,
	"startBalancer": 1, "balancerOn": true, "stopBalancer": 1, "balancerOff": false, "isBalancerRunning": "off",
	"disableBalancing": 1, "noBalance": true, "enableBalancing": 1, "balancerCollectionStatus": true,
	"find": [95, 96, 97, 98, 99, 100, 101, 102, 103, 104], "countDocuments": 100,
	"aggregate": [{"_id": 0, "n": 100}, {"_id": 1, "n": 100}, {"_id": 2, "n": 100}],
	"update": 10, "delete": 10, "findOneAndUpdate": 1, "distinct": [true], "explain": "SINGLE_SHARD",
	"collections": ["hashed", "plain", "ranged"], "indexes": ["_id_", "k_hashed"], "stats": true,
	"listShards": ["shard-rs-1", "shard-rs-2", "shard-rs-3"],
	"dropDatabase": 1, "databases": false
}`

func TestMongoshWorksWithEveryRelease(t *testing.T) {
	path := mongoshPath(t)
	var want map[string]any
	must.Do(t, json.Unmarshal([]byte(answers), &want))
	for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			got := runSuite(t, path, startCluster(t, simcluster.Options{ServerVersion: release, Empty: true, Still: true}))
			for name, v := range want {
				expect.That(t, reflect.DeepEqual(got[name], v), "%s: %v, want %v", name, got[name], v)
			}
			if text, _ := got["splitTwice"].(string); release < "8" && !strings.Contains(text, "is a boundary key of existing chunk") {
				t.Errorf("a split where a chunk begins: %q", text)
			}
			checkDistribution(t, got["distribution"])
			checkStatus(t, got["status"])
		})
	}
}

// at looks up a path in a decoded JSON object.
func at(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// checkDistribution is db.ranged.getShardDistribution() of 290 documents in three
// chunks on two shards.
func checkDistribution(t *testing.T, v any) {
	t.Helper()
	all, _ := v.(map[string]any)
	chunks, docs := 0.0, 0.0
	for name, shard := range all {
		if strings.HasPrefix(name, "Shard shard-rs-") {
			c, _ := at(shard, "chunks").(float64)
			d, _ := at(shard, "docs").(float64)
			chunks, docs = chunks+c, docs+d
		}
	}
	// Orphans are counted until they are deleted.
	if len(all) != 3 || chunks != 3 || docs < 290 || docs > 400 || at(all, "Totals", "chunks") != 3.0 {
		t.Errorf("getShardDistribution: %v", v)
	}
}

// checkStatus is sh.status().
func checkStatus(t *testing.T, v any) {
	t.Helper()
	shards, _ := at(v, "shards").([]any)
	if len(shards) != 3 || at(v, "balancer", "Currently enabled") != "no" || at(v, "shardingVersion", "clusterId") == nil {
		t.Errorf("sh.status(): %v", v)
	}
	databases, _ := at(v, "databases").([]any)
	var app any
	for _, d := range databases {
		if at(d, "database", "_id") == "app" {
			app = d
		}
	}
	ranged := at(app, "collections", "app.ranged")
	chunks, _ := at(ranged, "chunks").([]any)
	perShard, _ := at(ranged, "chunkMetadata").([]any)
	if !reflect.DeepEqual(at(ranged, "shardKey"), map[string]any{"p": 1.0}) || len(chunks) != 3 || len(perShard) != 2 ||
		at(ranged, "balancing") != true {
		t.Errorf("sh.status() of app.ranged: %v", ranged)
	}
	expect.Equal(t, at(app, "collections", "app.hashed", "shardKey", "k"), "hashed", "sh.status() of app: %v", app)
}

func TestMongoshShowsTheDemoData(t *testing.T) {
	path := mongoshPath(t)
	uri := startCluster(t, simcluster.Options{Projects: 10, Documents: 200, Still: true})
	dbs := runMongosh(t, path, uri, "--eval", "show dbs")
	expect.ContainsAll(t, dbs, []string{"admin", "config", "yorkie-meta"}, "show dbs")
	text := runMongosh(t, path, uri, "--eval", "sh.status()")
	for _, want := range []string{"shardingVersion", "active mongoses", "'yorkie-meta.documents'",
		"shardKey: { project_id: 1 }", "shardKey: { doc_id: 'hashed' }", "'on shard': 'shard-rs-"} {
		expect.Contains(t, text, want, "sh.status()")
	}
}
