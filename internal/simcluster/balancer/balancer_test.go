package balancer_test

import (
	"context"
	"testing"
	"time"
)

func TestRoundsEvenOutTheChunks(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.split(10, 20, 30, 40, 50, 60, 70, 80)
		w.start()
		w.after(time.Minute)
		if got := w.spread(); got != [3]int{3, 3, 3} {
			t.Fatalf("spread %v", got)
		}
		if n := len(w.log("changelog", "moveChunk.commit")); n != 6 {
			t.Fatalf("%d moves", n)
		}
		rounds := w.log("actionlog", "balancer.round")
		if len(rounds) != 6 {
			t.Fatalf("%d rounds logged", len(rounds))
		}
		d := rounds[0].Lookup("details").Document()
		if d.Lookup("candidateChunks").Int32() != 1 || d.Lookup("chunksMoved").Int32() != 1 || d.Lookup("errorOccured").Boolean() {
			t.Fatalf("details %s", d)
		}
	})
}

func TestAChunkMoreThanTheRoundedAverageIsTolerated(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.split(10, 20, 30)
		w.start()
		w.after(time.Minute)
		if got := w.spread(); got != [3]int{2, 1, 1} {
			t.Fatalf("spread %v", got)
		}
	})
}

func TestAZoneIsCutOutAndMovedToItsShard(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.run(`{"addShardToZone": "shard-rs-3", "zone": "pin"}`)
		w.run(`{"updateZoneKeyRange": "db.t", "min": {"p": 10}, "max": {"p": 20}, "zone": "pin"}`)
		w.start()
		w.after(time.Minute)
		w.c.Mu.RLock()
		defer w.c.Mu.RUnlock()
		r := w.c.Routing("db.t")
		if r.Len() != 3 {
			t.Fatalf("%d chunks", r.Len())
		}
		if ch := r.Chunks()[1]; ch.Shard != "shard-rs-3" || ch.Min.Lookup("p").Int32() != 10 {
			t.Fatalf("got %+v", ch)
		}
	})
}

func TestDrainingEmptiesTheShard(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.split(10, 20, 30, 40, 50)
		w.start()
		w.after(time.Minute)
		w.after(16 * time.Minute) // until the orphans of the first moves are deleted
		w.run(`{"removeShard": "shard-rs-2"}`)
		w.after(time.Minute)
		if got := w.spread(); got[1] != 0 || got[0]+got[2] != 6 {
			t.Fatalf("spread %v", got)
		}
		if state := w.run(`{"removeShard": "shard-rs-2"}`)[1]; state.Value != "completed" {
			t.Fatalf("state %v", state)
		}
	})
}

func TestAStoppedBalancerMovesNothing(t *testing.T) {
	for name, settings := range map[string]string{
		"stopped": `{"_id": "balancer", "stopped": true}`,
		"mode":    `{"_id": "balancer", "mode": "autoSplitOnly"}`,
		"window":  `{"_id": "balancer", "activeWindow": {"start": "01:00", "stop": "05:00"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.setting(settings)
				w.split(10, 20, 30, 40, 50)
				w.start()
				w.after(time.Hour)
				if got := w.spread(); got != [3]int{6, 0, 0} {
					t.Fatalf("spread %v", got)
				}
			})
		})
	}
}

func TestTheWindowOpensAtItsHour(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.setting(`{"_id": "balancer", "activeWindow": {"start": "13:00", "stop": "01:00"}}`)
		w.split(10, 20, 30, 40, 50)
		w.start()
		w.after(59 * time.Minute)
		if got := w.spread(); got != [3]int{6, 0, 0} {
			t.Fatalf("before the window: %v", got)
		}
		w.after(5 * time.Minute)
		if got := w.spread(); got != [3]int{2, 2, 2} {
			t.Fatalf("in the window: %v", got)
		}
	})
}

func TestAChunkTooBigAndOfOneKeyIsFlaggedJumboAndPassedOver(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.setting(`{"_id": "chunksize", "value": 1}`)
		w.run(`{"addShardToZone": "shard-rs-2", "zone": "z"}`)
		w.run(`{"updateZoneKeyRange": "db.t", "min": {"p": 7}, "max": {"p": 8}, "zone": "z"}`)
		w.fill(7, 3000)
		w.start()
		w.after(2 * time.Minute)
		w.c.Mu.RLock()
		ch := w.c.Routing("db.t").Chunks()[1]
		w.c.Mu.RUnlock()
		if !ch.Jumbo || ch.Shard != "shard-rs-1" {
			t.Fatalf("got %+v", ch)
		}
		if n := len(w.log("changelog", "moveChunk.error")); n != 1 {
			t.Fatalf("tried %d times", n)
		}
		if d := w.run(`{"balancerCollectionStatus": "db.t"}`); d[0].Value != true {
			t.Fatalf("status %v", d)
		}
	})
}

func TestBalancerStopWaitsForTheRound(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.fill(15, 500)
		w.split(10, 20, 30, 40, 50)
		w.start()
		w.after(time.Second + 50*time.Millisecond)
		if d := w.run(`{"balancerStatus": 1}`); d[1].Value != true {
			t.Fatalf("status %v", d)
		}
		w.run(`{"balancerStop": 1}`)
		if d := w.run(`{"balancerStatus": 1}`); d[0].Value != "off" || d[1].Value != false {
			t.Fatalf("status %v", d)
		}
		moved := w.spread()
		w.after(time.Minute)
		if got := w.spread(); got != moved {
			t.Fatalf("went on after the stop: %v, then %v", moved, got)
		}
	})
}

func TestOrphansStayForAWhileAndGo(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.fill(15, 30)
		w.split(10, 20)
		ctx, stop := context.WithCancel(t.Context())
		go w.c.Run(ctx)
		defer stop()
		w.run(`{"moveChunk": "db.t", "find": {"p": 15}, "to": "shard-rs-2"}`)
		orphans := func() int {
			w.c.Mu.RLock()
			defer w.c.Mu.RUnlock()
			return w.c.Orphans("db.t", "shard-rs-1")
		}
		if n := orphans(); n != 30 {
			t.Fatalf("%d orphans after the move", n)
		}
		w.after(16 * time.Minute)
		w.c.Mu.RLock()
		left := w.c.Shards["shard-rs-1"].Coll("db", "t").Len()
		w.c.Mu.RUnlock()
		if n := orphans(); n != 0 || left != 0 {
			t.Fatalf("%d orphans, %d documents after 16 minutes", n, left)
		}
	})
}
