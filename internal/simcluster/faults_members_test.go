package simcluster

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// The recordings have the donor's step-down at three steps. At the others the rule is:
// before the commit the chunk stays, after it the chunk has moved.
func TestDonorStepDownKeepsTheChunkBeforeTheCommitAndMovesItAfter(t *testing.T) {
	steps := 0
	defer func() {
		expect.That(t, steps >= 5, "%d steps of a migration were tried, want at least 5", steps)
	}()
	for _, p := range FaultPoints() {
		if p.Command != "moveChunk" || p.At == Received || p.At == Targeted || p.At == Replying {
			continue
		}
		steps++
		inBubble(t, func(s *faultFixture) {
			t := s.t
			db, cmd := s.commandChangingState("moveChunk")
			s.cluster.Faults().Add(Rule{Command: "move", At: p.At, StepDown: true})
			var failed mongo.CommandError
			if err := s.run(db, cmd); !errors.As(err, &failed) || failed.Code != 96 ||
				!strings.HasPrefix(failed.Message, "moveChunk command failed on source shard. :: caused by :: ") {
				t.Fatalf("%s: answered %v", p.At, err)
			}
			reply := mustRun(t, s.cluster, "config", d("find", "chunks", "filter", d("min", d("p", int32(100)))))
			chunk := reply.Lookup("cursor", "firstBatch", "0").Document()
			major, minor, _ := chunk.Lookup("lastmod").TimestampOK()
			if shard := chunk.Lookup("shard").StringValue(); (shard == "shard-rs-2") != p.Done {
				t.Errorf("%s: the chunk is on %s", p.At, shard)
			}
			expect.That(t, major == 2 && minor == 0, "%s: version %d|%d, want major 2, minor 0", p.At, major, minor)
			if n := len(s.changelog("moveChunk.from")); n != 0 {
				t.Errorf("%s: the donor that is gone logged %d ends, want 0", p.At, n)
			}
		})
	}
}

func TestFrozenMemberBlocksCommandsThatNeedIt(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		t := s.t
		f := s.cluster.Faults()
		f.Freeze("config")
		f.Freeze("config") // once is enough
		expect.EqualSlices(t, f.Frozen(), []string{"config"}, "frozen")
		db, cmd := s.commandChangingState("split")
		before := time.Now()
		var failed mongo.CommandError
		if err := s.run(db, append(cmd, d("maxTimeMS", 5000)...)); !errors.As(err, &failed) || failed.Code != 50 ||
			time.Since(before) < 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(before))
		}
		expect.NoError(t, s.run("admin", d("ping", 1)), "run")
		reply, err := s.client.Database("admin").RunCommand(t.Context(), d("connPoolStats", 1)).Raw()
		must.Do(t, err)
		if up := reply.Lookup("replicaSets", "cfg", "hosts", "0", "ok"); up.Boolean() {
			t.Errorf("the router takes a frozen config server for up: %s", reply)
		}
		go func() {
			time.Sleep(3 * time.Second)
			f.Thaw("config")
		}()
		before = time.Now()
		if err := s.run(db, cmd); err != nil || time.Since(before) < 3*time.Second {
			t.Errorf("%v after %s, want at least %v", err, time.Since(before), 3*time.Second)
		}
		expect.Equal(t, len(s.changelog("split")), 2, "splits: the one that was late must have left no trace")
	})
}

// A chunk cannot return to a shard that still has its orphans.
func TestOrphansBlockAMoveBack(t *testing.T) {
	move := func(to string, wait bool) bson.D {
		return d("moveChunk", "app.c", "find", d("p", int32(100)), "to", to, "_waitForDelete", wait)
	}
	for _, c := range []struct {
		delay     time.Duration
		wait      bool
		pause     time.Duration
		code      int32
		atLeast   time.Duration
		documents string
	}{
		{0, false, 0, 96, 10 * time.Second, "default of 15 minutes"},
		{0, false, 14 * time.Minute, 96, 10 * time.Second, "not over yet"},
		{0, false, 16 * time.Minute, 0, 0, "over"},
		{0, true, 0, 0, 0, "waited for"},
		{5 * time.Second, false, 0, 0, 4 * time.Second, "short enough to wait"},
		{time.Hour, false, 16 * time.Minute, 96, 10 * time.Second, "longer"},
	} {
		inBubble(t, func(s *faultFixture) {
			t := s.t
			must.Do(t, s.run("admin", move("shard-rs-2", c.wait)))
			time.Sleep(c.pause)
			before := time.Now()
			err := s.run("admin", move("shard-rs-1", false))
			var failed mongo.CommandError
			errors.As(err, &failed)
			if took := time.Since(before); (err == nil) != (c.code == 0) || failed.Code != c.code || took < c.atLeast ||
				took > c.atLeast+2*time.Second {
				t.Errorf("%s: %v after %s", c.documents, err, took)
			}
			if c.code == 96 && !strings.HasPrefix(failed.Message,
				"Data transfer error: ExceededTimeLimit: Failed to delete orphaned app.c range [{ p: 100 }, { p: MaxKey })") {
				t.Error(failed.Message)
			}
		}, func(o *Options) { o.OrphanDelay = c.delay })
	}
}

func TestDelayBeyondTheTimeLimitEndsOnlyTheCommand(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		db, cmd := s.commandChangingState("moveChunk")
		s.cluster.Faults().Add(Rule{Command: "moveChunk", At: Cloned, Delay: 5 * time.Second})
		var failed mongo.CommandError
		if err := s.run(db, append(cmd, d("maxTimeMS", 2000)...)); !errors.As(err, &failed) || failed.Code != 50 {
			s.t.Fatalf("answered %v", err)
		}
		expect.NoError(s.t, s.run(db, cmd), "joining the migration")
		expect.Equal(s.t, len(s.changelog("moveChunk.commit")), 1, "commits")
	})
}

func TestAMigrationWaitsForAFrozenRecipient(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		t := s.t
		db, cmd := s.commandChangingState("moveChunk")
		s.cluster.Faults().Add(Rule{Command: "moveChunk", At: Cloning, Freeze: "shard-rs-2"})
		go func() {
			time.Sleep(time.Minute)
			s.cluster.Faults().Heal()
		}()
		before := time.Now()
		if err := s.run(db, cmd); err != nil || time.Since(before) < time.Minute {
			t.Errorf("%v after %s, want at least %v", err, time.Since(before), time.Minute)
		}
	})
}
