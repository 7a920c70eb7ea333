package catalog

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestBalancingOfOneCollectionIsConfigured(t *testing.T) {
	onVersion(t, v60, func(p *replayer) {
		p.expectEqual("status", encode(p.mustRun(`{"balancerCollectionStatus": "db.r"}`)).String(),
			`{"chunkSize": {"$numberLong":"128"},"balancerCompliant": true}`)
		p.mustRun(`{"configureCollectionBalancing": "db.r", "chunkSize": 5, "defragmentCollection": true}`)
		row := p.configRows("collections", nil)[0]
		if row.Lookup("maxChunkSizeBytes").Int64() != 5<<20 || row.Lookup("defragmentationPhase").StringValue() != "mergeAndMeasureChunks" {
			t.Errorf("row %s", row)
		}
		status := encode(p.mustRun(`{"balancerCollectionStatus": "db.r"}`))
		if status.Lookup("firstComplianceViolation").StringValue() != "defragmentingChunks" ||
			status.Lookup("chunkSize").Int64() != 5 || status.Lookup("details", "currentPhase").StringValue() != "mergeAndMeasureChunks" {
			t.Errorf("status %s", status)
		}
		p.expectError(`{"configureCollectionBalancing": "db.r", "enableAutoMerger": true}`, 40415,
			"BSON field 'ConfigureCollectionBalancing.enableAutoMerger' is an unknown field.")
	})
	onVersion(t, v80, func(p *replayer) {
		p.mustRun(`{"configureCollectionBalancing": "db.r", "enableAutoMerger": false, "enableBalancing": false, "chunkSize": 0}`)
		row := p.configRows("collections", nil)[0]
		if row.Lookup("enableAutoMerge").Boolean() || !row.Lookup("noBalance").Boolean() || row.Lookup("maxChunkSizeBytes").Type != 0 {
			t.Errorf("row %s", row)
		}
		if got := encode(p.mustRun(`{"balancerStatus": 1}`)); got.Lookup("term").Int64() != 1 {
			t.Errorf("status %s", got)
		}
	})
}

