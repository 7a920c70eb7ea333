package catalog

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// configRows lists the documents of a config collection that the filter accepts.
func (p *fixture) configRows(coll string, filter func(bson.Raw) bool) (list []bson.Raw) {
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	for _, d := range p.c.Config.Coll("config", coll).All() {
		if filter == nil || filter(d) {
			list = append(list, d)
		}
	}
	return list
}

func (c *Cluster) drop(ns string) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.DropCollection(ns)
}

func TestPlacementHistoryHasARowForEachSetOfShards(t *testing.T) {
	onVersion(t, v70, func(p *fixture) {
		p.mustRun(`{"split": "db.r", "middle": {"p": {"$numberInt": "100"}}}`)
		p.mustRun(`{"split": "db.r", "middle": {"p": {"$numberInt": "200"}}}`)
		p.mustRun(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "100"}}, "to": "shard-rs-2"}`)
		p.mustRun(`{"moveChunk": "db.r", "find": {"p": {"$numberInt": "200"}}, "to": "shard-rs-2"}`) // the set stays
		p.c.drop("db.r")
		var got []string
		for _, d := range p.configRows("placementHistory", nil) {
			got = append(got, d.Lookup("nss").StringValue()+d.Lookup("shards").String())
		}
		p.expectEqual("rows", got, []string{`db["shard-rs-1"]`, `db.r["shard-rs-1"]`, `db.r["shard-rs-1","shard-rs-2"]`, `db.r[]`})
	})
}

func TestReshardingCopiesInStepsAndFollowsWrites(t *testing.T) {
	onVersion(t, v50, func(p *fixture) {
		done := make(chan error, 1)
		go func() {
			_, err := p.run("admin", doc(t, `{"reshardCollection": "db.r", "key": {"_id": "hashed"}, "numInitialChunks": 6}`))
			done <- err
		}()
		copied := func() (n int64) {
			p.c.Mu.RLock()
			defer p.c.Mu.RUnlock()
			r, _ := p.c.Resharding()
			for _, s := range r.Progress {
				n += s.Docs
			}
			return n
		}
		time.Sleep(30 * time.Second)
		p.expectEqual("half of the documents", copied(), 200)
		p.c.Mu.Lock()
		at := p.c.data("shard-rs-1", "db.r")
		ids := map[int32]engine.RecordID{}
		for id, doc := range at.All() {
			ids[doc.Lookup("_id").Int32()] = id
		}
		at.Delete(ids[7])
		_ = at.Update(ids[8], encode(bson.D{{Key: "_id", Value: int32(8)}, {Key: "p", Value: int32(8)}, {Key: "new", Value: true}}))
		_ = p.insertRouted("db", "r", encode(bson.D{{Key: "_id", Value: int32(1000)}, {Key: "p", Value: int32(1000)}}))
		p.c.Mu.Unlock()
		time.Sleep(100 * time.Second)
		p.expectEqual("all", copied(), 400)
		p.mustRun(`{"commitReshardCollection": "db.r"}`)
		must.Do(t, <-done)
		p.expectEqual("documents", p.documents("db.r"), 400)
		updated := 0
		for _, s := range p.c.ShardNames() {
			if c := p.c.data(s, "db.r"); c != nil {
				for _, d := range c.All() {
					if d.Lookup("new").Type != 0 {
						updated++
					}
				}
			}
		}
		p.expectEqual("updated", updated, 1)
		p.expectError(`{"commitReshardCollection": "db.r"}`, 339, "Could not find resharding-related metadata that matches the given namespace")
	})
}

func TestAbortedReshardingLeavesNoCopies(t *testing.T) {
	onVersion(t, v60, func(p *fixture) {
		done := make(chan error, 1)
		go func() {
			_, err := p.run("admin", doc(t, `{"reshardCollection": "db.r", "key": {"_id": "hashed"}}`))
			done <- err
		}()
		time.Sleep(80 * time.Second)
		p.mustRun(`{"abortReshardCollection": "db.r"}`)
		if e := status.Of(<-done); e == nil || e.Code != status.ReshardCollectionAborted {
			t.Fatalf("got %v, want not nil, Code %v", e, status.ReshardCollectionAborted)
		}
		for _, s := range p.c.ShardNames() {
			for _, coll := range p.c.Shards[s].Colls("db") {
				expect.Equal(t, coll.Name, "r", "left on %s", s)
			}
		}
	})
}

func TestReshardingToTheSameKeyNeedsForce(t *testing.T) {
	for _, v := range [][3]int{v70, v80} {
		onVersion(t, v, func(p *fixture) {
			before := p.c.Routing("db.r").UUID
			p.mustRun(`{"reshardCollection": "db.r", "key": {"p": {"$numberInt": "1"}}}`)
			p.expectEqual("no-op", p.c.Routing("db.r").UUID == before, true)
			p.mustRun(`{"reshardCollection": "db.r", "key": {"p": {"$numberInt": "1"}}, "forceRedistribution": true, "numInitialChunks": 6}`)
			p.expectEqual(fmt.Sprint("redistributed ", v), len(p.c.Routing("db.r").ShardsOwning()) == 3, v == v80)
		})
	}
}
