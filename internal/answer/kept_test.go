package answer_test

import (
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

// What is kept is computed once for each table and class of people, and again of a newer table; past times and tables
// that are newest no more are computed each time. What requests can ask for is bounded.
func TestKeptIsComputedOnceForEachTable(t *testing.T) {
	began := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	older, newer := &topology.Table{Built: began}, &topology.Table{Built: began.Add(time.Second)}
	hidden := *newer
	v, times := answer.View{Kept: &answer.Kept{}}, 0
	ask := func(table *topology.Table, what any, want int) {
		t.Helper()
		times = 0
		v.Table = table
		for range 3 {
			if got := answer.OncePerTable(v, what, func() *topology.Table { times++; return table }); got != table {
				t.Errorf("of another table: %v", got.Built)
			}
		}
		expect.That(t, times == want, "computed %d times, want %d", times, want)
	}
	ask(older, "one", 1)
	ask(newer, "one", 1)
	ask(&hidden, "one", 1)
	ask(newer, "one", 0)
	ask(older, "one", 3)
	for i := range 100 {
		ask(newer, i, 1)
	}
	ask(newer, 99, 0)
	ask(newer, 0, 1) // 100 values are too many to keep
	v.Past = &answer.PastTime{}
	ask(newer, "one", 3)
}
