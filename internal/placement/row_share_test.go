package placement

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/topology"
)

// For any rows, the reported interval contains the true share.
func TestRowShareIntervalContainsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sums tally
		var here, all float64
		whole := true
		for range rapid.IntRange(1, 4).Draw(t, "collections") {
			rows := float64(rapid.IntRange(0, 1000).Draw(t, "rows"))
			known := rowsOf{low: rows, high: rows, counted: true}
			switch rapid.IntRange(0, 2).Draw(t, "known") {
			case 1:
				known = rowsOf{high: rows + float64(rapid.IntRange(0, 500).Draw(t, "others"))}
			case 2:
				known = rowsOf{high: math.Inf(1)}
			}
			p := ProjectPart{Of: rapid.IntRange(1, 3).Draw(t, "of")}
			p.Chunks = rapid.IntRange(0, p.Of).Draw(t, "chunks")
			part := 0.0
			switch p.Chunks {
			case 0:
			case p.Of:
				part = 1
			default:
				part = rapid.Float64Range(0, 1).Draw(t, "part")
			}
			whole = whole && p.Chunks == p.Of
			sums.add(p, known)
			here, all = here+rows*part, all+rows
		}
		got := sums.share(whole)
		switch {
		case !got.Known && got.Reason == "":
			t.Fatal("neither a share nor a reason")
		case !got.Known:
			return
		case got.Low < 0 || got.High > 1 || got.Low > got.High || got.Method == "":
			t.Fatalf("got %+v, want an interval within 0 and 1 and a method", got)
		case whole != got.Exact:
			t.Fatalf("whole %v, exact %v", whole, got.Exact)
		}
		const eps = 1e-9
		if truth := here / all; all > 0 && (truth < got.Low-eps || truth > got.High+eps) {
			t.Fatalf("%g of %g rows is a share of %g, reported as %g to %g", here, all, truth, got.Low, got.High)
		}
	})
}

// One chunk of three can have all the rows or none, so the share of chunks is not the
// share of rows.
func TestRowShareIsNotTheShareOfChunks(t *testing.T) {
	count := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
	var sums tally
	sums.add(ProjectPart{Chunks: 1, Of: 1}, rowsOf{low: 900, high: 900, counted: true})
	sums.add(ProjectPart{Chunks: 0, Of: 1}, rowsOf{low: 100, high: 100, counted: true})
	if got := sums.share(false); got.Low != 0.9 || got.High != 0.9 || got.Exact || got.Method != "projectStats" {
		t.Errorf(`got %+v, want Low 0.9, High 0.9, Exact false, Method "projectStats"`, got)
	}
	sums.add(ProjectPart{Chunks: 0, Of: 2}, rowsOf{high: float64(count(1000).Value)})
	if got := sums.share(false); got.Low != 0.45 || got.High != 0.9 || got.Method != "rowBounds" {
		t.Errorf(`got %+v, want Low 0.45, High 0.9, Method "rowBounds"`, got)
	}
}
