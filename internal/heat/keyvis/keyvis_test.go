package keyvis

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

const ns topology.Namespace = "y.changes"

var begin = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// swappableTable is a routing table that tests can replace.
type swappableTable struct {
	table atomic.Pointer[topology.Table]
}

func (w *swappableTable) Table() *topology.Table { return w.table.Load() }
func (w *swappableTable) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return w.Table(), make(chan struct{}), func() {}
}

// collectionCutAt makes a collection with a hashed document id, split at the given
// hashes, with its chunks on three shards.
func collectionCutAt(life byte, at ...int64) *swappableTable {
	slices.Sort(at)
	p := routing.Pattern("doc_id#")
	c := routing.Collection(ns, p, routing.Bounds(p, slices.Compact(at)...), "a", "b", "c")
	c.Incarnation = topology.Incarnation{UUID: [16]byte{life}}
	w := &swappableTable{}
	w.table.Store(&topology.Table{Loaded: true, ClusterID: "c1", Collections: []*topology.Collection{c}})
	return w
}

func documentID(n int) (id bson.ObjectID) {
	id[8], id[9], id[10], id[11] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return id
}

// countedSlot returns a slot with the given counts by the current table.
func countedSlot(w *swappableTable, from time.Time, every int64, counts ...heat.Count) heat.Slot {
	c := w.Table().Collection(ns)
	s := heat.Slot{NS: ns, From: from, To: from.Add(heat.Tick), Every: every, Counts: counts, Life: c.Incarnation}
	sums := map[int]int64{}
	for _, n := range counts {
		i, _ := c.Chunks.Find(shardkey.HashKey(shardkey.HashObjectID(n.Document)))
		sums[i] += n.Rows
	}
	for i, n := range sums {
		s.Pieces = append(s.Pieces, heat.PieceOf(c, i, n))
	}
	return s
}

// minuteSlot is countedSlot for the minute with this number.
func minuteSlot(w *swappableTable, minute int, counts ...heat.Count) heat.Slot {
	s := countedSlot(w, begin.Add(time.Duration(minute)*time.Minute), 1, counts...)
	s.To = s.From.Add(time.Minute)
	return s
}

func randomCounts(rng *rand.Rand) []heat.Count {
	var out []heat.Count
	for range rng.IntN(12) {
		d := rng.IntN(400)
		out = append(out, heat.Count{Project: documentID(d % 7), Document: documentID(d), Rows: 1 + rng.Int64N(40)})
	}
	return out
}

// totalWrites sums all cells of a view.
func totalWrites(v View) (all int64) {
	for i, c := range v.Columns {
		all += c.Astray
		for row := range v.Rows() {
			all += max(0, v.At(row, i))
		}
	}
	return all
}

