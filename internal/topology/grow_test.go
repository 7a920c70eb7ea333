package topology

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
)

// split cuts chunk i in two at a key.
func (c *fakeColl) split(t testing.TB, i int, at int64) {
	left, right := c.rows[i], c.rows[i]
	v := c.highest()
	key := row(t, c.meta.Key, at, highest, "x", 1, 1).Min
	left.Max, right.Min = key, key
	left.Version, right.Version = Version{v.Major, v.Minor + 1}, Version{v.Major, v.Minor + 2}
	c.rows = slices.Replace(c.rows, i, i+1, left, right)
}

// A collection that finds no room stays as it was and says why, and is read when there is room. A move needs none.
func TestCollectionsThatFindNoRoomStayAsTheyWere(t *testing.T) {
	var full atomic.Bool
	var asked atomic.Int64
	grow := func(bytes int64) (int64, bool) {
		asked.Add(bytes)
		return 1000, !full.Load()
	}
	f := newFake(t)
	moves, grows := f.add("db.moves", 1, 0, 10), f.add("db.grows", 2, 0, 10)
	withWatcher(t, f, Options{Grow: grow}, func(w *Watcher) {
		before := w.Table().Collection("db.grows").Chunks
		if asked.Load() < int64(2*before.Len()) {
			t.Errorf("only %d bytes were asked for", asked.Load())
		}
		full.Store(true)
		f.change(func() {
			moves.move(0, "b")
			grows.split(t, 0, -10)
			f.add("db.new", 3, 0)
		})
		wait(5 * time.Second)
		now := w.Table()
		for ns, want := range map[Namespace]struct {
			chunks int
			text   string
		}{
			"db.grows": {1, "db.grows is shown as it was before: a new chunk needs about 64 B of memory, and about 1000 B is left."},
			"db.new":   {2, "db.new is not loaded: its 2 chunks need about 128 B of memory, and about 1000 B is left."},
		} {
			d := now.DamageOf(ns)
			if d == nil || d.Kind != DamageUnread || d.NoRoom == nil || d.NoRoom.Chunks != want.chunks ||
				!strings.HasPrefix(strings.ReplaceAll(d.Text, "\u202f", " "), want.text) {
				t.Errorf("%s: %+v", ns, d)
			}
		}
		if got := now.Collection("db.grows"); got == nil || got.Chunks != before || now.Collection("db.new") != nil {
			t.Error("it grew")
		}
		if sizes := now.Sizes["db.new"]; sizes.Shards["a"].Bytes.Value != 7 || !sizes.Sharded {
			t.Errorf("what its shards tell of it is not read: %+v", sizes)
		}
		if now.Collection("db.moves").Chunks.Owner(0) != "b" || now.DamageOf("db.moves") != nil {
			t.Error("a move was not followed")
		}
		f.change(func() { moves.move(1, "c") })
		full.Store(false)
		wait(roomEvery + 5*time.Second)
		now = w.Table()
		if now.Collection("db.grows").Chunks.Len() != 4 || now.Collection("db.new") == nil || len(now.Damaged) > 0 {
			t.Errorf("not read again: %+v", now.Damaged)
		}
		if f.count("AllChunks") != 4 { // two at first, and the new one twice
			t.Errorf("%d reads of all chunks; what had only grown is not read as a whole", f.count("AllChunks"))
		}
	})
}

// meter is a limit of memory over what a watcher of a fake cluster has and what it is reading, by estimates.
type meter struct {
	mu      sync.Mutex
	tables  func() *Table
	limit   int64
	most    int64
	reading map[Namespace]int
	turn    time.Time
}

// used is called with mu held. What a turn has read is in the table, or given up, when it ends.
func (m *meter) used() int64 {
	chunks := 0
	if m.tables != nil {
		t := m.tables()
		if at := t.Health[PartRouting].At; at != m.turn {
			m.turn = at
			clear(m.reading)
		}
		for _, c := range t.Collections {
			chunks += c.Chunks.Len()
		}
	}
	for _, n := range m.reading {
		chunks += n
	}
	m.most = max(m.most, ChunkBytes(chunks))
	return ChunkBytes(chunks)
}

func (m *meter) row(ns Namespace, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reading[ns] = n + 1; n%500 == 0 {
		m.used()
	}
}

func (m *meter) grow(bytes int64) (left int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := m.used()
	return max(m.limit-used, 0), used+bytes <= m.limit
}

func (m *meter) set(limit int64, tables func() *Table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit, m.tables = limit, tables
}

