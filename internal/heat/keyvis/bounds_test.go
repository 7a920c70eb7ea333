package keyvis

import (
	"math/rand/v2"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
)

// busiestRecorder returns a recorder after a minute in which every row had many writes.
func busiestRecorder(t testing.TB) (*Recorder, *swappableTable) {
	rng := rand.New(rand.NewPCG(8, 8))
	var at []int64
	for range MaxRows - 1 {
		at = append(at, int64(rng.Uint64()))
	}
	w := collectionCutAt(1, at...)
	r := New(w, nil, nil)
	r.Take(slotOfEveryRow(w, begin))
	return r, w
}

func slotOfEveryRow(w *swappableTable, from time.Time) heat.Slot {
	c := w.Table().Collection(ns)
	s := heat.Slot{NS: ns, From: from, To: from.Add(time.Minute), Every: 1, Life: c.Incarnation}
	for i := range c.Chunks.All() {
		s.Pieces = append(s.Pieces, heat.PieceOf(c, i, 100_000))
		s.Counts = append(s.Counts, heat.Count{Project: documentID(i), Rows: 100_000})
	}
	return s
}

// Five weeks in which every row had 100,000 writes a minute and the rows changed with
// every column, which is more than any real cluster has.
func TestStorageOfFiveWeeksIsBounded(t *testing.T) {
	r, _ := busiestRecorder(t)
	key, project := r.find(ns, ByKey).columns[0], r.find(ns, ByProject).columns[0]
	cells, rows, names := len(key.pack()), len(key.axis.pack()), len(project.pack())
	t.Logf(
		"a column of %d rows is %d bytes, its rows %d, a column of %d projects %d: %.1f MB in five weeks at most, %.1f MB while chunks stay",
		MaxRows,
		cells,
		rows,
		maxNamed,
		names,
		float64(MaxColumns*(cells+rows+names))/1e6,
		float64(MaxColumns*(cells+names)+rows)/1e6,
	)
	if cells > 4*MaxRows+16 || rows > 24*MaxRows || names > 16*maxNamed+16 {
		t.Errorf("column %d, rows %d, projects %d bytes", cells, rows, names)
	}
	if total := MaxColumns * (cells + rows + names); total > 40<<20 {
		t.Errorf("%d bytes in five weeks, want at most %v", total, 40<<20)
	}
}

// Rows of one axis that another axis splits are divided, and the sum is preserved.
func TestWiderRowsAreDividedEvenly(t *testing.T) {
	few, many := &axis{bounds: boundsAt(routing.EvenHashes(2))}, &axis{bounds: boundsAt(routing.EvenHashes(8))}
	c := &column{axis: few, cells: packCells(map[int]int64{0: 10, 1: 3})}
	got := map[int]int64{}
	if !c.dense(many, func(row int, rows int64) { got[row] += rows }) {
		t.Error("the rows were divided without being marked as divided")
	}
	for row, want := range []int64{3, 3, 2, 2, 1, 1, 1, 0} {
		expect.Equal(t, got[row], want, "row %d", row)
	}
	back := &column{axis: many, cells: packCells(got)}
	sums := map[int]int64{}
	if back.dense(few, func(row int, rows int64) { sums[row] += rows }) || sums[0] != 10 || sums[1] != 3 {
		t.Errorf("together again: %v", sums)
	}
}

func boundsAt(at []int64) []shardkey.Key {
	out := []shardkey.Key{shardkey.FromParts("\x01", "")}
	for _, h := range at {
		out = append(out, shardkey.HashKey(h))
	}
	return out
}