func TestEachColumnHasExactlyTheRowsOfItsSlots(t *testing.T) {
	w := collectionCutAt(1, routing.EvenHashes(64)...)
	r := New(w, nil, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	want := map[time.Time]int64{}
	for i := range 6 * 120 {
		from := begin.Add(time.Duration(i) * heat.Tick)
		every := int64(1)
		if i%5 == 0 {
			every = 10
		}
		s := countedSlot(w, from, every, randomCounts(rng)...)
		want[from.Truncate(time.Minute)] += s.Rows() * every
		r.Take(s)
	}
	for _, by := range []By{ByKey, ByProject} {
		v, ok := r.View(ns, by, begin, begin.Add(3*time.Hour))
		must.That(t, ok && len(v.Columns) == 120, "%s: %d columns", by, len(v.Columns))
		for i, c := range v.Columns {
			got := c.Astray
			for row := range v.Rows() {
				got += v.At(row, i)
			}
			if got != want[c.From] || c.Covered != time.Minute || !c.Sampled || c.Step != time.Minute {
				t.Fatalf("%s, %s: %d rows, want %d; %+v", by, c.From, got, want[c.From], c)
			}
		}
	}
}

func TestUncountedMinuteHasNoColumn(t *testing.T) {
	w := collectionCutAt(1, routing.EvenHashes(8)...)
	r := New(w, nil, nil)
	for _, minute := range []int{0, 1, 5, 6} {
		for i := range 6 {
			if minute == 5 && i < 3 {
				continue
			}
			r.Take(countedSlot(w, begin.Add(time.Duration(minute)*time.Minute+time.Duration(i)*heat.Tick), 1))
		}
	}
	v, _ := r.View(ns, ByKey, begin, begin.Add(time.Hour))
	if len(v.Columns) != 4 || v.Columns[2].From != begin.Add(5*time.Minute) || v.Columns[2].Covered != 30*time.Second {
		t.Errorf("got columns %+v, want 4, the third from the sixth minute and covered for 30 s", v.Columns)
	}
	if n, ok := v.PerSecond(0, 0); n != 0 || !ok {
		t.Error("a counted minute without writes must be 0, got", n, ok)
	}
}

// Random splits and merges at random times lose no writes and exceed no limit.
func TestMergingNeverLosesAWriteAndStaysWithinItsLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rng := rand.New(rand.NewPCG(seed, 2))
		w := collectionCutAt(1, routing.EvenHashes(1+rng.IntN(40))...)
		r := New(w, nil, nil)
		var want int64
		at := begin
		for range 250 {
			switch rng.IntN(40) {
			case 0: // new chunk bounds
				var cuts []int64
				for range rng.IntN(60) {
					cuts = append(cuts, int64(rng.Uint64()))
				}
				w.table.Store(collectionCutAt(1, cuts...).Table())
			case 1: // a pause in counting
				at = at.Add(time.Duration(rng.IntN(500)) * time.Minute)
			}
			s := countedSlot(w, at, 1+9*rng.Int64N(2), randomCounts(rng)...)
			want += s.Rows() * s.Every
			r.Take(s)
			at = at.Add(time.Duration(1+rng.IntN(30)) * heat.Tick)
		}
		if at.Sub(begin) > Reach {
			rt.Skip("the time span is longer than the recorder keeps")
		}
		r.Take(countedSlot(w, at.Truncate(time.Minute).Add(time.Minute), 1)) // closes the last minute
		for _, by := range []By{ByKey, ByProject} {
			v, _ := r.View(ns, by, begin.Add(-Reach), at)
			if got := totalWrites(v); got != want {
				rt.Fatalf("%s: %d rows, want %d", by, got, want)
			}
			if !slices.IsSortedFunc(v.Columns, func(a, b Column) int { return a.From.Compare(b.From) }) {
				rt.Fatal("columns are not in order")
			}
			for i := range len(v.Columns) - 1 {
				if v.Columns[i].End().After(v.Columns[i+1].From) {
					rt.Fatalf("columns overlap: %+v %+v", v.Columns[i], v.Columns[i+1])
				}
			}
		}
	})
}

func TestFiveWeeksFitTheColumnLimitAndLayersAgree(t *testing.T) {
	only.Long(t, "counts every minute of five weeks, which takes long")
	w := collectionCutAt(1, routing.EvenHashes(4)...)
	r := New(w, nil, nil)
	minutes := int((Reach + 12*time.Hour) / time.Minute)
	most := 0
	for i := range minutes {
		r.Take(minuteSlot(w, i, heat.Count{Project: documentID(i % 3), Document: documentID(i % 50), Rows: 2}))
		if i > minutes-600 {
			most = max(most, len(r.find(ns, ByKey).columns))
		}
	}
	v, _ := r.View(ns, ByKey, begin, begin.Add(2*Reach))
	if most > MaxColumns || most < 800 || len(v.Columns) > most {
		t.Errorf("%d columns, then %d", most, len(v.Columns))
	}
	steps := map[time.Duration]int{}
	for i, c := range v.Columns {
		steps[c.Step]++
		var rows int64
		for row := range v.Rows() {
			rows += v.At(row, i)
		}
		if rows != int64(c.Step/time.Minute)*2 || c.Covered != c.Step {
			t.Fatalf("column of %s has %d rows, covered %s", c.Step, rows, c.Covered)
		}
		must.That(t, i <= 0 || v.Columns[i-1].End().Equal(c.From), "no column before %s", c.From)
	}
	if len(steps) != len(layers) || v.Columns[0].From.Before(begin.Add(12*time.Hour-4*time.Hour)) {
		t.Errorf("%v from %s", steps, v.Columns[0].From)
	}
}

