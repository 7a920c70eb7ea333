package app

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster"
)

// In 24 simulated hours with writers, splits and moves, 20 changes an hour, problems that come and go and people who
// look at pages, what the program holds in memory grows for some hours, until what is kept of a fixed time or number is
// complete (minutes of pictures, writes of the last hours, the newest entries of the changelog), and no more then.
func TestADayOfWorkLeavesNothingInMemory(t *testing.T) {
	if os.Getenv("SHARDBOARD_DAY") == "" {
		t.Skip("simulates 24 hours, which takes ten minutes, with SHARDBOARD_DAY=3h")
	}
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 4096
	inIncident(t, simcluster.Options{}, func(w *incident) {
		for project := range 8 {
			w.edit(project, project%4, 0.2, 0.05, 0.02)
		}
		var held []int64 // after each hour
		var goroutines []int
		for n := range 24 * 20 {
			w.oneChange(n)
			for range 3 {
				for _, page := range mostOpened {
					w.do("GET", page, nil)
				}
				time.Sleep(time.Minute)
			}
			if (n+1)%20 == 0 {
				held, goroutines = append(held, w.heldByProgram()), append(goroutines, runtime.NumGoroutine())
				t.Logf("after %2d hours: %.1f MB, %d goroutines", len(held), float64(held[len(held)-1])/1e6, goroutines[len(held)-1])
			}
		}
		middle := func(hours []int64) int64 { return slices.Sorted(slices.Values(hours))[len(hours)/2] }
		// The collector lets memory grow to twice of what is held, and the process of the same work has 37 MB
		// (TestHoursOfWorkLeaveNothingBehind), of which a twentieth are 1.8 MB.
		before, after := middle(held[4:12]), middle(held[16:])
		expect.That(t, 2*(after-before) <= 1_800_000, "%d bytes after 5 to 12 hours, %d after 17 to 24", before, after)
		first, last := slices.Max(goroutines[:4]), slices.Max(goroutines[20:])
		expect.That(t, last <= first+4, "%d goroutines in the first hours, %d in the last", first, last)
	})
}

// oneChange is a change by the program or by somebody else, or a problem that comes or goes.
func (w *incident) oneChange(n int) {
	w.Helper()
	switch n % 4 {
	case 0, 2:
		p := send[api.Plan](w, "plans", map[string]any{"kind": "split", "reason": "a day",
			"args": json.RawMessage(splitAt(int64(n+1) << 40))})
		w.run(send[api.Plan](w, "runs/"+w.run(p)+"/undo", nil))
	case 1:
		w.command("admin", bson.D{{Key: "balancerStop", Value: 1}})
	case 3:
		w.command("admin", bson.D{{Key: "balancerStart", Value: 1}})
		c := w.table().Collection(changed)
		chunk, to := n/4%c.Chunks.Len(), "shard-rs-1"
		if c.Chunks.At(chunk).Shard == to {
			to = "shard-rs-2"
		}
		b := chunkBounds(w, c, chunk)
		w.command("admin", bson.D{{Key: "moveChunk", Value: string(changed)}, {Key: "bounds", Value: bson.A{b[0], b[1]}}, {Key: "to", Value: to}})
	}
}

// heldByProgram estimates the bytes of all that is reachable and was not made by the simulated cluster.
func (w *incident) heldByProgram() int64 {
	runtime.GC()
	runtime.GC()
	n, _ := runtime.MemProfile(nil, false)
	records := make([]runtime.MemProfileRecord, n+100)
	n, _ = runtime.MemProfile(records, false)
	rate, sum := float64(runtime.MemProfileRate), 0.0
	for _, r := range records[:n] {
		if objects := r.InUseObjects(); objects > 0 && !ofSimulatedCluster(r.Stack()) {
			bytes := float64(r.InUseBytes())
			sum += bytes / (1 - math.Exp(-bytes/float64(objects)/rate)) // what was not sampled
		}
	}
	return int64(sum)
}

func ofSimulatedCluster(stack []uintptr) bool {
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "shardboard/internal/simcluster") {
			return true
		}
		if !more {
			return false
		}
	}
}
