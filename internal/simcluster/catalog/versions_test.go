package catalog

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
)

// allVersions has one release of every simulated version.
var allVersions = [][3]int{{4, 4, 29}, {5, 0, 7}, {6, 0, 20}, {7, 0, 16}, {8, 0, 13}}

var (
	v44 = allVersions[0]
	v50 = allVersions[1]
	v60 = allVersions[2]
	v70 = allVersions[3]
	v80 = allVersions[4]
)

// onVersion runs scene in a synctest bubble on a cluster of a version with db.r on {p:
// 1}: 400 documents of about 4 KB on shard-rs-1.
func onVersion(t *testing.T, version [3]int, scene func(p *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Version: version, Seed: 11})
		defer c.Close()
		p := &fixture{t: t, c: c, handlers: c.Handlers()}
		p.mustRun(`{"enableSharding": "db", "primaryShard": "shard-rs-1"}`)
		p.mustRun(`{"shardCollection": "db.r", "key": {"p": {"$numberInt": "1"}}}`)
		p.insertDocuments("r", 400)
		scene(p)
		p.checkInvariants()
	})
}

func (p *fixture) insertDocuments(coll string, n int) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	pad := strings.Repeat("x", 4000)
	for i := range n {
		if err := p.insertRouted("db", coll, encode(bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: int32(i)},
			{Key: "pad", Value: pad}})); err != nil {
			p.t.Fatal(err)
		}
	}
}

// chunkLines lists chunks as "min shard major|minor".
func (p *fixture) chunkLines(ns string) (rows []string) {
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	for _, ch := range p.c.tables[ns].Chunks() {
		rows = append(rows, fmt.Sprintf("%s %s %d|%d", text(ch.Min), strings.TrimPrefix(ch.Shard, "shard-rs-"), ch.Version.T, ch.Version.I))
	}
	return rows
}

func (p *fixture) changelogDetails(what string) (list []bson.Raw) {
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	for _, d := range p.c.Config.Coll("config", "changelog").All() {
		if d.Lookup("what").StringValue() == what {
			list = append(list, d.Lookup("details").Document())
		}
	}
	return list
}

func (p *fixture) expectEqual(what string, got, want any) {
	p.t.Helper()
	expect.Equal(p.t, fmt.Sprint(got), fmt.Sprint(want), "%s:\n got  %v\n want %v", what, got, want)
}

func TestMoveRangeFindsTheMissingBound(t *testing.T) {
	onVersion(t, v70, func(p *fixture) {
		p.mustRun(`{"configureCollectionBalancing": "db.r", "chunkSize": 1}`)
		p.mustRun(`{"moveRange": "db.r", "toShard": "shard-rs-2", "min": {"p": {"$numberInt": "50"}}}`)
		// The rest is smaller than a chunk, so all of it moves.
		p.mustRun(`{"moveRange": "db.r", "toShard": "shard-rs-3", "max": {"p": {"$maxKey": 1}}}`)
		moved := p.c.data("shard-rs-2", "db.r")
		if n := moved.Bytes(); n < 900<<10 || n > 1<<20 {
			t.Errorf("%d bytes moved, want about 1 MB", n)
		}
		p.expectEqual("the rest", p.c.data("shard-rs-3", "db.r").Len(), 400-50-moved.Len())
		p.mustRun(`{"moveRange": "db.r", "toShard": "shard-rs-3", "max": {"p": {"$numberInt": "250"}}}`)
		p.expectEqual("all of the donor's part", len(p.chunkLines("db.r")), 4)
	})
}

func TestMergeAllMergesChunksOlderThanTheSnapshotWindow(t *testing.T) {
	for _, v := range [][3]int{v70, v80} {
		onVersion(t, v, func(p *fixture) {
			for i := 50; i < 400; i += 50 {
				p.mustRun(fmt.Sprintf(`{"split": "db.r", "middle": {"p": {"$numberInt": "%d"}}}`, i))
			}
			p.c.Mu.Lock()
			p.c.MarkJumbo("db.r", p.c.Routing("db.r").chunks[5].Min)
			since := p.c.Routing("db.r").chunks[0].History[0].ValidAfter
			ids := p.c.Routing("db.r").chunks[0].ID
			p.c.Mu.Unlock()
			p.mustRun(`{"mergeAllChunksOnShard": "db.r", "shard": "shard-rs-1"}`)
			p.expectEqual("chunks at once", len(p.chunkLines("db.r")), 8)
			time.Sleep(6 * time.Minute)
			p.mustRun(`{"mergeAllChunksOnShard": "db.r", "shard": "shard-rs-1"}`)
			p.expectEqual("chunks later", p.chunkLines("db.r"), []string{"{ p: MinKey } 1 1|15", "{ p: 250 } 1 1|11", "{ p: 300 } 1 1|16"})
			ch := p.c.Routing("db.r").Chunks()[0]
			if ch.ID == ids || ch.History[0].ValidAfter != since {
				t.Errorf("merged chunk %+v, want ID not %v, History[0].ValidAfter %v", ch, ids, since)
			}
			log := p.changelogDetails(map[bool]string{true: "autoMerge", false: "merge"}[v == v80])
			if len(log) != 2 || log[0].Lookup("numChunks").Int32() != 5 || log[0].Lookup("mergedVersion", "v").Type != bson.TypeTimestamp {
				t.Errorf("log %v", log)
			}
			p.expectError(`{"mergeAllChunksOnShard": "db.r", "shard": "nobody"}`, 70, "Shard nobody not found")
		})
	}
}