func TestHotChunksHaveOwnRowsAmongAHundredThousand(t *testing.T) {
	w := collectionCutAt(1, routing.EvenHashes(100_000)...)
	r := New(w, nil, nil)
	hot := []heat.Count{}
	for d := range 40 {
		hot = append(hot, heat.Count{Project: documentID(1), Document: documentID(d), Rows: 50})
	}
	var want int64
	for i := range 130 { // longer than the hour after which rows are chosen again
		s := minuteSlot(w, i, hot...)
		want += s.Rows()
		r.Take(s)
	}
	v, _ := r.View(ns, ByKey, begin, begin.Add(24*time.Hour))
	if v.Rows() > MaxRows || v.Rows() < MaxRows/2 || totalWrites(v) != want {
		t.Fatalf("%d rows, %d writes of %d", v.Rows(), totalWrites(v), want)
	}
	chunks := w.Table().Collection(ns).Chunks
	last := len(v.Columns) - 1
	for d := range 40 {
		i, c := chunks.Find(shardkey.HashKey(shardkey.HashObjectID(documentID(d))))
		row, found := slices.BinarySearchFunc(v.Bounds, c.Min, shardkey.Key.Compare)
		if !found || i+1 < chunks.Len() && row+1 < v.Rows() && v.Bounds[row+1].Compare(c.Max) != 0 {
			t.Fatalf("hot chunk %d has no row of its own", i)
		}
		if v.At(row, last) < 50 {
			t.Errorf("row %d: %d, want at least 50", row, v.At(row, last))
		}
	}
	before := slices.Clone(v.Bounds)
	for i := 130; i < 260; i++ {
		r.Take(minuteSlot(w, i, hot...))
	}
	after, _ := r.View(ns, ByKey, begin, begin.Add(24*time.Hour))
	if !sameBounds(before, after.Bounds) {
		t.Error("the rows of the heat map changed although neither chunks nor heat did")
	}
}

func TestProjectsNotKeptByNameAreUnknownNotZero(t *testing.T) {
	w := collectionCutAt(1)
	r := New(w, nil, nil)
	minute := func(i int, counts ...heat.Count) {
		r.Take(minuteSlot(w, i, counts...))
	}
	var many []heat.Count
	for p := range maxNamed + 100 {
		many = append(many, heat.Count{Project: documentID(p), Document: documentID(p), Rows: int64(1000 - p)})
	}
	minute(0, many...)
	minute(1, heat.Count{Project: documentID(maxNamed + 5), Document: documentID(9), Rows: 3})
	v, _ := r.View(ns, ByProject, begin, begin.Add(time.Hour))
	row := slices.Index(v.IDs, documentID(maxNamed+5))
	must.That(t, row >= 0 && v.At(row, 0) == Unknown && v.At(row, 1) == 3, "row %d of %d", row, len(v.IDs))
	if first := slices.Index(v.IDs, documentID(0)); v.At(first, 0) != 1000 || v.At(first, 1) != 0 {
		t.Errorf("got %d %d, want v.At(first, 0) 1000, v.At(first, 1) 0", v.At(first, 0), v.At(first, 1))
	}
	if _, known := v.PerSecond(row, 0); known {
		t.Error("an unknown project has a rate")
	}
}

