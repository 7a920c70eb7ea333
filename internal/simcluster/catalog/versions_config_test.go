package catalog

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestBalancingOfOneCollectionIsConfigured(t *testing.T) {
	onVersion(t, v60, func(p *replayer) {
		p.want("status", encode(p.must(`{"balancerCollectionStatus": "db.r"}`)).String(),
			`{"chunkSize": {"$numberLong":"128"},"balancerCompliant": true}`)
		p.must(`{"configureCollectionBalancing": "db.r", "chunkSize": 5, "defragmentCollection": true}`)
		row := p.rows("collections", nil)[0]
		if row.Lookup("maxChunkSizeBytes").Int64() != 5<<20 || row.Lookup("defragmentationPhase").StringValue() != "mergeAndMeasureChunks" {
			t.Errorf("row %s", row)
		}
		status := encode(p.must(`{"balancerCollectionStatus": "db.r"}`))
		if status.Lookup("firstComplianceViolation").StringValue() != "defragmentingChunks" ||
			status.Lookup("chunkSize").Int64() != 5 || status.Lookup("details", "currentPhase").StringValue() != "mergeAndMeasureChunks" {
			t.Errorf("status %s", status)
		}
		p.fails(`{"configureCollectionBalancing": "db.r", "enableAutoMerger": true}`, 40415,
			"BSON field 'ConfigureCollectionBalancing.enableAutoMerger' is an unknown field.")
	})
	onVersion(t, v80, func(p *replayer) {
		p.must(`{"configureCollectionBalancing": "db.r", "enableAutoMerger": false, "enableBalancing": false, "chunkSize": 0}`)
		row := p.rows("collections", nil)[0]
		if row.Lookup("enableAutoMerge").Boolean() || !row.Lookup("noBalance").Boolean() || row.Lookup("maxChunkSizeBytes").Type != 0 {
			t.Errorf("row %s", row)
		}
		if got := encode(p.must(`{"balancerStatus": 1}`)); got.Lookup("term").Int64() != 1 {
			t.Errorf("status %s", got)
		}
	})
}