func TestDefragmentationMergesUpToTheChunkSize(t *testing.T) {
	onVersion(t, v60, func(p *replayer) {
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
	onVersion(t, v70, func(p *replayer) {
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
			EnsureIndex(bson.D{{Key: "key", Value: bson.D{{Key: "x", Value: int32(1)}}}, {Key: "name", Value: "x_1"}})
		p.c.Shards["shard-rs-3"].Create("db", "stray", p.c.UUID(), nil)
		gap := p.c.Routing("db.r").chunks[1]
		p.c.config.delete("chunks", gap.record)
		p.c.Mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		p.expectEqual("findings", check(), []string{"RoutingTableMissingMaxKey", "InconsistentIndex", "MisplacedCollection"})
		p.c.Mu.Lock()
		p.c.addChunk(p.c.Routing("db.r"), gap)
		p.c.Mu.Unlock()
	})
}

func TestAnalyzeShardKeyCountsTheDocuments(t *testing.T) {
	onVersion(t, v70, func(p *replayer) {
		d := encode(p.mustRun(`{"analyzeShardKey": "db.r", "key": {"p": {"$numberInt": "1"}}}`))
		k := d.Lookup("keyCharacteristics").Document()
		if k.Lookup("numDocsTotal").Int64() != 400 || k.Lookup("numDistinctValues").Int64() != 400 || k.Lookup("isUnique").Boolean() ||
			k.Lookup("monotonicity", "type").StringValue() != "monotonic" ||
			k.Lookup("monotonicity", "recordIdCorrelationCoefficient").Double() < 0.99 {
			t.Errorf("got %s", k)
		}
		if d.Lookup("readDistribution", "sampleSize", "total").Int64() != 0 {
			t.Errorf("got %s", d)
		}
		d = encode(p.mustRun(`{"analyzeShardKey": "db.r", "key": {"_id": {"$numberInt": "1"}}, "readWriteDistribution": false}`))
		if !d.Lookup("keyCharacteristics", "isUnique").Boolean() || d.Lookup("readDistribution").Type != 0 {
			t.Errorf("got %s", d)
		}
		d = encode(p.mustRun(`{"analyzeShardKey": "db.r", "key": {"pad": {"$numberInt": "1"}}}`))
		if d.Lookup("keyCharacteristics").Type != 0 {
			t.Errorf("no index supports this key: %s", d)
		}
		p.expectError(`{"analyzeShardKey": "db.none", "key": {"p": 1}}`, 26, "The namespace does not exist")
	})
}

func TestShardsAreNamedByUUIDIfConfigured(t *testing.T) {
	c := New(Options{Version: v80, Seed: 2, Still: true, ConfigShard: true, ShardUUIDs: true})
	defer c.Close()
	p := &replayer{t: t, c: c, handlers: c.Handlers()}
	p.mustRun(`{"enableSharding": "db", "primaryShard": "shard-rs-1"}`)
	p.mustRun(`{"shardCollection": "db.h", "key": {"k": "hashed"}}`)
	p.expectEqual("config is a shard", c.Routing("db.h").ShardsOwning(), []string{"config", "shard-rs-1", "shard-rs-2", "shard-rs-3"})
	uuids := make(map[string]string)
	for _, d := range p.configRows("shards", nil) {
		uuids[d.Lookup("uuid").String()] = d.Lookup("_id").StringValue()
	}
	if len(uuids) != 4 {
		t.Fatalf("uuids %v, want len 4", uuids)
	}
	for _, d := range p.configRows("chunks", nil) {
		if uuids[d.Lookup("shard").String()] == "" || uuids[d.Lookup("history", "0", "shard").String()] == "" {
			t.Errorf("chunk %s", d)
		}
	}
	c.Mu.Lock()
	before := c.Routing("db.h").Chunks()
	c.ConfigWritten("chunks")
	c.ConfigWritten("databases")
	p.expectEqual("read back", fmt.Sprint(len(before), c.Routing("db.h").chunks[0].Shard, c.dbs["db"].primary),
		fmt.Sprint(4, before[0].Shard, "shard-rs-1"))
	c.Mu.Unlock()
	p.checkInvariants()
	p.mustRun(`{"transitionToDedicatedConfigServer": 1}`)
	if d := encode(p.mustRun(`{"transitionToDedicatedConfigServer": 1}`)); d.Lookup("remaining", "chunks").Int64() != 1 {
		t.Errorf("got %s", d)
	}
}

func TestDrainingAShardOf80NamesTheCollectionsToMove(t *testing.T) {
	onVersion(t, v80, func(p *replayer) {
		p.insertDocuments("u", 10)
		p.mustRun(`{"moveCollection": "db.u", "toShard": "shard-rs-3"}`)
		d := encode(p.mustRun(`{"removeShard": "shard-rs-3"}`))
		p.expectEqual("to move", d.Lookup("collectionsToMove").String(), `["db.u"]`)
		d = encode(p.mustRun(`{"removeShard": "shard-rs-3"}`))
		p.expectEqual("state", d.Lookup("state").StringValue(), "ongoing")
		p.mustRun(`{"moveCollection": "db.u", "toShard": "shard-rs-2"}`)
		time.Sleep(time.Hour)
		d = encode(p.mustRun(`{"removeShard": "shard-rs-3"}`))
		p.expectEqual("state", d.Lookup("state").StringValue(), "completed")
	})
}

func TestForbiddenMigrationsShowInEveryVersion(t *testing.T) {
	for _, v := range allVersions[1:] {
		onVersion(t, v, func(p *replayer) {
			before := p.c.Routing("db.r").Version()
			p.mustRun(`{"setAllowMigrations": "db.r", "allowMigrations": false}`)
			row := p.configRows("collections", nil)[0]
			name := "permitMigrations"
			if v[0] >= 6 {
				name = "allowMigrations"
			}
			if f := row.Lookup(name); f.Type != bson.TypeBoolean || f.Boolean() {
				t.Errorf("%v: row %s", v, row)
			}
			p.expectEqual(fmt.Sprint("version bumped ", v), p.c.Routing("db.r").Version() != before, v[0] >= 6)
			p.c.Mu.Lock()
			p.c.ConfigWritten("collections") // as after sh.disableBalancing
			p.c.Mu.Unlock()
			p.expectError(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "5"}}, "to": "shard-rs-2"}`, 117,
				"Collection is undergoing changes and chunks cannot be moved")
			p.mustRun(`{"setAllowMigrations": "db.r", "allowMigrations": true}`)
			p.mustRun(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "5"}}, "to": "shard-rs-2"}`)
		})
	}
}
