package catalog

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// duringResharding runs scene while db.t is resharded from {k: "hashed"} to {p: 1}.
func duringResharding(t *testing.T, scene func(p *replayer, result <-chan error)) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Seed: 4})
		defer c.Close()
		p := &replayer{t: t, c: c, handlers: c.Handlers()}
		p.mustRun(`{"enableSharding": "db"}`)
		p.mustRun(`{"shardCollection": "db.t", "key": {"k": "hashed"}}`)
		c.Mu.Lock()
		for i := range 300 {
			if err := p.insertRouted("db", "t", encode(bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: int32(i % 40)},
				{Key: "k", Value: int32(i)}})); err != nil {
				t.Fatal(err)
			}
		}
		c.Mu.Unlock()
		result := make(chan error, 1)
		go func() {
			_, err, _ := p.run("admin", doc(t, `{"reshardCollection": "db.t", "key": {"p": 1}, "numInitialChunks": 6}`))
			result <- err
		}()
		time.Sleep(time.Minute)
		scene(p, result)
		p.checkInvariants()
		if n := p.documents("db.t"); n != 300 {
			t.Errorf("%d documents, want 300", n)
		}
	})
}

func TestReshardingTakesTimeAndCreatesANewCollection(t *testing.T) {
	duringResharding(t, func(p *replayer, result <-chan error) {
		p.c.Mu.RLock()
		before := p.c.Routing("db.t").UUID
		now, ok := p.c.Resharding()
		p.c.Mu.RUnlock()
		if !ok || now.State != "cloning" || now.NS != "db.t" {
			p.t.Fatalf("after a minute: %+v", now)
		}
		start := time.Now()
		if err := <-result; err != nil {
			p.t.Fatal(err)
		}
		if took := time.Since(start); took < 4*time.Minute || took > 5*time.Minute {
			p.t.Errorf("took %v more, want %v to %v", took, 4*time.Minute, 5*time.Minute)
		}
		p.c.Mu.RLock()
		defer p.c.Mu.RUnlock()
		r := p.c.Routing("db.t")
		if r.UUID == before || r.UUID != now.UUID || r.Len() != 6 || text(r.Key) != "{ p: 1 }" {
			p.t.Errorf("got %+v", r)
		}
	})
}

func TestMigrationsAreForbiddenWhileResharding(t *testing.T) {
	duringResharding(t, func(p *replayer, result <-chan error) {
		p.expectError(`{"moveChunk": "db.t", "bounds": [{"k": {"$minKey": 1}}, {"k": {"$numberLong": "-6148914691236517204"}}], "to": "shard-rs-3"}`, 117,
			"Collection is undergoing changes so moveChunk is not allowed.")
		p.expectError(`{"reshardCollection": "db.t", "key": {"q": 1}}`, 338, "Only one resharding operation is allowed to be active at a time")
		p.mustRun(`{"reshardCollection": "db.t", "key": {"p": 1}}`)
		if err := <-result; err != nil {
			p.t.Error(err)
		}
	})
}

func TestAbortedReshardingChangesNothing(t *testing.T) {
	duringResharding(t, func(p *replayer, result <-chan error) {
		p.mustRun(`{"abortReshardCollection": "db.t"}`)
		if e := status.Of(<-result); e == nil || e.Code != status.ReshardCollectionAborted {
			p.t.Fatalf("got %v, want not nil, Code %v", e, status.ReshardCollectionAborted)
		}
		p.c.Mu.RLock()
		defer p.c.Mu.RUnlock()
		if r := p.c.Routing("db.t"); text(r.Key) != `{ k: "hashed" }` || !r.Balanced() || len(p.c.Namespaces()) != 1 {
			p.t.Errorf("got %+v", r)
		}
	})
}
