package catalog

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
)

// raceFixture is the cluster of the recorded races: two collections split at 1000 and
// 2000, the middle chunk of a on shard-rs-2, everything else on shard-rs-1; a move
// takes 10 s.
func raceFixture(t *testing.T) *fixture {
	c := New(Options{Seed: 5, Hostname: "vm", Pace: 20, Migration: 5 * time.Second})
	p := &fixture{t: t, c: c, handlers: c.Handlers()}
	p.mustRun(`{"enableSharding": "faulty", "primaryShard": "shard-rs-1"}`)
	for _, coll := range []string{"a", "b"} {
		p.mustRun(`{"shardCollection": "faulty.` + coll + `", "key": {"p": {"$numberInt": "1"}}}`)
		p.mustRun(`{"split": "faulty.` + coll + `", "middle": {"p": {"$numberInt": "1000"}}}`)
		p.mustRun(`{"split": "faulty.` + coll + `", "middle": {"p": {"$numberInt": "2000"}}}`)
		for i := range 30 {
			p.c.Mu.Lock()
			if err := p.insertRouted("faulty", coll, encode(bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: int32(i * 100)}})); err != nil {
				t.Fatal(err)
			}
			p.c.Mu.Unlock()
		}
	}
	p.mustRun(`{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "1000"}}, "to": "shard-rs-2", "_waitForDelete": true}`)
	return p
}

func (p *fixture) expectError(cmd string, code int32, message string) {
	p.t.Helper()
	_, err := p.run("admin", doc(p.t, cmd))
	if e := status.Of(err); e == nil || e.Code != code || e.Message != message {
		p.t.Errorf("%s\n got  %v\n want %d %s", cmd, err, code, message)
	}
}

func (p *fixture) changelogCount(what string) (n int) {
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	for _, d := range p.c.Config.Coll("config", "changelog").All() {
		if d.Lookup("what").StringValue() == what {
			n++
		}
	}
	return n
}

func TestCloseEndsARunningMigration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := raceFixture(t)
		failed := make(chan error, 1)
		go func() {
			_, err := p.run("admin", doc(t, `{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-3"}`))
			failed <- err
		}()
		time.Sleep(2 * time.Second)
		p.c.Close()
		must.That(t, <-failed != nil, "the move succeeded")
		p.checkInvariants()
	})
}

// A donor registers its migration at once, a recipient only when it is contacted, so
// two opposite moves that begin together block each other.
func TestOppositeMovesStartedTogetherConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := raceFixture(t)
		defer p.c.Close()
		results := make(chan error, 2)
		for _, cmd := range []string{
			`{"moveChunk": "faulty.b", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-2"}`,
			`{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "1000"}}, "to": "shard-rs-1"}`,
		} {
			go func() {
				_, err := p.run("admin", doc(t, cmd))
				results <- err
			}()
			time.Sleep(100 * time.Millisecond)
		}
		for range 2 {
			e := status.Of(<-results)
			if e == nil || e.Code != 117 || !strings.Contains(e.Message, "this shard is currently donating chunk [") {
				t.Errorf("got %v", e)
			}
		}
		expect.Equal(t, p.changelogCount("moveChunk.error"), 2, "errors logged")
		p.checkInvariants()
	})
}
