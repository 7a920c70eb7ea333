package heat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/routing"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// splitWorld is a collection that is split and merged while its writes are counted.
type splitWorld struct {
	rng    *rand.Rand
	bounds []int64
	owners []string
	rates  []float64 // by document, rows in a slot
	truth  []truthOfSlot
	c      Collector
}

type truthOfSlot struct {
	from time.Time
	rows []int64 // by document
}

func (w *splitWorld) table() *topology.Table {
	hashed := routing.Pattern("doc_id#")
	var values []any
	for _, b := range w.bounds {
		values = append(values, b)
	}
	t := yorkieTable()
	t.Collections[0] = routing.Collection("y.changes", hashed, routing.Bounds(hashed, values...), w.owners...)
	return t
}

// change splits or merges somewhere.
func (w *splitWorld) change() {
	if len(w.bounds) > 1 && w.rng.IntN(3) == 0 {
		i := w.rng.IntN(len(w.bounds))
		w.bounds = slices.Delete(w.bounds, i, i+1)
		return
	}
	b := w.rng.Int64() - math.MaxInt64/2
	i, found := slices.BinarySearch(w.bounds, b)
	if !found {
		w.bounds = slices.Insert(w.bounds, i, b)
	}
}

// count is what a slot of ten seconds has, of which one in every is read.
func (w *splitWorld) count(from time.Time, every int64) {
	t := w.table()
	s := Slot{NS: "y.changes", From: from, To: from.Add(Tick), Every: every}
	truth := truthOfSlot{from: from}
	for d, rate := range w.rates {
		n := poisson(w.rng, rate)
		truth.rows = append(truth.rows, n)
		read := int64(0)
		for range n {
			if w.rng.Int64N(every) == 0 {
				read++
			}
		}
		if read > 0 {
			s.Counts = append(s.Counts, Count{Project: docID(1, 0), Document: docID(1, 1+d), Rows: read})
		}
	}
	slices.SortFunc(s.Counts, byRows)
	Place(t, profile.Yorkie(), &s)
	w.c.ring.add(s)
	w.truth = append(w.truth, truth)
}

// Writes that were counted before a split or merge follow the pieces, within the interval that is stated.
func TestWritesFollowTheirChunksThroughSplitsAndMerges(t *testing.T) {
	seeds := 1000
	if testing.Short() {
		seeds = 100
	}
	shown, right, loose := 0, 0, 0
	for seed := range seeds {
		w := &splitWorld{rng: rand.New(rand.NewPCG(uint64(seed), 5)), bounds: []int64{0}, owners: slices.Repeat([]string{"a", "b"}, 20)}
		documents, slots, window := 30, 36, 5*time.Minute
		if seed%20 == 0 { // older slots list only some of the documents
			documents, slots, window = 2*keepDocuments, 110, 18*time.Minute
		}
		for range documents {
			w.rates = append(w.rates, w.rng.ExpFloat64())
		}
		every := []int64{1, 1, 10}[seed%3]
		begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for i := range slots {
			if w.rng.IntN(8) == 0 {
				w.change()
			}
			w.count(begin.Add(time.Duration(i)*Tick), every)
		}
		w.change()
		table := w.table()
		c := table.Collections[0]
		got := w.c.Window("y.changes", window)
		divided, all := map[int]int64{}, 0.0
		for _, s := range got.slots {
			for _, p := range KeysOf(table, profile.Yorkie(), "y.changes").Divide(s, c) {
				i, _ := c.Chunks.Find(p.In.Value().Min)
				divided[i] += p.Rows * s.Every
				all += float64(p.Rows * s.Every)
			}
		}
		if math.Abs(all/got.Seconds-got.Total.PerSecond) > 1e-6 {
			t.Errorf("seed %d: %.0f rows are divided, not all", seed, all)
		}
		for _, l := range got.Chunks(table, profile.Yorkie()) {
			if d := float64(divided[l.Chunk]) / got.Seconds; l.Rate.Exact && l.Since.IsZero() && math.Abs(d-l.Rate.PerSecond) > 1e-6 {
				t.Errorf("seed %d: chunk %d takes %.2f/s, and %.2f/s are divided to it", seed, l.Chunk, l.Rate.PerSecond, d)
			}
			from := got.From
			if !l.Since.IsZero() {
				from = l.Since
			}
			perSecond := float64(w.rowsOf(c, l.Chunk, from)) / got.To.Sub(from).Seconds()
			shown++
			if math.Abs(l.Rate.PerSecond-perSecond) <= l.Rate.PlusMinus+1e-9 {
				right++
			} else if l.Rate.Exact {
				t.Errorf("seed %d: chunk %d takes %.2f/s, shown as exactly %.2f/s", seed, l.Chunk, perSecond, l.Rate.PerSecond)
			}
			if l.Rate.PlusMinus > 0 && every == 1 {
				loose++
			}
		}
		sum := 0.0
		for _, l := range got.Shards(table, profile.Yorkie()) {
			sum += l.Rate.PerSecond
		}
		if math.Abs(sum-got.Total.PerSecond) > 1e-6 {
			t.Errorf("seed %d: the shards take %.3f/s together, the collection %.3f/s", seed, sum, got.Total.PerSecond)
		}
	}
	if loose == 0 || float64(right) < 0.95*float64(shown) {
		t.Errorf("%d of %d rates are within their interval, %d of them for older slots", right, shown, loose)
	}
	t.Logf("%d of %d rates are within their interval, %d of them for older slots", right, shown, loose)
}

