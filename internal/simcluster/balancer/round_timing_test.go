package balancer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// loggedRounds returns the start times and durations of the logged rounds.
func (w *world) loggedRounds() (at []time.Time, took []time.Duration, moved []int32) {
	for _, row := range w.logEntries("actionlog", "balancer.round") {
		d := time.Duration(row.Lookup("details", "executionTimeMillis").Int32()) * time.Millisecond
		at, took = append(at, row.Lookup("time").Time().Add(-d)), append(took, d)
		n, _ := row.Lookup("details", "chunksMoved").Int32OK()
		moved = append(moved, n)
	}
	return at, took, moved
}

func TestRoundsWithMovesStartEverySecondAndAHalf(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.insertAtKey(5, 40)
		w.split(10, 20, 30, 40, 50, 60, 70, 80)
		w.startBalancer()
		w.wait(time.Minute)
		at, took, _ := w.loggedRounds()
		if len(at) != 6 {
			t.Fatalf("%d rounds, want 6", len(at))
		}
		for i := range at {
			if took[i] < 400*time.Millisecond || took[i] > 600*time.Millisecond {
				t.Errorf("round %d took %s", i, took[i])
			}
			if i > 0 {
				if d := at[i].Sub(at[i-1]); d < 1400*time.Millisecond || d > 1600*time.Millisecond {
					t.Errorf("round %d began %s after the one before", i, d)
				}
			}
		}
	})
}

func TestIdleRoundsStartEveryTenSeconds(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.startBalancer()
		w.wait(time.Minute)
		before := w.mustRun(`{"balancerStatus": 1}`)[2].Value.(int64)
		w.wait(10 * time.Minute)
		if n := w.mustRun(`{"balancerStatus": 1}`)[2].Value.(int64) - before; n != 59 && n != 60 {
			t.Errorf("%d rounds in ten minutes", n)
		}
		if at, _, _ := w.loggedRounds(); len(at) != 0 {
			t.Errorf("%d rounds are logged, want 0", len(at))
		}
	})
}

// When a chunk is to return to a shard with its orphans, rounds wait 10 s for the
// orphans, move nothing, and are repeated until the orphans are deleted.
func TestRoundThatMeetsOrphansWaitsTenSecondsAndIsRepeated(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.insertAtKey(15, 30)
		w.split(10, 20)
		w.mustRun(`{"moveChunk": "db.t", "find": {"p": 15}, "to": "shard-rs-2"}`)
		w.mustRun(`{"addShardToZone": "shard-rs-1", "zone": "pin"}`)
		w.mustRun(`{"updateZoneKeyRange": "db.t", "min": {"p": 10}, "max": {"p": 20}, "zone": "pin"}`)
		w.startBalancer()
		w.wait(14 * time.Minute)
		at, took, moved := w.loggedRounds()
		waited := 0
		for i := range at {
			if moved[i] > 0 {
				continue // another chunk is moved for balance
			}
			waited++
			if took[i] < 10200*time.Millisecond || took[i] > 10500*time.Millisecond {
				t.Errorf("round %d took %s", i, took[i])
			}
			if i+1 < len(at) {
				if d := at[i+1].Sub(at[i]); d < 20*time.Second || d > 21*time.Second {
					t.Errorf("the next round began after %s, want %v to %v", d, 20*time.Second, 21*time.Second)
				}
			}
		}
		if waited < 35 {
			t.Errorf("%d rounds waited in vain, want at least 35", waited)
		}
		const reason = "ExceededTimeLimit: Failed to delete orphaned db.t range [{ p: 10 }, { p: 20 })"
		aborted := 0
		for _, row := range w.logEntries("changelog", "moveChunk.to") {
			d := row.Lookup("details").Document()
			if d.Lookup("note").StringValue() == "aborted" {
				aborted++
				if text, _ := d.Lookup("errmsg").StringValueOK(); !strings.HasPrefix(text, reason) {
					t.Errorf("moveChunk.to says %q, want …%v…", text, reason)
				}
			}
		}
		if aborted != waited {
			t.Errorf("%d recipients gave up in %d rounds", aborted, waited)
		}
		for _, what := range []string{"moveChunk.error", "moveChunk.from"} {
			for _, row := range w.logEntries("changelog", what) {
				if reason := row.Lookup("details", "errmsg"); reason.Type != 0 {
					t.Errorf("%s has a reason: %s, want Type 0", what, reason)
				}
			}
		}
		w.wait(3 * time.Minute)
		w.c.Mu.RLock()
		ch := w.c.Routing("db.t").Chunks()[1]
		w.c.Mu.RUnlock()
		if ch.Shard != "shard-rs-1" {
			t.Errorf(`the chunk is on %s when the orphans are gone, want "shard-rs-1"`, ch.Shard)
		}
	})
}

// No move starts after the balancer was turned off during its round.
func TestRoundMovesNothingAfterTheBalancerIsTurnedOff(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.split(10, 20, 30, 40, 50)
		w.startBalancer()
		w.wait(time.Second + 100*time.Millisecond) // it reads metadata and statistics
		w.mustRun(`{"balancerStop": 1}`)
		w.wait(time.Minute)
		if got := w.chunksPerShard(); got != [3]int{6, 0, 0} {
			t.Errorf("spread %v", got)
		}
	})
}

