package enginetest

import (
	"os"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
)

// timeBatch plans and runs a batch of splits, the first at a key, and returns how long each took for an item.
func (r *Rig) timeBatch(from, items int) (planning, running time.Duration) {
	r.Helper()
	var plans []actions.PlannedChange
	for i := range items {
		plans = append(plans, actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(1000 + from + i)}})
	}
	begun := time.Now()
	p := r.Plan(actions.Batch, actions.Args{Plans: plans, Group: 100})
	planning = time.Since(begun) / time.Duration(items)
	begun = time.Now()
	if run := r.WaitEnd(r.Start(p).ID); run.State != engine.Succeeded || run.Batch.Done != items {
		r.Fatalf("%s %v: %+v", run.State, run.Why, run.Batch)
	}
	return planning, time.Since(begun) / time.Duration(items)
}

// BenchmarkBatch plans and runs a batch of 300 items, 1,000 with SHARDBOARD_LONG, in real time, and compares the cost
// of an item with that of one of a batch of 100 in the same process.
func BenchmarkBatch(b *testing.B) {
	r := newRig(b, Setup{})
	defer func() { _ = r.Sim.Close() }()
	r.Boot()
	defer r.Kill()
	var plan, run [2]time.Duration
	from, many := 0, 300
	if os.Getenv("SHARDBOARD_LONG") != "" {
		many = actions.MostItems // 24 s each time
	}
	for b.Loop() {
		for i, items := range []int{100, many} {
			planning, running := r.timeBatch(from, items)
			plan[i], run[i] = plan[i]+planning, run[i]+running
			from += items
		}
	}
	b.ReportMetric(float64(plan[1].Microseconds())/float64(b.N), "planning-µs/item")
	b.ReportMetric(float64(run[1].Microseconds())/float64(b.N), "running-µs/item")
	b.ReportMetric(float64(plan[1])/float64(plan[0]), "planning-ratio-to-100")
	b.ReportMetric(float64(run[1])/float64(run[0]), "running-ratio-to-100")
}
