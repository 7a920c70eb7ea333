package balancer_test

import (
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
