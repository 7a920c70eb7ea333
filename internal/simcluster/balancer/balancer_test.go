package balancer_test

import (
	"context"
	"testing"
	"time"
)

func TestRoundsEvenOutTheChunks(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.split(10, 20, 30, 40, 50, 60, 70, 80)
		w.startBalancer()
		w.wait(time.Minute)
		if got := w.chunksPerShard(); got != [3]int{3, 3, 3} {
			t.Fatalf("spread %v", got)
		}
		if n := len(w.logEntries("changelog", "moveChunk.commit")); n != 6 {
			t.Fatalf("%d moves, want 6", n)
		}
		rounds := w.logEntries("actionlog", "balancer.round")
		if len(rounds) != 6 {
			t.Fatalf("%d rounds logged, want 6", len(rounds))
		}
		d := rounds[0].Lookup("details").Document()
		if d.Lookup("candidateChunks").Int32() != 1 || d.Lookup("chunksMoved").Int32() != 1 || d.Lookup("errorOccured").Boolean() {
			t.Fatalf("details %s", d)
		}
	})
}

func TestAChunkMoreThanTheRoundedAverageIsTolerated(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.split(10, 20, 30)
		w.startBalancer()
		w.wait(time.Minute)
		if got := w.chunksPerShard(); got != [3]int{2, 1, 1} {
			t.Fatalf("spread %v", got)
		}
	})
}

func TestZoneIsSplitOutAndMovedToItsShard(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.mustRun(`{"addShardToZone": "shard-rs-3", "zone": "pin"}`)
		w.mustRun(`{"updateZoneKeyRange": "db.t", "min": {"p": 10}, "max": {"p": 20}, "zone": "pin"}`)
		w.startBalancer()
		w.wait(time.Minute)
		w.c.Mu.RLock()
		defer w.c.Mu.RUnlock()
		r := w.c.Routing("db.t")
		if r.Len() != 3 {
			t.Fatalf("%d chunks, want 3", r.Len())
		}
		if ch := r.Chunks()[1]; ch.Shard != "shard-rs-3" || ch.Min.Lookup("p").Int32() != 10 {
			t.Fatalf("got %+v", ch)
		}
	})
}

func TestDrainingEmptiesTheShard(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.split(10, 20, 30, 40, 50)
		w.startBalancer()
		w.wait(time.Minute)
		w.wait(16 * time.Minute) // until the orphans of the first moves are deleted
		w.mustRun(`{"removeShard": "shard-rs-2"}`)
		w.wait(time.Minute)
		if got := w.chunksPerShard(); got[1] != 0 || got[0]+got[2] != 6 {
			t.Fatalf("spread %v", got)
		}
		if state := w.mustRun(`{"removeShard": "shard-rs-2"}`)[1]; state.Value != "completed" {
			t.Fatalf(`state %v, want Value "completed"`, state)
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
			onCluster(t, func(t *testing.T, w *world) {
				w.writeSetting(settings)
				w.split(10, 20, 30, 40, 50)
				w.startBalancer()
				w.wait(time.Hour)
				if got := w.chunksPerShard(); got != [3]int{6, 0, 0} {
					t.Fatalf("spread %v", got)
				}
			})
		})
	}
}

func TestBalancingStartsWhenTheWindowOpens(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.writeSetting(`{"_id": "balancer", "activeWindow": {"start": "13:00", "stop": "01:00"}}`)
		w.split(10, 20, 30, 40, 50)
		w.startBalancer()
		w.wait(59 * time.Minute)
		if got := w.chunksPerShard(); got != [3]int{6, 0, 0} {
			t.Fatalf("before the window: %v", got)
		}
		w.wait(5 * time.Minute)
		if got := w.chunksPerShard(); got != [3]int{2, 2, 2} {
			t.Fatalf("in the window: %v", got)
		}
	})
}

func TestLargeChunkOfOneKeyIsFlaggedJumboAndSkipped(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.writeSetting(`{"_id": "chunksize", "value": 1}`)
		w.mustRun(`{"addShardToZone": "shard-rs-2", "zone": "z"}`)
		w.mustRun(`{"updateZoneKeyRange": "db.t", "min": {"p": 7}, "max": {"p": 8}, "zone": "z"}`)
		w.insertAtKey(7, 3000)
		w.startBalancer()
		w.wait(2 * time.Minute)
		w.c.Mu.RLock()
		ch := w.c.Routing("db.t").Chunks()[1]
		w.c.Mu.RUnlock()
		if !ch.Jumbo || ch.Shard != "shard-rs-1" {
			t.Fatalf(`got %+v, want Jumbo true, Shard "shard-rs-1"`, ch)
		}
		if n := len(w.logEntries("changelog", "moveChunk.error")); n != 1 {
			t.Fatalf("tried %d times, want 1", n)
		}
		if d := w.mustRun(`{"balancerCollectionStatus": "db.t"}`); d[0].Value != true {
			t.Fatalf("status %v, want [0].Value true", d)
		}
	})
}

func TestBalancerStopWaitsForTheRound(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.insertAtKey(15, 500)
		w.split(10, 20, 30, 40, 50)
		w.startBalancer()
		w.wait(time.Second + 50*time.Millisecond)
		if d := w.mustRun(`{"balancerStatus": 1}`); d[1].Value != true {
			t.Fatalf("status %v, want [1].Value true", d)
		}
		w.mustRun(`{"balancerStop": 1}`)
		if d := w.mustRun(`{"balancerStatus": 1}`); d[0].Value != "off" || d[1].Value != false {
			t.Fatalf(`status %v, want [0].Value "off", [1].Value false`, d)
		}
		moved := w.chunksPerShard()
		w.wait(time.Minute)
		if got := w.chunksPerShard(); got != moved {
			t.Fatalf("went on after the stop: %v, then %v", moved, got)
		}
	})
}

func TestOrphansAreDeletedAfterADelay(t *testing.T) {
	onCluster(t, func(t *testing.T, w *world) {
		w.insertAtKey(15, 30)
		w.split(10, 20)
		ctx, stop := context.WithCancel(t.Context())
		go w.c.Run(ctx)
		defer stop()
		w.mustRun(`{"moveChunk": "db.t", "find": {"p": 15}, "to": "shard-rs-2"}`)
		orphans := func() int {
			w.c.Mu.RLock()
			defer w.c.Mu.RUnlock()
			return w.c.Orphans("db.t", "shard-rs-1")
		}
		if n := orphans(); n != 30 {
			t.Fatalf("%d orphans after the move, want 30", n)
		}
		w.wait(16 * time.Minute)
		w.c.Mu.RLock()
		left := w.c.Shards["shard-rs-1"].Coll("db", "t").Len()
		w.c.Mu.RUnlock()
		if n := orphans(); n != 0 || left != 0 {
			t.Fatalf("%d orphans, %d documents after 16 minutes, want n 0, left 0", n, left)
		}
	})
}
