package replay

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

// Refusals similar to the recorded ones, with the server's texts and in the order of
// its checks (5.0: s/commands/cluster_split_cmd.cpp, cluster_move_chunk_cmd.cpp,
// cluster_merge_chunks_cmd.cpp, cluster_clear_jumbo_flag_cmd.cpp,
// db/s/split_vector.cpp, db/s/split_chunk.cpp,
// db/s/config/sharding_catalog_manager_zone_operations.cpp).
func TestMistakesSimilarToTheRecordedOnesAreRefused(t *testing.T) {
	p := newPlayer(t, "mistakes", simcluster.Options{Empty: true, Still: true})
	defer p.close()
	for _, s := range []struct{ db, cmd string }{
		{"admin", `{"enableSharding": "n", "primaryShard": "shard-rs-1"}`},
		{"admin", `{"shardCollection": "n.a", "key": {"p": 1}}`},
		{"admin", `{"shardCollection": "n.h", "key": {"k": "hashed"}}`},
		{"admin", `{"shardCollection": "n.m", "key": {"p": 1, "k": "hashed"}}`},
		{"n", `{"insert": "a", "documents": [{"_id": 1, "p": 1}, {"_id": 2, "p": 5}, {"_id": 3, "p": 9}]}`},
		{"n", `{"insert": "u", "documents": [{"_id": 1, "x": 1}]}`},
		{"admin", `{"split": "n.a", "middle": {"p": 5}}`},
		{"admin", `{"moveChunk": "n.a", "find": {"p": 5}, "to": "shard-rs-2", "_waitForDelete": true}`},
		{"admin", `{"addShardToZone": "shard-rs-3", "zone": "z"}`},
		{"admin", `{"updateZoneKeyRange": "n.a", "min": {"p": {"$minKey": 1}}, "max": {"p": 5}, "zone": "z"}`},
	} {
		p.mustRun(s.db, document(t, s.cmd))
	}
	for _, s := range []struct {
		db, cmd string
		code    int32 // 0: no code in the reply
		errmsg  string
	}{
		{"admin", `{"split": "n.a", "find": {"q": 1}}`, 0, "no shard key found in chunk query { q: 1 }"},
		{"admin", `{"split": "n.a", "find": {"p": {"$gt": 1}}}`, 0, "no shard key found in chunk query { p: { $gt: 1 } }"},
		{"admin", `{"split": "n.a", "bounds": [{"p": 1}]}`, 0, "upper bound not specified"},
		{"admin", `{"split": "n.a", "bounds": [{"q": 1}, {"q": 2}]}`, 0,
			"shard key bounds [{ q: 1 },{ q: 2 }) are not valid for shard key pattern { p: 1 }"},
		{"admin", `{"split": "n.a", "bounds": [{"p": 1}, {"p": 2}], "middle": {"p": 1}}`, 0, "cannot specify bounds and middle together"},
		{"admin", `{"split": "n.a", "bounds": [{"p": 1}, {"p": 2}], "find": {"p": 1}}`, 0, "cannot specify bounds and find at the same time"},
		{"admin", `{"split": "n.a", "find": {"p": 1}}`, 87, "Unable to find median in chunk because chunk is indivisible."},
		{"admin", `{"split": "n.h", "find": {"k": 1}}`, 72, "need to specify the desired max chunk size"},
		{"admin", `{"split": "n.h", "middle": {"k": 5}}`, 87, "split failed :: caused by :: splitChunk cannot split chunk " +
			"[{ k: 0 }, { k: 3074457345618258602 }), split point k: 5Value of type 'int' is not allowed for hashed fields"},
		{"admin", `{"moveChunk": "n.a", "find": {"q": 1}, "to": "shard-rs-1"}`, 0, "no shard key found in chunk query { q: 1 }"},
		{"admin", `{"moveChunk": "n.a", "to": "shard-rs-1"}`, 0, "need to specify either a find query, or both lower and upper bounds."},
		{"admin", `{"moveChunk": "n.u", "find": {"_id": 1}, "to": "shard-rs-1"}`, 118, "Collection n.u is not sharded."},
		{"admin", `{"moveChunk": "n.a", "find": {"p": 1}, "to": "shard-rs-1"}`, 20, "shard-rs-1 is not in the correct zone z"},
		{"admin", `{"mergeChunks": "n.a"}`, 0, "no bounds were specified"},
		{"admin", `{"mergeChunks": "n.a", "bounds": [{"p": 1}]}`, 0, "only a min and max bound may be specified"},
		{"admin", `{"mergeChunks": "n.a", "bounds": [{"q": 1}, {"q": 2}]}`, 0,
			"shard key bounds [{ q: 1 },{ q: 2 }) are not valid for shard key pattern { p: 1 }"},
		{"admin", `{"mergeChunks": "n.a", "bounds": [{"p": 1}, {"p": 2}]}`, 20, "Failed to commit chunk merge :: caused by " +
			":: could not merge chunks, shard shard-rs-1 does not contain a sequence of chunks that exactly fills the range [{ p: 1 }, { p: 2 })"},
		{"admin", `{"clearJumboFlag": "n.a"}`, 72, "need to specify find or bounds"},
		{"admin", `{"addShardToZone": "nope", "zone": "z"}`, 70, "shard nope does not exist"},
		{"admin", `{"removeShardFromZone": "nope", "zone": "z"}`, 70, "shard nope does not exist"},
		{"admin", `{"addShardToZone": "shard-rs-1"}`, 4, `Missing expected field "zone"`},
		{"admin", `{"addShardToZone": "shard-rs-1", "zone": 5}`, 14, `"zone" had the wrong type. Expected string, found int`},
		{"admin", `{"updateZoneKeyRange": "n.a", "min": {"q": 1}, "max": {"q": 2}, "zone": "nozone"}`, 61,
			"min: { q: 1 } is not a prefix of the shard key { p: 1 } of ns: n.a"},
		{"admin", `{"updateZoneKeyRange": "n.m", "min": {"p": 1, "k": 5}, "max": {"p": 2, "k": 5}, "zone": "nozone"}`, 177,
			"zone nozone does not exist"},
		{"admin", `{"updateZoneKeyRange": "n.m", "min": {"p": 1, "k": 5}, "max": {"p": 2}, "zone": "z"}`, 72, `there exists a field in the range { p: 1, k: 5 } -->> { p: 2, k: MinKey } not of type NumberLong, MinKey, or MaxKey which corresponds to a hashed field in the shard key pattern { p: 1, k: "hashed" }`},
		{"n", `{"aggregate": "a", "pipeline": [{"$project": {"x": {"$divide": ["$p", 0]}}}], "cursor": {}}`, 2,
			"PlanExecutor error during aggregation :: caused by :: can't $divide by zero"},
	} {
		reply := p.run(s.db, document(t, s.cmd))
		code, _ := reply.Lookup("code").Int32OK()
		errmsg, _ := reply.Lookup("errmsg").StringValueOK()
		if ok(reply) || code != s.code || errmsg != s.errmsg {
			t.Errorf("%s\n got %d %q\nwant %d %q", s.cmd, code, errmsg, s.code, s.errmsg)
		}
		if _, err := reply.LookupErr("codeName"); (err == nil) != (s.code != 0) {
			t.Errorf("%s: %s", s.cmd, reply)
		}
	}
}

// Reads of missing namespaces find nothing and do not fail.
func TestReadsOfMissingNamespacesFindNothing(t *testing.T) {
	p := newPlayer(t, "missing", simcluster.Options{Empty: true, Still: true})
	defer p.close()
	p.mustRun("admin", bson.D{{Key: "enableSharding", Value: "n"}})
	for _, cmd := range []string{
		`{"find": "nope"}`, `{"count": "nope"}`, `{"distinct": "nope", "key": "p"}`, `{"collStats": "nope"}`, `{"drop": "nope"}`,
		`{"aggregate": "nope", "pipeline": [], "cursor": {}}`, `{"explain": {"find": "nope"}, "verbosity": "queryPlanner"}`,
	} {
		p.mustRun("n", document(t, cmd))
	}
}
