package catalog

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// raceFixture is the cluster of the recorded races: two collections split at 1000 and
// 2000, the middle chunk of a on shard-rs-2, everything else on shard-rs-1; a move
// takes 10 s.
func raceFixture(t *testing.T) *replayer {
	c := New(Options{Seed: 5, Hostname: "vm", Pace: 20, Migration: 5 * time.Second})
	p := &replayer{t: t, c: c, handlers: c.Handlers()}
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

// duringMove starts the recorded move of a's last chunk and calls scene when the donor
// is in the given step.
func duringMove(t *testing.T, step int, scene func(p *replayer)) {
	synctest.Test(t, func(t *testing.T) {
		p := raceFixture(t)
		defer p.c.Close()
		result := make(chan error, 1)
		go func() {
			_, err, _ := p.run("admin", doc(t, `{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-3"}`))
			result <- err
		}()
		for reached := false; !reached; {
			time.Sleep(100 * time.Millisecond)
			p.c.Mu.RLock()
			list := p.c.Migrations()
			reached = len(list) == 1 && list[0].Step >= step
			p.c.Mu.RUnlock()
		}
		scene(p)
		if err := <-result; err != nil {
			t.Fatalf("the first move failed: %v", err)
		}
		p.checkInvariants()
	})
}

func (p *replayer) expectError(cmd string, code int32, message string) {
	p.t.Helper()
	_, err, _ := p.run("admin", doc(p.t, cmd))
	if e := status.Of(err); e == nil || e.Code != code || e.Message != message {
		p.t.Errorf("%s\n got  %v\n want %d %s", cmd, err, code, message)
	}
}

func TestShardReceivesOnlyOneChunkAtATime(t *testing.T) {
	duringMove(t, 3, func(p *replayer) {
		p.expectError(`{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "1000"}}, "to": "shard-rs-3", "maxTimeMS": 4000}`, 117,
			"Unable to start new balancer operation because this shard is currently receiving chunk [{ p: 2000 }, { p: MaxKey "+
				"}) for namespace faulty.a from shard-rs-1")
	})
}

func TestShardDonatesOnlyOneChunkAtATime(t *testing.T) {
	duringMove(t, 3, func(p *replayer) {
		p.expectError(`{"moveChunk": "faulty.b", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-2", "maxTimeMS": 4000}`, 117,
			"Unable to start new balancer operation because this shard is currently donating chunk [{ p: 2000 }, { p: MaxKey "+
				"}) for namespace faulty.a to shard-rs-3")
	})
}

func TestBusyRecipientCausesThreeLogEntriesAndBusyDonorNone(t *testing.T) {
	duringMove(t, 3, func(p *replayer) {
		entries := func() int {
			return p.changelogCount("moveChunk.start") + p.changelogCount("moveChunk.error") + p.changelogCount("moveChunk.from")
		}
		before := entries()
		_, _, _ = p.run("admin", doc(p.t, `{"moveChunk": "faulty.b", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-2"}`))
		if after := entries(); after != before {
			p.t.Errorf("a busy donor caused %d log entries, want 0", after-before)
		}
		_, _, _ = p.run("admin", doc(p.t, `{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "1000"}}, "to": "shard-rs-3"}`))
		if after := entries(); after != before+3 {
			p.t.Errorf("a busy recipient caused %d log entries, want 3", after-before)
		}
	})
}

func (p *replayer) changelogCount(what string) (n int) {
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	for _, d := range p.c.Config.Coll("config", "changelog").All() {
		if d.Lookup("what").StringValue() == what {
			n++
		}
	}
	return n
}

func TestSplitDuringAMigrationTimesOut(t *testing.T) {
	duringMove(t, 3, func(p *replayer) {
		p.expectError(`{"split": "faulty.a", "middle": {"p": {"$numberInt": "2500"}}, "maxTimeMS": 500}`, 50,
			"split failed :: caused by :: operation exceeded time limit")
	})
}

func TestSplitContinuesAfterTheMigration(t *testing.T) {
	duringMove(t, 3, func(p *replayer) {
		p.mustRun(`{"split": "faulty.a", "middle": {"p": {"$numberInt": "2500"}}}`)
		if n := p.changelogCount("moveChunk.commit"); n != 2 {
			p.t.Errorf("split before the move was done: %d commits, want 2", n)
		}
	})
}

func TestRepeatedMoveJoinsTheRunningOne(t *testing.T) {
	duringMove(t, 3, func(p *replayer) {
		p.expectError(`{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-3", "maxTimeMS": 50}`,
			50, "operation exceeded time limit")
		p.mustRun(`{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-3"}`)
		if n := p.changelogCount("moveChunk.commit"); n != 2 {
			p.t.Errorf("%d commits, want 2", n)
		}
	})
}

func TestWritesDuringAMigrationAreKept(t *testing.T) {
	duringMove(t, 4, func(p *replayer) {
		p.c.Mu.Lock()
		defer p.c.Mu.Unlock()
		for i, key := range []int32{2050, 3000, 500} {
			if err := p.insertRouted("faulty", "a", encode(bson.D{{Key: "_id", Value: int32(100 + i)}, {Key: "p", Value: key}})); err != nil {
				p.t.Fatal(err)
			}
		}
	})
}

func TestCloseEndsARunningMigration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := raceFixture(t)
		failed := make(chan error, 1)
		go func() {
			_, err, _ := p.run("admin", doc(t, `{"moveChunk": "faulty.a", "find": {"p": {"$numberInt": "2000"}}, "to": "shard-rs-3"}`))
			failed <- err
		}()
		time.Sleep(2 * time.Second)
		p.c.Close()
		if err := <-failed; err == nil {
			t.Fatal("the move succeeded")
		}
		p.checkInvariants()
	})
}

func TestMigrationsAreSeenInConfigWhileTheyRun(t *testing.T) {
	duringMove(t, 3, func(p *replayer) {
		p.c.Mu.RLock()
		defer p.c.Mu.RUnlock()
		coll := p.c.Config.Coll("config", "migrations")
		if coll.Len() != 1 {
			p.t.Fatalf("%d migrations, want 1", coll.Len())
		}
		for _, d := range coll.All() {
			const want = `{"_id":"*","ns":"faulty.a","min":{"p":{"$numberInt":"2000"}},"max":{"p":{"$maxKey":1}},"fromShard":"shard-rs-1","toShard":"shard-rs-3","chunkVersion":`
			if got := comparableText(d); !strings.HasPrefix(got, want) ||
				!strings.HasSuffix(got, `"waitForDelete":false,"forceJumbo":"doNotForceJumbo"}`) {
				p.t.Errorf("got %s, want …%v…, …%q…", got, want, `"waitForDelete":false,"forceJumbo":"doNotForceJumbo"}`)
			}
		}
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
				_, err, _ := p.run("admin", doc(t, cmd))
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
		if n := p.changelogCount("moveChunk.error"); n != 2 {
			t.Errorf("%d errors logged, want 2", n)
		}
		p.checkInvariants()
	})
}
