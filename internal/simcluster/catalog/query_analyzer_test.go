package catalog

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/query"
)

func TestSampledQueriesShowWhereTheyWouldGoUnderAKey(t *testing.T) {
	onVersion(t, v70, func(p *fixture) {
		sample := func(command, filter, changes string, many bool) {
			f, err := query.Parse(doc(t, filter), nil)
			must.Do(t, err)
			p.c.SampleQuery("db.r", SampledQuery{Command: command, Filter: f, Changes: changes, Many: many})
		}
		sample("find", `{"p": 7}`, "", false) // nobody samples yet
		p.mustRun(`{"configureQueryAnalyzer": "db.r", "mode": "full", "samplesPerSecond": 2}`)
		for range 3 { // two are as many as the rate allows at once
			sample("find", `{"p": 7}`, "", false)
		}
		time.Sleep(10 * time.Second)
		sample("aggregate", `{"p": {"$gte": 100, "$lt": 120}}`, "", false)
		sample("count", `{"other": 1}`, "", false)
		time.Sleep(10 * time.Second)
		sample("update", `{"p": 3}`, ",p,", false)
		sample("delete", `{"other": 1}`, "", true)
		d := encode(p.mustRun(`{"analyzeShardKey": "db.r", "key": {"p": {"$numberInt": "1"}}, "keyCharacteristics": false}`))
		reads, writes := d.Lookup("readDistribution").Document(), d.Lookup("writeDistribution").Document()
		ranges, _ := reads.Lookup("numReadsByRange").Array().Values()
		got := fmt.Sprint(reads.Lookup("sampleSize", "total").Int64(), reads.Lookup("percentageOfSingleShardReads").Double(),
			reads.Lookup("percentageOfMultiShardReads").Double(), reads.Lookup("percentageOfScatterGatherReads").Double(), len(ranges), " ",
			writes.Lookup("percentageOfSingleShardWrites").Double(), writes.Lookup("percentageOfScatterGatherWrites").Double(),
			writes.Lookup("percentageOfShardKeyUpdates").Double(), writes.Lookup("percentageOfSingleWritesWithoutShardKey").Double(),
			writes.Lookup("percentageOfMultiWritesWithoutShardKey").Double())
		p.expectEqual("distribution", got, "4 50 25 25 41 50 50 50 0 50")
		p.expectError(`{"configureQueryAnalyzer": "db.r", "mode": "full"}`, 72, `'samplesPerSecond' must be specified when 'mode' is not "off"`)
		off := encode(p.mustRun(`{"configureQueryAnalyzer": "db.r", "mode": "off"}`))
		p.expectEqual("old rate", off.Lookup("oldConfiguration", "samplesPerSecond").Double(), 2.0)
		row := p.configRows("queryAnalyzers", nil)[0]
		if row.Lookup("mode").StringValue() != "off" || row.Lookup("stopTime").Type != bson.TypeDateTime {
			t.Errorf("config.queryAnalyzers: %s", row)
		}
	})
}

// Ten documents are read for each chunk, and the last of ten is a bound.
func TestPointsOfASampleAreEveryTenthKey(t *testing.T) {
	var keys []bson.Raw
	for i := range int32(45) {
		keys = append(keys, encode(bson.D{{Key: "p", Value: i / 2}}))
	}
	for chunks, want := range map[int64]string{3: "[6 14]", 5: "[4 9 14 19]", 9: "[4 9 14 19 22]"} {
		var got []int32
		for _, k := range sampledPoints(keys, chunks) {
			got = append(got, k.Lookup("p").Int32())
		}
		expect.Equal(t, fmt.Sprint(got), want, "%d chunks: %v", chunks, got)
	}
	expect.That(t, tooFewValues(9, sampledPoints(keys, 9)) != nil, "45 documents make no 9 chunks")
}

func TestUntrackingNeedsThePrimaryShard(t *testing.T) {
	onVersion(t, v80, func(p *fixture) {
		p.insertDocuments("u", 10)
		p.mustRun(`{"untrackUnshardedCollection": "db.u"}`) // nothing to do
		p.mustRun(`{"moveCollection": "db.u", "toShard": "shard-rs-3"}`)
		p.expectError(`{"untrackUnshardedCollection": "db.u"}`, 96, "In order to untrack the collection it must be located in the primary db")
		p.expectError(`{"untrackUnshardedCollection": "db.r"}`, 73, "Collection db.r must not be sharded")
		p.mustRun(`{"moveCollection": "db.u", "toShard": "shard-rs-1"}`)
		p.mustRun(`{"untrackUnshardedCollection": "db.u"}`)
		p.c.Mu.RLock()
		defer p.c.Mu.RUnlock()
		if len(p.c.Tracked()) != 0 || p.c.data("shard-rs-1", "db.u").Len() != 10 {
			t.Errorf("tracked %v", p.c.Tracked())
		}
	})
}
