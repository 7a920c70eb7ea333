package heat

import (
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

// windowOf returns a window with one slot of a minute.
func windowOf(ns topology.Namespace, every int64, counts ...Count) Window {
	c := &Collector{}
	from := time.Unix(1_800_000_000, 0)
	c.ring.add(Slot{NS: ns, From: from, To: from.Add(time.Minute), Every: every, Counts: counts})
	return c.Window(ns, time.Minute)
}

func TestSumIncludesAllPartsAndTheirUncertainty(t *testing.T) {
	a, b := docID(1, 0), docID(2, 0)
	changes := windowOf("y.changes", 10, Count{a, docID(1, 1), 60}, Count{b, docID(2, 1), 30})
	snapshots := windowOf("y.snapshots", 1, Count{a, docID(1, 1), 12})
	other := windowOf("z.changes", 1, Count{a, docID(1, 1), 600})
	sums := Sums([]Window{changes, snapshots, other}, Window.Projects)
	if len(sums) != 3 || sums[0].DB != "y" || sums[0].Line.Project != a || sums[1].DB != "z" || sums[2].Line.Project != b {
		t.Fatalf(`got %+v, want len 3, [0].DB "y", [0].Line.Project %v, [1].DB "z", [2].Line.Project %v`, sums, a, b)
	}
	first := sums[0]
	if first.Line.Rate.PerSecond != 10.2 || first.Line.Rate.Rows != 72 || first.Line.Rate.Exact || first.Line.Rate.PlusMinus == 0 ||
		len(first.Parts) != 2 ||
		first.Parts[0].NS != "y.changes" {
		t.Errorf("got %+v, want an estimate of 10.2 rows/s and 72 rows in two parts, y.changes first", first)
	}
	if z := sums[1].Line.Rate; !z.Exact || z.PlusMinus != 0 || len(sums[1].Parts) != 1 {
		t.Errorf("a project of another database: got %+v, want an exact sum", z)
	}
	var shares float64
	for _, s := range sums {
		shares += s.Line.Rate.Share
	}
	expect.That(t, math.Abs(shares-1) <= 1e-9, "the shares add up to %.3f, want 1", shares)
	// A document that a sampled collection did not see may exist nevertheless.
	if only := Sums([]Window{snapshots, windowOf("y.changes", 10)}, Window.Documents)[0].Line.Rate; only.Exact || only.PlusMinus == 0 {
		t.Errorf("got %+v, want Exact false, PlusMinus more than 0", only)
	}
	// If a collection could not be counted, the sum is a lower bound.
	if least := Sums([]Window{snapshots, {NS: "y.changes"}}, Window.Projects)[0].Line.Rate; least.Exact || !least.AtLeast {
		t.Errorf("got %+v, want Exact false, AtLeast true", least)
	}
}

// slotOf counts the writes of a stream, in one second of a tick or in all ten.
func slotOf(s *knownWrites, ns topology.Namespace, from time.Time, second, every int64) Slot {
	out := Slot{NS: ns, From: from, To: from.Add(Tick), Every: every}
	sums := map[bson.ObjectID]int64{}
	for i := range 10 / every {
		for id, n := range s.rowsInSecond(second + i) {
			sums[id] += n
		}
	}
	for id, n := range sums {
		out.Counts = append(out.Counts, Count{s.of[id], id, n})
	}
	return out
}