// With four shards a round moves two chunks, one for each pair.
func TestARoundMovesOneChunkForEachPairOfShards(t *testing.T) {
	onClusterWith(t, catalog.Options{Shards: []string{"shard-rs-1", "shard-rs-2", "shard-rs-3", "shard-rs-4"}}, func(t *testing.T, w *world) {
		w.split(10, 20, 30, 40, 50, 60, 70)
		w.mustRun(`{"moveChunk": "db.t", "find": {"p": 75}, "to": "shard-rs-2", "_waitForDelete": true}`)
		w.mustRun(`{"moveChunk": "db.t", "find": {"p": 65}, "to": "shard-rs-2", "_waitForDelete": true}`)
		w.mustRun(`{"moveChunk": "db.t", "find": {"p": 55}, "to": "shard-rs-2", "_waitForDelete": true}`)
		w.mustRun(`{"moveChunk": "db.t", "find": {"p": 45}, "to": "shard-rs-2", "_waitForDelete": true}`)
		w.startBalancer()
		w.wait(time.Minute)
		_, _, moved := w.loggedRounds()
		if len(moved) != 2 || moved[0] != 2 || moved[1] != 2 {
			t.Errorf("chunks moved by round: %v, want len 2, [0] 2, [1] 2", moved)
		}
		if n := len(w.logEntries("changelog", "moveChunk.commit")); n != 4+4 {
			t.Errorf("%d moves, want %v", n, 4+4)
		}
	})
}

// The round after a zone was set splits at its bounds and moves the chunk; a manual
// split there comes too late.
func TestNextRoundSplitsAndMovesANewZoneInEveryVersion(t *testing.T) {
	for _, v := range [][3]int{{4, 4, 29}, {5, 0, 7}, {6, 0, 20}, {7, 0, 16}, {8, 0, 13}} {
		onVersion(t, v, func(t *testing.T, w *world) {
			w.insertAtKey(15, 20)
			w.startBalancer()
			w.wait(time.Minute)
			w.mustRun(`{"addShardToZone": "shard-rs-3", "zone": "pin"}`)
			w.mustRun(`{"updateZoneKeyRange": "db.t", "min": {"p": 10}, "max": {"p": 20}, "zone": "pin"}`)
			w.wait(11 * time.Second)
			w.c.Mu.RLock()
			owner := w.c.Routing("db.t").Owner(encoded(bson.D{{Key: "p", Value: int32(10)}}))
			w.c.Mu.RUnlock()
			if moves := w.logEntries("changelog", "moveChunk.commit"); owner != "shard-rs-3" || len(moves) == 0 ||
				moves[0].Lookup("details", "min", "p").Int32() != 10 {
				t.Errorf("%v: on %s after %s", v, owner, moves)
			}
			at := encoded(bson.D{{Key: "split", Value: "db.t"}, {Key: "middle", Value: bson.D{{Key: "p", Value: int32(10)}}}})
			_, err := w.c.Handlers()["split"](t.Context(), &engine.Request{DB: "admin", Name: "split", Body: at})
			e := status.Of(err)
			if v[0] >= 8 && err == nil {
				return // later servers report that this is already done
			}
			if e == nil || !e.NoCode || e.Message != "new split key { p: 10 } is a boundary key of existing chunk [{ p: 10 },{ p: 20 })" {
				t.Errorf("%v: %v", v, err)
			}
		})
	}
}

func encoded(d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // cannot happen: it is a constant
	}
	return raw
}

// A round whose move conflicts with another client's migration moves nothing and ends
// at once; the next round starts after ten seconds.
func TestRoundThatConflictsWithAMigrationMovesNothing(t *testing.T) {
	onClusterWith(t, catalog.Options{Migration: time.Minute}, func(t *testing.T, w *world) {
		w.insertAtKey(15, 20)
		w.split(10, 20, 30, 40, 50)
		go func() { // ends when the cluster is closed
			at := encoded(bson.D{{Key: "moveChunk", Value: "db.t"}, {Key: "find", Value: bson.D{{Key: "p", Value: int32(15)}}},
				{Key: "to", Value: "shard-rs-2"}})
			_, _ = w.c.Handlers()["moveChunk"](context.Background(), &engine.Request{DB: "admin", Name: "moveChunk", Body: at})
		}()
		w.wait(time.Second)
		w.startBalancer()
		w.wait(40 * time.Second)
		at, took, moved := w.loggedRounds()
		if len(at) != 4 {
			t.Fatalf("%d rounds: %v, want 4", len(at), took)
		}
		for i := range at {
			if moved[i] != 0 || took[i] > time.Second || i > 0 && at[i].Sub(at[i-1]) < 10*time.Second {
				t.Errorf("round %d at %s took %s and moved %d", i, at[i], took[i], moved[i])
			}
		}
	})
}
