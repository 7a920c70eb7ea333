package catalog

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestDefragmentationMergesUpToTheChunkSize(t *testing.T) {
	onVersion(t, v60, func(p *fixture) {
		for i := 20; i < 400; i += 20 {
			p.mustRun(fmt.Sprintf(`{"split": "db.r", "middle": {"p": {"$numberInt": "%d"}}}`, i))
		}
		p.mustRun(`{"configureCollectionBalancing": "db.r", "chunkSize": 1, "defragmentCollection": true}`)
		for range 3 {
			p.c.Mu.Lock()
			p.c.Defragment()
			p.c.Mu.Unlock()
		}
		p.expectEqual("chunks of at most 1 MB", len(p.chunkLines("db.r")), 2)
		if row := p.configRows("collections", nil)[0]; row.Lookup("defragmentCollection").Type != 0 {
			t.Errorf("still defragmenting: %s", row)
		}
	})
}

func TestMetadataIsCheckedAgainstTheShards(t *testing.T) {
	onVersion(t, v70, func(p *fixture) {
		check := func() (kinds []string) {
			p.c.Mu.RLock()
			defer p.c.Mu.RUnlock()
			for _, found := range p.c.CheckMetadata("", "", true) {
				kinds = append(kinds, found.Type)
			}
			return kinds
		}
		p.mustRun(`{"split": "db.r", "middle": {"p": {"$numberInt": "100"}}}`)
		p.mustRun(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "100"}}, "to": "shard-rs-2"}`)
		p.expectEqual("sound", len(check()), 0)
		p.c.Mu.Lock()
		_, err := p.c.data("shard-rs-2", "db.r").
			EnsureIndex(doc(t, `{"key": {"x": 1}}`))
		p.c.Shards["shard-rs-3"].Create("db", "stray", p.c.UUID(), nil)
		gap := p.c.Routing("db.r").chunks[1]
		p.c.config.delete("chunks", gap.record)
		p.c.Mu.Unlock()
		must.Do(t, err)
		p.expectEqual("findings", check(), []string{"RoutingTableMissingMaxKey", "InconsistentIndex", "MisplacedCollection"})
		p.c.Mu.Lock()
		p.c.addChunk(p.c.Routing("db.r"), gap)
		p.c.Mu.Unlock()
	})
}

func TestAnalyzeShardKeyCountsTheDocuments(t *testing.T) {
	onVersion(t, v70, func(p *fixture) {
		d := encode(p.mustRun(`{"analyzeShardKey": "db.r", "key": {"p": {"$numberInt": "1"}}}`))
		k := d.Lookup("keyCharacteristics").Document()
		if k.Lookup("numDocsTotal").Int64() != 400 || k.Lookup("numDistinctValues").Int64() != 400 || k.Lookup("isUnique").Boolean() ||
			k.Lookup("monotonicity", "type").StringValue() != "monotonic" ||
			k.Lookup("monotonicity", "recordIdCorrelationCoefficient").Double() < 0.99 {
			t.Errorf("got %s", k)
		}
		expect.Equal(t, d.Lookup("readDistribution", "sampleSize", "total").Int64(), 0, "got %s", d)
		d = encode(p.mustRun(`{"analyzeShardKey": "db.r", "key": {"_id": {"$numberInt": "1"}}, "readWriteDistribution": false}`))
		if !d.Lookup("keyCharacteristics", "isUnique").Boolean() || d.Lookup("readDistribution").Type != 0 {
			t.Errorf("got %s", d)
		}
		d = encode(p.mustRun(`{"analyzeShardKey": "db.r", "key": {"pad": {"$numberInt": "1"}}}`))
		expect.Equal(t, d.Lookup("keyCharacteristics").Type, 0, "no index supports this key: %s", d)
		p.expectError(`{"analyzeShardKey": "db.none", "key": {"p": 1}}`, 26, "The namespace does not exist")
	})
}

func TestDrainingAShardNamesWhatToMove(t *testing.T) {
	onVersion(t, v80, func(p *fixture) {
		p.insertDocuments("u", 10)
		p.mustRun(`{"moveCollection": "db.u", "toShard": "shard-rs-3"}`)
		if d := encode(p.mustRun(`{"removeShard": "shard-rs-3"}`)); d.Lookup("collectionsToMove").Type != 0 {
			t.Errorf("8.0 does not name the collections: %s", d)
		}
		p.mustRun(`{"moveCollection": "db.u", "toShard": "shard-rs-2"}`)
		time.Sleep(time.Hour)
		p.expectEqual("state", encode(p.mustRun(`{"removeShard": "shard-rs-3"}`)).Lookup("state").StringValue(), "completed")
	})
	c := New(Options{Version: v80, Seed: 2, Still: true, ConfigShard: true, ShardUUIDs: true})
	defer c.Close()
	p := &fixture{t: t, c: c, handlers: c.Handlers()}
	p.mustRun(`{"enableSharding": "db", "primaryShard": "shard-rs-1"}`)
	p.mustRun(`{"shardCollection": "db.h", "key": {"k": "hashed"}}`)
	p.mustRun(`{"transitionToDedicatedConfigServer": 1}`)
	if d := encode(p.mustRun(`{"transitionToDedicatedConfigServer": 1}`)); d.Lookup("remaining", "chunks").Int64() != 1 {
		t.Errorf("got %s", d)
	}
	r := p.c.Routing("db.h")
	for _, k := range r.chunks {
		if k.Shard == configServer {
			p.mustRun(fmt.Sprintf(`{"moveChunk": "db.h", "bounds": [%s, %s], "to": "shard-rs-1"}`, k.Min, k.Max))
			break
		}
	}
	for _, state := range []string{"pendingDataCleanup", "completed"} {
		if d := encode(p.mustRun(`{"transitionToDedicatedConfigServer": 1}`)); d.Lookup("state").StringValue() != state {
			t.Errorf("got %s, want %s", d, state)
		}
		p.c.Mu.Lock()
		p.c.orphans = nil
		p.c.Mu.Unlock()
	}
}