func TestDefragmentationMergesUpToTheChunkSize(t *testing.T) {
	onVersion(t, v60, func(p *replayer) {
		for i := 20; i < 400; i += 20 {
			p.must(fmt.Sprintf(`{"split": "db.r", "middle": {"p": {"$numberInt": "%d"}}}`, i))
		}
		p.must(`{"configureCollectionBalancing": "db.r", "chunkSize": 1, "defragmentCollection": true}`)
		for range 3 {
			p.c.Mu.Lock()
			p.c.Defragment()
			p.c.Mu.Unlock()
		}
		p.want("chunks of at most 1 MB", len(p.table("db.r")), 2)
		if row := p.rows("collections", nil)[0]; row.Lookup("defragmentCollection").Type != 0 {
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
		p.must(`{"split": "db.r", "middle": {"p": {"$numberInt": "100"}}}`)
		p.must(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "100"}}, "to": "shard-rs-2"}`)
		p.want("sound", len(check()), 0)
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
		p.want("findings", check(), []string{"RoutingTableMissingMaxKey", "InconsistentIndex", "MisplacedCollection"})
		p.c.Mu.Lock()
		p.c.addChunk(p.c.Routing("db.r"), gap)
		p.c.Mu.Unlock()
	})
}

func TestAnalyzeShardKeyCountsTheDocuments(t *testing.T) {
	onVersion(t, v70, func(p *replayer) {
		d := encode(p.must(`{"analyzeShardKey": "db.r", "key": {"p": {"$numberInt": "1"}}}`))
		k := d.Lookup("keyCharacteristics").Document()
		if k.Lookup("numDocsTotal").Int64() != 400 || k.Lookup("numDistinctValues").Int64() != 400 || k.Lookup("isUnique").Boolean() ||
			k.Lookup("monotonicity", "type").StringValue() != "monotonic" ||
			k.Lookup("monotonicity", "recordIdCorrelationCoefficient").Double() < 0.99 {
			t.Errorf("got %s", k)
		}
		if d.Lookup("readDistribution", "sampleSize", "total").Int64() != 0 {
			t.Errorf("got %s", d)
		}
		d = encode(p.must(`{"analyzeShardKey": "db.r", "key": {"_id": {"$numberInt": "1"}}, "readWriteDistribution": false}`))
		if !d.Lookup("keyCharacteristics", "isUnique").Boolean() || d.Lookup("readDistribution").Type != 0 {
			t.Errorf("got %s", d)
		}
		d = encode(p.must(`{"analyzeShardKey": "db.r", "key": {"pad": {"$numberInt": "1"}}}`))
		if d.Lookup("keyCharacteristics").Type != 0 {
			t.Errorf("no index supports this key: %s", d)
		}
		p.fails(`{"analyzeShardKey": "db.none", "key": {"p": 1}}`, 26, "The namespace does not exist")
	})
}

func TestShardsAreNamedByUUIDWhereAskedFor(t *testing.T) {
	c := New(Options{Version: v80, Seed: 2, Still: true, ConfigShard: true, ShardUUIDs: true})
	defer c.Close()
	p := &replayer{t: t, c: c, handlers: c.Handlers()}
	p.must(`{"enableSharding": "db", "primaryShard": "shard-rs-1"}`)
	p.must(`{"shardCollection": "db.h", "key": {"k": "hashed"}}`)
	p.want("config is a shard", c.Routing("db.h").ShardsOwning(), []string{"config", "shard-rs-1", "shard-rs-2", "shard-rs-3"})
	uuids := make(map[string]string)
	for _, d := range p.rows("shards", nil) {
		uuids[d.Lookup("uuid").String()] = d.Lookup("_id").StringValue()
	}
	if len(uuids) != 4 {
		t.Fatalf("uuids %v", uuids)
	}
	for _, d := range p.rows("chunks", nil) {
		if uuids[d.Lookup("shard").String()] == "" || uuids[d.Lookup("history", "0", "shard").String()] == "" {
			t.Errorf("chunk %s", d)
		}
	}
	c.Mu.Lock()
	before := c.Routing("db.h").Chunks()
	c.ConfigWritten("chunks")
	c.ConfigWritten("databases")
	p.want("read back", fmt.Sprint(len(before), c.Routing("db.h").chunks[0].Shard, c.dbs["db"].primary),
		fmt.Sprint(4, before[0].Shard, "shard-rs-1"))
	c.Mu.Unlock()
	p.checkInvariants()
	p.must(`{"transitionToDedicatedConfigServer": 1}`)
	if d := encode(p.must(`{"transitionToDedicatedConfigServer": 1}`)); d.Lookup("remaining", "chunks").Int64() != 1 {
		t.Errorf("got %s", d)
	}
}

func TestDrainingA80ShardNamesTheCollectionsToMove(t *testing.T) {
	onVersion(t, v80, func(p *replayer) {
		p.load("u", 10)
		p.must(`{"moveCollection": "db.u", "toShard": "shard-rs-3"}`)
		d := encode(p.must(`{"removeShard": "shard-rs-3"}`))
		p.want("to move", d.Lookup("collectionsToMove").String(), `["db.u"]`)
		d = encode(p.must(`{"removeShard": "shard-rs-3"}`))
		p.want("state", d.Lookup("state").StringValue(), "ongoing")
		p.must(`{"moveCollection": "db.u", "toShard": "shard-rs-2"}`)
		time.Sleep(time.Hour)
		d = encode(p.must(`{"removeShard": "shard-rs-3"}`))
		p.want("state", d.Lookup("state").StringValue(), "completed")
	})
}

func TestForbiddenMigrationsShowInEveryVersion(t *testing.T) {
	for _, v := range allVersions[1:] {
		onVersion(t, v, func(p *replayer) {
			before := p.c.Routing("db.r").Version()
			p.must(`{"setAllowMigrations": "db.r", "allowMigrations": false}`)
			row := p.rows("collections", nil)[0]
			name := "permitMigrations"
			if v[0] >= 6 {
				name = "allowMigrations"
			}
			if f := row.Lookup(name); f.Type != bson.TypeBoolean || f.Boolean() {
				t.Errorf("%v: row %s", v, row)
			}
			p.want(fmt.Sprint("version bumped ", v), p.c.Routing("db.r").Version() != before, v[0] >= 6)
			p.c.Mu.Lock()
			p.c.ConfigWritten("collections") // as after sh.disableBalancing
			p.c.Mu.Unlock()
			p.fails(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "5"}}, "to": "shard-rs-2"}`, 117,
				"Collection is undergoing changes and chunks cannot be moved")
			p.must(`{"setAllowMigrations": "db.r", "allowMigrations": true}`)
			p.must(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "5"}}, "to": "shard-rs-2"}`)
		})
	}
}
