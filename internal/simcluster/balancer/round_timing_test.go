package balancer_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
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
		expect.That(t, waited >= 35, "%d rounds waited in vain, want at least 35", waited)
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
		expect.That(t, aborted == waited, "%d recipients gave up in %d rounds", aborted, waited)
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
		expect.That(t, ch.Shard == "shard-rs-1", `the chunk is on %s when the orphans are gone, want "shard-rs-1"`, ch.Shard)
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