func openStore(t *testing.T) *sqlite.DB {
	t.Helper()
	db := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// runRecorder runs a recorder with a store while during is called.
func runRecorder(t *testing.T, w *swappableTable, s store.HeatPictures, during func(r *Recorder)) *Recorder {
	t.Helper()
	r := New(w, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	must.Do(t, r.adopt(ctx, "c1"))
	done := make(chan error)
	go func() { done <- r.keepSaving(ctx, "c1") }()
	during(r)
	cancel()
	<-done
	return r
}

func TestRestartedRecorderShowsTheSamePicture(t *testing.T) {
	db := openStore(t)
	w := collectionCutAt(1, routing.EvenHashes(200)...)
	rng := rand.New(rand.NewPCG(4, 4))
	feed := func(r *Recorder, from, to int) {
		for i := from; i < to; i++ {
			if i == 300 {
				w.table.Store(collectionCutAt(1, routing.EvenHashes(220)...).Table())
			}
			r.Take(minuteSlot(w, i, randomCounts(rng)...))
		}
	}
	first := runRecorder(t, w, db, func(r *Recorder) { feed(r, 0, 900) })
	again := runRecorder(t, w, db, func(*Recorder) {})
	for _, by := range []By{ByKey, ByProject} {
		a, _ := first.View(ns, by, begin, begin.Add(Reach))
		b, ok := again.View(ns, by, begin, begin.Add(Reach))
		a.Version, b.Version = 0, 0
		if !ok || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: differs after a restart: %d and %d columns", by, len(a.Columns), len(b.Columns))
		}
	}
	// Recording continues, and a third recorder loads both parts.
	want := totalWrites(viewOnly(again.View(ns, ByKey, begin, begin.Add(Reach))))
	runRecorder(t, w, db, func(r *Recorder) { feed(r, 900, 960) })
	third := runRecorder(t, w, db, func(*Recorder) {})
	v, _ := third.View(ns, ByKey, begin, begin.Add(Reach))
	if totalWrites(v) <= want || !v.Columns[len(v.Columns)-1].End().Equal(begin.Add(960*time.Minute)) {
		t.Errorf("%d writes after %d", totalWrites(v), want)
	}
}

// Two recorders count the same writes. The second begins to lead when the first has saved all but
// its last minutes, and continues its picture.
func TestNextLeaderContinuesThePictureOfTheOneBefore(t *testing.T) {
	db := openStore(t)
	w := collectionCutAt(1, routing.EvenHashes(200)...)
	rng := rand.New(rand.NewPCG(4, 4))
	leader, follower := New(w, db, nil), New(w, db, nil)
	must.Do(t, leader.adopt(t.Context(), "c1"))
	total := int64(0)
	for i := range 60 {
		if i == 30 {
			w.table.Store(collectionCutAt(1, routing.EvenHashes(220)...).Table())
		}
		s := minuteSlot(w, i, randomCounts(rng)...)
		for _, c := range s.Counts {
			total += c.Rows
		}
		if i < 50 {
			leader.Take(s)
		}
		if i == 45 {
			must.Do(t, leader.save(t.Context(), "c1"))
		}
		if i >= 20 { // it was started later
			follower.Take(s)
		}
		if i == 55 {
			must.Do(t, follower.adopt(t.Context(), "c1"))
			follower.Take(countedSlot(w, begin.Add(40*time.Minute), 1, randomCounts(rng)...)) // late: counted by the leader
		}
	}
	must.Do(t, follower.save(t.Context(), "c1"))
	for name, r := range map[string]*Recorder{"in memory": follower, "as stored": runRecorder(t, w, db, func(*Recorder) {})} {
		for _, by := range []By{ByKey, ByProject} {
			v, _ := r.View(ns, by, begin, begin.Add(time.Hour))
			must.That(t, len(v.Columns) == 60, "%s, %s: %d columns", name, by, len(v.Columns))
			for i, c := range v.Columns {
				if !c.From.Equal(begin.Add(time.Duration(i)*time.Minute)) || c.Covered != time.Minute {
					t.Errorf("%s, %s: column %d is %+v", name, by, i, c)
				}
			}
		}
		if got := totalWrites(viewOnly(r.View(ns, ByProject, begin, begin.Add(time.Hour)))); got != total {
			t.Errorf("%s: %d writes, want %d", name, got, total)
		}
	}
}

func viewOnly(v View, _ bool) View { return v }

func TestRecreatedCollectionHasItsOwnPicture(t *testing.T) {
	db := openStore(t)
	w := collectionCutAt(1, routing.EvenHashes(20)...)
	r := runRecorder(t, w, db, func(r *Recorder) {
		for i := range 12 {
			r.Take(countedSlot(w, begin.Add(time.Duration(i)*heat.Tick), 1, heat.Count{Document: documentID(i), Rows: 5}))
		}
		w.table.Store(collectionCutAt(2, routing.EvenHashes(3)...).Table())
		for i := 12; i < 24; i++ {
			r.Take(countedSlot(w, begin.Add(time.Duration(i)*heat.Tick), 1, heat.Count{Document: documentID(i), Rows: 5}))
		}
	})
	v, _ := r.View(ns, ByKey, begin, begin.Add(time.Hour))
	if len(v.Columns) != 2 || v.Rows() != 3 {
		t.Errorf("%d columns, %d rows, want len(v.Columns) 2, v.Rows() 3", len(v.Columns), v.Rows())
	}
	if p, _ := r.View(ns, ByProject, begin, begin.Add(time.Hour)); len(p.Columns) != 4 {
		t.Errorf("projects go on: %d columns, want 4", len(p.Columns))
	}
	axes, columns, err := db.LoadHeat(t.Context(), "c1")
	if err != nil || len(axes) != 1 || len(columns) != 6 {
		t.Errorf("%d axes, %d columns, %v, want len(axes) 1, len(columns) 6", len(axes), len(columns), err)
	}
}

// failingStore is a store that cannot write while failing is set.
type failingStore struct {
	store.HeatPictures
	fail bool
}

func (f *failingStore) SaveHeat(ctx context.Context, cluster string, c store.HeatChange) error {
	if f.fail {
		return context.DeadlineExceeded
	}
	return f.HeatPictures.SaveHeat(ctx, cluster, c)
}

func TestFailedSaveIsRetriedLater(t *testing.T) {
	db := openStore(t)
	w := collectionCutAt(1, routing.EvenHashes(20)...)
	f := &failingStore{db, true}
	r := New(w, f, nil)
	must.Do(t, r.adopt(t.Context(), "c1"))
	for i := range 60 {
		r.Take(countedSlot(w, begin.Add(time.Duration(i)*heat.Tick), 1, heat.Count{Document: documentID(i), Rows: 5}))
		if i%6 == 5 {
			must.That(t, r.save(t.Context(), "c1") != nil, "the failing store has saved data")
		}
	}
	f.fail = false
	must.Do(t, r.save(t.Context(), "c1"))
	again := runRecorder(t, w, db, func(*Recorder) {})
	if v, _ := again.View(ns, ByKey, begin, begin.Add(time.Hour)); totalWrites(v) != 300 {
		t.Errorf("%d writes, want 300", totalWrites(v))
	}
}

func TestDamagedStoredDataIsAGap(t *testing.T) {
	for _, b := range [][]byte{nil, {1}, {2, 0, 0, 0}, {1, 0, 0x80}, {1, 0, 1, 0x80}} {
		expect.That(t, must.Err(unpackColumn(b)) != nil, "the damaged column %v was decoded without an error", b)
	}
	for _, cells := range [][]byte{{0x80}, {1}, {1, 1, 9, 9}} {
		if c := (&column{axis: &axis{bounds: make([]shardkey.Key, 5)}, cells: cells}); c.valid() {
			t.Errorf("the cells %v were accepted for five rows", cells)
		}
	}
	expect.That(t, must.Err(unpackAxis(1, []byte{1, 2, 3})) != nil, "a damaged axis was decoded without an error")
}