func (w *splitWorld) rowsOf(c *topology.Collection, chunk int, from time.Time) (rows int64) {
	of := target{ns: "y.changes", project: "project_id", document: "doc_id"}
	in := map[int]bool{}
	for d := range w.rates {
		if i, ok := (Slot{}).chunkPosition(c, of, Count{Project: docID(1, 0), Document: docID(1, 1+d)}); ok && i == chunk {
			in[d] = true
		}
	}
	for _, s := range w.truth {
		if s.from.Before(from) {
			continue
		}
		for d, n := range s.rows {
			if in[d] {
				rows += n
			}
		}
	}
	return rows
}

// Of rows whose keys are not known, the pieces of a split chunk are counted since the split, and its shard keeps
// the rows.
func TestPiecesOfRowsWithoutKeysAreCountedSinceTheSplit(t *testing.T) {
	hashed := routing.Pattern("doc_id#")
	before := routing.Collection("y.changes", hashed, routing.Bounds(hashed, int64(0)), "a", "b")
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var c Collector
	for i := range 6 {
		s := Slot{NS: "y.changes", From: begin.Add(time.Duration(i) * Tick), To: begin.Add(time.Duration(i+1) * Tick), Every: 1,
			Life: before.Incarnation, Counts: []Count{{Project: docID(1, 0), Rows: 60}}, Pieces: []Piece{PieceOf(before, 0, 60)}}
		table := yorkieTable()
		if i >= 3 {
			after := routing.Collection("y.changes", hashed, routing.Bounds(hashed, int64(-1<<62), int64(0)), "a", "b", "b")
			s.Pieces = []Piece{PieceOf(after, 0, 20), PieceOf(after, 1, 40)}
			table.Collections[0] = after
		}
		c.ring.add(s)
	}
	table := yorkieTable()
	table.Collections[0] = routing.Collection("y.changes", hashed, routing.Bounds(hashed, int64(-1<<62), int64(0)), "a", "b", "b")
	w := c.Window("y.changes", 5*time.Minute)
	lines := w.Chunks(table, profile.Yorkie())
	if len(lines) != 2 || lines[0].Rate.PerSecond != 4 || !lines[0].Since.Equal(begin.Add(3*Tick)) ||
		math.Abs(lines[0].Rate.Share-2./3) > 1e-9 {
		t.Errorf("got %+v, want 4/s since the split", lines)
	}
	shards := map[string]Rate{}
	for _, l := range w.Shards(table, profile.Yorkie()) {
		shards[l.Shard] = l.Rate
	}
	if a, b := shards["a"], shards["b"]; a.PerSecond != 4 || b.PerSecond != 2 || a.PlusMinus != 3 || a.Exact {
		t.Errorf("got %+v on the shards, want 4 ± 3 and 2", shards)
	}
}
