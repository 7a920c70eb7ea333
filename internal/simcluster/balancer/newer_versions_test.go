package balancer_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// megabytes returns how many megabytes of documents each shard owns, rounded down.
func (w *world) megabytes() (out [3]int64) {
	w.c.Mu.RLock()
	defer w.c.Mu.RUnlock()
	for i, name := range w.c.ShardNames() {
		if coll := w.c.Shards[name].Coll("db", "t"); coll != nil && coll.Len() > 0 {
			out[i] = int64(coll.Len()-w.c.Orphans("db.t", name)) * (coll.Bytes() / int64(coll.Len())) >> 20
		}
	}
	return out
}

func TestDataSizesAreBalancedSince603(t *testing.T) {
	onVersion(t, [3]int{6, 0, 20}, func(t *testing.T, w *world) {
		w.mustRun(`{"configureCollectionBalancing": "db.t", "chunkSize": 1}`)
		for key := range 120 {
			w.insertAtKey(key, 100) // about 12 MB in one chunk
		}
		w.startBalancer()
		w.wait(10 * time.Minute)
		got := w.megabytes()
		if most, least := max(got[0], got[1], got[2]), min(got[0], got[1], got[2]); least < 2 || most-least >= 3 {
			t.Errorf("%v MB: want less than three chunk sizes between the shards", got)
		}
		for _, d := range w.logEntries("changelog", "moveChunk.commit") {
			if n := d.Lookup("details", "counts", "clonedBytes").Int64(); n > 12<<20/10 { // documents of one key stay together
				t.Errorf("a range of %d bytes was moved, want at most %v", n, 12<<20/10)
			}
		}
	})
}

func TestAutoMergerRunsEveryHourWhereEnabled(t *testing.T) {
	onVersion(t, [3]int{7, 0, 16}, func(t *testing.T, w *world) {
		w.split(10, 20, 30)
		w.startBalancer()
		w.wait(50 * time.Minute)
		if got := w.chunksPerShard(); got != [3]int{4, 0, 0} {
			t.Fatalf("merged too early: %v", got)
		}
		w.wait(11 * time.Minute)
		if got := w.chunksPerShard(); got != [3]int{1, 0, 0} {
			t.Fatalf("not merged: %v", got)
		}
		w.writeSetting(`{"_id": "automerge", "enabled": false}`)
		w.split(10, 20)
		w.wait(3 * time.Hour)
		if got := w.chunksPerShard(); got != [3]int{3, 0, 0} {
			t.Fatalf("merged although it is off: %v", got)
		}
	})
}

// The AutoMerger does not look at zones; a round ends with their bounds cut again.
func TestAutoMergerLeavesZonesCut(t *testing.T) {
	onVersion(t, [3]int{8, 0, 10}, func(t *testing.T, w *world) {
		w.split(10, 20, 30)
		w.mustRun(`{"addShardToZone": "shard-rs-1", "zone": "z"}`)
		w.mustRun(`{"updateZoneKeyRange": "db.t", "min": {"p": 10}, "max": {"p": 20}, "zone": "z"}`)
		w.startBalancer()
		w.wait(61 * time.Minute)
		if got := w.chunksPerShard(); got != [3]int{3, 0, 0} {
			t.Errorf("chunks %v, want below, in and above the zone", got)
		}
		expect.That(t, len(w.logEntries("changelog", "autoMerge")) != 0, "nothing was merged")
	})
}

func TestAChunkOfOneKeyBecomesJumboInEveryVersion(t *testing.T) {
	for _, v := range [][3]int{{4, 4, 29}, {5, 0, 7}, {6, 0, 20}, {7, 0, 16}, {8, 0, 13}} {
		onVersion(t, v, func(t *testing.T, w *world) {
			w.writeSetting(`{"_id": "chunksize", "value": 1}`)
			w.insertAtKey(7, 5000) // 5 MB
			w.mustRun(`{"addShardToZone": "shard-rs-2", "zone": "z"}`)
			w.mustRun(`{"updateZoneKeyRange": "db.t", "min": {"p": 7}, "max": {"p": 8}, "zone": "z"}`)
			w.startBalancer()
			w.wait(2 * time.Minute)
			jumbo := false
			w.c.Mu.RLock()
			for _, ch := range w.c.Routing("db.t").Chunks() {
				jumbo = jumbo || ch.Jumbo
			}
			w.c.Mu.RUnlock()
			expect.That(t, jumbo, "%v: no chunk is jumbo", v)
			rounds := w.logEntries("actionlog", "balancer.round")
			name := "errorOccured"
			if v[0] >= 7 {
				name = "errorOccurred"
			}
			if len(rounds) == 0 || rounds[0].Lookup("details", name).Type != bson.TypeBoolean {
				t.Errorf("%v: rounds %v", v, rounds)
			}
		})
	}
}

func TestDrainingAndZonesWorkInEveryVersion(t *testing.T) {
	for _, v := range [][3]int{{4, 4, 29}, {5, 0, 7}, {6, 0, 20}, {7, 0, 16}, {8, 0, 13}} {
		onVersion(t, v, func(t *testing.T, w *world) {
			w.split(10, 20, 30, 40)
			for key := 5; key < 50; key += 10 {
				w.insertAtKey(key, 10)
			}
			w.mustRun(`{"addShardToZone": "shard-rs-3", "zone": "z"}`)
			w.mustRun(`{"updateZoneKeyRange": "db.t", "min": {"p": 12}, "max": {"p": 18}, "zone": "z"}`)
			w.mustRun(`{"removeShard": "shard-rs-1"}`)
			w.startBalancer()
			w.wait(5 * time.Minute)
			w.c.Mu.RLock()
			defer w.c.Mu.RUnlock()
			r := w.c.Routing("db.t")
			if n := r.Count("shard-rs-1"); n != 0 {
				t.Errorf("%v: %d chunks are left on the draining shard, want 0", v, n)
			}
			key, _ := bson.Marshal(bson.D{{Key: "p", Value: int32(15)}})
			expect.Equal(t, r.Owner(key), "shard-rs-3", "%v: the shard of the zone's chunk", v)
		})
	}
}

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
		must.That(t, len(rounds) == 6, "%d rounds logged, want 6", len(rounds))
		d := rounds[0].Lookup("details").Document()
		if d.Lookup("candidateChunks").Int32() != 1 || d.Lookup("chunksMoved").Int32() != 1 || d.Lookup("errorOccured").Boolean() {
			t.Fatalf("details %s", d)
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