// A cluster grows to four times the limit. What fits is loaded and followed; what does not fit says what it needs, is
// not read again and again while it changes, and is loaded when the limit is raised.
func TestAClusterThatGrowsToFourTimesTheLimit(t *testing.T) {
	const limit = 24_000 // chunks
	cuts := func(n int64) (out []int64) {
		for i := range n - 1 {
			out = append(out, i)
		}
		return out
	}
	f := newFake(t)
	m := &meter{limit: ChunkBytes(limit), reading: map[Namespace]int{}}
	f.afterRow = m.row
	small := f.add("db.small", 1, cuts(2_000)...)
	withWatcher(t, f, Options{Grow: m.grow, Slow: time.Hour, Sweep: time.Hour}, func(w *Watcher) {
		m.set(ChunkBytes(limit), w.Table)
		var huge *fakeColl
		f.change(func() {
			huge = f.add("db.huge", 2, cuts(60_000)...)
			for i, ns := range []Namespace{"db.a", "db.b", "db.c", "db.d"} {
				f.add(ns, byte(3+i), cuts(8_500)...)
			}
		})
		for range 20 { // twenty minutes in which all changes
			f.change(func() { huge.move(0, "b"); small.move(0, "b") })
			wait(30 * time.Second)
			f.change(func() { huge.move(0, "c"); small.move(0, "c") })
			wait(30 * time.Second)
			now := w.Table()
			if c := now.Collection("db.small"); c == nil || c.Highest != small.highest() || c.Chunks.Owner(0) != "c" {
				t.Fatalf("what is loaded is not followed: %+v", now.DamageOf("db.small"))
			}
			if k, c := now.Collection("db.small").Chunks.Find(small.meta.Key.Min()); k != 0 || c.Shard != "c" {
				t.Fatal("routing does not work")
			}
		}
		now := w.Table()
		d := now.DamageOf("db.huge")
		if d == nil || d.NoRoom == nil || d.NoRoom.Chunks != 60_000 || d.NoRoom.Bytes != ChunkBytes(60_000) || d.NoRoom.Left <= 0 ||
			d.NoRoom.Left > ChunkBytes(limit) {
			t.Fatalf("%+v", d)
		}
		if len(now.Collections) != 3 || len(now.Damaged) != 3 { // two of the four fit beside the small one
			t.Errorf("%d loaded, %d not", len(now.Collections), len(now.Damaged))
		}
		// The margin: each of the reads that go on at once may have been granted its next part.
		if most := ChunkBytes(limit + readParallel*growEvery); m.most > most || m.most < ChunkBytes(limit/2) {
			t.Errorf("%d bytes at most, limit %d", m.most, m.limit)
		}
		// The small one, the five at once, and once more those that fit when the others had given up.
		if n := f.count("AllChunks"); n > 12 {
			t.Errorf("%d reads of all chunks", n)
		}
		if n := f.count("CountChunks"); n > 12 {
			t.Errorf("the chunks were counted %d times", n)
		}
		m.set(ChunkBytes(4*limit+8_000), w.Table)
		wait(roomEvery + 5*time.Second)
		if now := w.Table(); len(now.Collections) != 6 || len(now.Damaged) > 0 {
			t.Errorf("%d loaded, %d not, when there was room", len(now.Collections), len(now.Damaged))
		}
	})
}

// An estimate that fits and is wrong does not have a collection read again and again.
func TestALoadThatIsRefusedTwiceWaitsLonger(t *testing.T) {
	f := newFake(t)
	grow := func(bytes int64) (int64, bool) { return 1 << 20, bytes < ChunkBytes(growEvery) }
	f.add("db.x", 1, 0)
	withWatcher(t, f, Options{Grow: grow, Slow: time.Hour, Sweep: time.Hour}, func(w *Watcher) {
		wait(2 * time.Hour)
		if n := f.count("AllChunks"); n < 6 || n > 10 { // after 30 s, 1, 2, 4, 8, 16, 30, 30 min
			t.Errorf("%d reads in two hours", n)
		}
	})
}

// What a read has taken, by an estimate, is not added to what is left of a limit: more than the limit would be "left".
func TestARefusalTellsWhatWasLeftBeforeTheRead(t *testing.T) {
	f := newFake(t)
	const limit = 3 * 64 * growEvery
	var granted atomic.Int64 // of chunks that take less than their estimate
	grow := func(bytes int64) (int64, bool) {
		used := granted.Add(bytes/4) - bytes/4
		return limit - used, used < limit-bytes
	}
	var cuts []int64
	for i := range int64(20 * growEvery) {
		cuts = append(cuts, i)
	}
	f.add("db.x", 1, cuts...)
	withWatcher(t, f, Options{Grow: grow, Slow: time.Hour, Sweep: time.Hour}, func(w *Watcher) {
		wait(5 * time.Second)
		if d := w.Table().DamageOf("db.x"); d == nil || d.NoRoom == nil || d.NoRoom.Left != limit || d.NoRoom.Bytes < limit {
			t.Fatalf("%+v", d)
		}
		granted.Store(limit / 2) // others take half of it
		wait(roomEvery + 5*time.Second)
		expect.Equal(t, w.Table().DamageOf("db.x").NoRoom.Left, limit/2, "what is left, as it is told")
	})
}
