package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
)

func TestLogEntriesHaveTheFormOfTheirVersion(t *testing.T) {
	for _, v := range allVersions {
		onVersion(t, v, func(p *fixture) {
			p.mustRun(`{"split": "db.r", "middle": {"p": {"$numberInt": "100"}}}`)
			p.mustRun(`{"mergeChunks": "db.r", "bounds": [{"p": {"$minKey": 1}}, {"p": {"$maxKey": 1}}]}`)
			left := fieldNames(t, p.changelogDetails("split")[0].Lookup("left").Document())
			merge := fieldNames(t, p.changelogDetails("merge")[0])
			wantLeft := []string{"min", "max", "lastmod", "lastmodEpoch", "lastmodTimestamp"}
			wantMerge := []string{"merged", "prevShardVersion", "prevShardVersionEpoch", "prevShardVersionTimestamp",
				"mergedVersion", "mergedVersionEpoch", "mergedVersionTimestamp", "owningShard"}
			switch {
			case v == v44:
				old := func(s string) bool { return strings.HasSuffix(s, "Timestamp") }
				wantLeft, wantMerge = slices.DeleteFunc(wantLeft, old), slices.DeleteFunc(wantMerge, old)
			case v != v50:
				wantLeft = []string{"min", "max", "lastmod"}
				wantMerge = []string{"prevPlacementVersion", "mergedVersion", "owningShard", "min", "max", "numChunks"}
			}
			p.expectEqual(fmt.Sprint(v, " split"), left, wantLeft)
			p.expectEqual(fmt.Sprint(v, " merge"), merge, wantMerge)
		})
	}
}

func TestJumboSurvivesASplitBefore70(t *testing.T) {
	for _, v := range allVersions {
		onVersion(t, v, func(p *fixture) {
			p.c.Mu.Lock()
			p.c.MarkJumbo("db.r", p.c.Routing("db.r").chunks[0].Min)
			p.c.Mu.Unlock()
			p.mustRun(`{"split": "db.r", "middle": {"p": {"$numberInt": "100"}}}`)
			for _, ch := range p.c.Routing("db.r").Chunks() {
				p.expectEqual(fmt.Sprint(v), ch.Jumbo, v[0] < 7)
			}
			p.mustRun(`{"clearJumboFlag": "db.r", "find": {"p": {"$numberInt": "5"}}}`)
			expect.That(t, !p.c.Routing("db.r").Chunks()[0].Jumbo, "%v: still jumbo", v)
		})
	}
}

func TestMoveChunkChecksTheZoneBefore60(t *testing.T) {
	for _, v := range allVersions {
		onVersion(t, v, func(p *fixture) {
			p.mustRun(`{"addShardToZone": "shard-rs-1", "zone": "z"}`)
			p.mustRun(`{"updateZoneKeyRange": "db.r", "min": {"p": {"$minKey": 1}}, "max": {"p": {"$maxKey": 1}}, "zone": "z"}`)
			_, err := p.run("admin", doc(t, `{"moveChunk": "db.r", "find": {"p": {"$numberInt": "5"}}, "to": "shard-rs-2"}`))
			if e := status.Of(err); v[0] < 6 && (e == nil || e.Code != status.IllegalOperation) || v[0] >= 6 && err != nil {
				t.Errorf("%v: %v", v, err)
			}
		})
	}
}

func TestConfigCollectionsHaveTheIndexesOfTheirVersion(t *testing.T) {
	for _, v := range allVersions {
		c := New(Options{Version: v})
		has := func(coll, index string) bool {
			at := c.Config.Coll("config", coll)
			return at != nil && slices.ContainsFunc(at.Indexes(), func(spec bson.Raw) bool { return spec.Lookup("name").StringValue() == index })
		}
		for _, want := range []struct {
			coll, index string
			there       bool
		}{
			{"chunks", "ns_1_min_1", v[0] < 5}, {"chunks", "ns_1_shard_1_min_1", v[0] < 5}, {"chunks", "ns_1_lastmod_1", v[0] < 5},
			{"chunks", "uuid_1_min_1", v[0] >= 5}, {"chunks", "uuid_1_shard_1_min_1", v[0] >= 5}, {"chunks", "uuid_1_lastmod_1", v[0] >= 5},
			{"chunks", "uuid_1_shard_1_onCurrentShardSince_1", v[0] >= 7}, {"placementHistory", "nss_1_timestamp_-1", v[0] >= 7},
			{"locks", "ts_1", v[0] < 7}, {"migrations", "ns_1_min_1", v[0] < 8}, {"tags", "ns_1_min_1", true},
		} {
			if has(want.coll, want.index) != want.there {
				t.Errorf("%v: config.%s has index %s: %t", v, want.coll, want.index, !want.there)
			}
		}
		c.Close()
	}
}

// grow inserts n documents of about a kilobyte with the given keys.
func (p *fixture) grow(n int, key func(i int) int32) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	for i := range n {
		d := encode(bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: key(i)}, {Key: "pad", Value: strings.Repeat("x", 980)}})
		must.Do(p.t, p.insertRouted("db", "t", d))
		k, _ := p.c.Routing("db.t").KeyOf(d)
		p.c.NoteWrite("db.t", k, len(d))
	}
}

func growingCluster(t *testing.T) *fixture {
	p := newFixture(t)
	p.mustRun(`{"enableSharding": "db"}`)
	p.mustRun(`{"shardCollection": "db.t", "key": {"p": 1}}`)
	p.c.Mu.Lock()
	p.c.setSetting("chunksize", bson.D{{Key: "value", Value: int32(1)}})
	p.c.Mu.Unlock()
	return p
}

func TestGrowingChunkIsSplit(t *testing.T) {
	p := growingCluster(t)
	p.grow(8000, func(i int) int32 { return int32(i * 7919 % 8000) })
	p.checkInvariants()
	n := p.c.Routing("db.t").Len()
	must.That(t, n >= 8 && n <= 24, "%d chunks of at most 1 MB for 8 MB", n)
	expect.That(t, p.changelogCount("split")+p.changelogCount("multi-split") != 0, "no split in the change log")
	for _, ch := range p.c.Routing("db.t").Chunks() {
		if docs := p.c.data(ch.Shard, "db.t").CountRange(p.c.Routing("db.t").Key, ch.Min, ch.Max); docs > 1400 {
			t.Errorf("chunk %s holds %d documents, want at most 1400", rangeText(ch.Min, ch.Max), docs)
		}
	}
}

func TestLastChunkIsSplitAtItsHighestKey(t *testing.T) {
	p := growingCluster(t)
	p.grow(6000, func(i int) int32 { return int32(i) })
	chunks := p.c.Routing("db.t").Chunks()
	last := chunks[len(chunks)-1]
	if got := last.Min.Lookup("p").Int32(); got < 4500 {
		t.Fatalf("the last chunk begins at %d, want at least 4500", got)
	}
	p.checkInvariants()
}

func TestChunkOfOneKeyIsNeverSplit(t *testing.T) {
	p := growingCluster(t)
	p.grow(4000, func(int) int32 { return 7 })
	if n := p.c.Routing("db.t").Len(); n > 2 {
		t.Fatalf("%d chunks, want at most 2", n)
	}
}

func TestAStoppedBalancerStopsSplitting(t *testing.T) {
	p := growingCluster(t)
	p.mustRun(`{"balancerStop": 1}`)
	p.grow(4000, func(i int) int32 { return int32(i) })
	if n := p.c.Routing("db.t").Len(); n != 1 {
		t.Fatalf("%d chunks, want 1", n)
	}
}
