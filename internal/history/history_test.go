package history

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/shardkey"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// world is a routing table that changes as that of a cluster does.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	table *topology.Table
	major uint32
}

// evenChunks cuts the hash space into n chunks on three shards.
func evenChunks(n int) *topology.ChunkMap {
	p := routing.Pattern("k#")
	m := routing.Chunks(p, routing.Bounds(p, routing.EvenHashes(n)...), shardName(0), shardName(1), shardName(2))
	rows := m.Delta(nil)
	for i := range rows {
		rows[i].Since = bson.Timestamp{T: 1700000000, I: 1}
	}
	return must.Get(topology.BuildChunks(p, rows))
}

func shardName(i int) string { return string(rune('a'+i)) + "-shard" }

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), major: 1}
	m := evenChunks(40)
	meta := topology.Meta{NS: "db.things", Key: routing.Pattern("k#"),
		Incarnation: topology.Incarnation{UUID: [16]byte{1}, Timestamp: bson.Timestamp{T: 5, I: 1}}}
	w.table = &topology.Table{ClusterID: "c1", Seq: 1, Loaded: true, ServerInfo: topology.ServerInfo{Version: "5.0.7", ClusterID: "c1"},
		Shards:      []topology.Shard{{Name: shardName(0)}, {Name: shardName(1), Zones: []string{"eu"}}, {Name: shardName(2)}},
		Collections: []*topology.Collection{{Meta: meta, Highest: m.Highest(), Chunks: m}},
		Sizes:       map[topology.Namespace]topology.Sizes{}, Health: healthAt(time.Now())}
	return w
}

// changeAtRandom moves, splits or merges a chunk, flags one, or changes a zone.
func (w *world) changeAtRandom() {
	next := *w.table
	next.Seq++
	c := *next.Collections[0]
	i := w.rng.IntN(c.Chunks.Len())
	chunk := c.Chunks.At(i)
	w.major++
	chunk.Version = topology.Version{Major: w.major}
	var rows []topology.Chunk
	switch w.rng.IntN(5) {
	case 0:
		chunk.Shard = shardName(w.rng.IntN(3))
		rows = []topology.Chunk{chunk}
	case 1:
		lo, _ := chunk.Min.HashFloor()
		hi, ok := chunk.Max.HashFloor()
		if !ok {
			hi = math.MaxInt64
		}
		if hi/2-lo/2 < 2 {
			return
		}
		cut := shardkey.HashKey(lo/2 + hi/2)
		left, right := chunk, chunk
		left.Max, right.Min = cut, cut
		right.Version.Minor = 1
		rows = []topology.Chunk{left, right}
	case 2:
		if i+1 == c.Chunks.Len() {
			return
		}
		chunk.Max = c.Chunks.At(i + 1).Max
		rows = []topology.Chunk{chunk}
	case 3:
		chunk.Version = c.Chunks.At(i).Version
		chunk.Jumbo = !chunk.Jumbo
		m, missed := c.Chunks.Reflag([]topology.Chunk{chunk})
		must.That(w.t, !missed, "the jumbo flag was not set")
		c.Chunks = m
	case 4:
		next.Zones = append(slices.Clone(next.Zones), topology.ZoneRange{NS: c.NS, Zone: "eu", Min: chunk.Min,
			Max: chunk.Max, RawMin: bson.Raw{5, 0, 0, 0, 0}, RawMax: bson.Raw{5, 0, 0, 0, 0}})
	}
	if len(rows) > 0 {
		m, _, err := c.Chunks.Apply(rows)
		must.Do(w.t, err)
		c.Chunks, c.Highest = m, m.Highest()
	}
	next.Collections = []*topology.Collection{&c}
	w.table = &next
}

func openStore(t testing.TB) *sqlite.DB {
	t.Helper()
	db := must.Get(sqlite.Open(context.Background(), t.TempDir()))
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestEveryPastStateIsRestored(t *testing.T) {
	seeds, steps := uint64(5), 200
	if testing.Short() {
		seeds, steps = 1, 100
	}
	for seed := range seeds {
		ctx, db, w := t.Context(), openStore(t), newWorld(t, seed)
		clock := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		now := func() time.Time { return clock }
		rec := NewRecorder(db, nil, nil, now)
		type seen struct {
			at    time.Time
			table *topology.Table
		}
		var all []seen
		for i := range steps {
			must.Do(t, rec.Note(ctx, w.table))
			all = append(all, seen{clock, w.table})
			if i == steps/2 { // the process restarts
				rec = NewRecorder(db, nil, nil, now)
			}
			clock = clock.Add(time.Second)
			w.changeAtRandom()
		}
		past := NewPast(db, nil)
		for _, s := range all {
			m, err := past.At(ctx, "c1", s.at.Add(time.Millisecond))
			must.Do(t, err)
			if !m.Table.Collections[0].Chunks.Equal(s.table.Collections[0].Chunks) {
				t.Fatalf("seed %d: the restored chunks of %s differ from the recorded ones", seed, s.at)
			}
			if len(m.Table.Zones) != len(s.table.Zones) || len(m.Table.Shards) != 3 || m.Table.Shards[1].Zones[0] != "eu" {
				t.Fatalf("seed %d: the restored frame of %s differs from the recorded one", seed, s.at)
			}
		}
	}
}

func TestTimeBeforeHistoryReportsWhereItBegins(t *testing.T) {
	ctx, db, w := t.Context(), openStore(t), newWorld(t, 1)
	if _, err := NewPast(db, nil).At(ctx, "c1", time.Now()); fault.Of(err) != fault.NotFound {
		t.Fatalf("got %v, want kind %v", err, fault.NotFound)
	}
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rec := NewRecorder(db, nil, nil, func() time.Time { return start })
	must.Do(t, rec.Note(ctx, w.table))
	_, err := NewPast(db, nil).At(ctx, "c1", start.Add(-time.Hour))
	if fault.Of(err) != fault.NotFound ||
		fault.Text(err) != "There is no history of 2026-02-28T23:00:00Z: the history of this cluster begins at 2026-03-01T00:00:00Z." {
		t.Fatal(err)
	}
}

// A restart is a gap too, however short.
func TestGapInObservationIsReported(t *testing.T) {
	for _, gap := range []time.Duration{time.Hour, 40 * time.Second} {
		ctx, db, w := t.Context(), openStore(t), newWorld(t, 1)
		start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for _, at := range []time.Time{start, start.Add(gap)} {
			must.Do(t, NewRecorder(db, nil, nil, func() time.Time { return at }).Note(ctx, w.table))
		}
		m, err := NewPast(db, nil).At(ctx, "c1", start.Add(gap/2))
		if err != nil || m.Watched || !m.Last.Equal(start) || !m.Next.Equal(start.Add(gap)) {
			t.Fatalf("got %+v %v, want an unobserved moment in a gap of %s", m, err, gap)
		}
		if m, err = NewPast(db, nil).At(ctx, "c1", start); err != nil || !m.Watched {
			t.Fatalf("got %+v %v, want Watched true", m, err)
		}
		c := w.table.Collections[0]
		bytes := m.Table.SizeOn(c.NS, c.Chunks.Owner(0)).Bytes
		expect.That(t, !bytes.Known && bytes.Reason == "notRecorded", "sizes that nobody recorded: %+v", bytes)
	}
}

func TestCompareCountsTheChangesBetweenTwoTimes(t *testing.T) {
	w := newWorld(t, 7)
	before := w.table
	c := *before.Collections[0]
	chunk := c.Chunks.At(3)
	chunk.Shard, chunk.Version = shardName(
		(slices.Index([]string{shardName(0), shardName(1), shardName(2)}, chunk.Shard)+1)%3,
	), topology.Version{Major: 9}
	m, _, err := c.Chunks.Apply([]topology.Chunk{chunk})
	must.Do(t, err)
	c.Chunks = m
	after := *before
	after.Collections = []*topology.Collection{&c}
	got := Compare(before, &after, true)
	if len(got.Collections) != 1 || got.Collections[0].Moved != 1 || got.Collections[0].Split != 0 || len(got.Shards) != 3 {
		t.Fatalf("got %+v, want len(Collections) 1, Collections[0].Moved 1, Collections[0].Split 0, len(Shards) 3", got)
	}
	if got.Shards[0].ChunksBefore+got.Shards[1].ChunksBefore+got.Shards[2].ChunksBefore != 40 || got.Shards[0].BytesBefore.Known {
		t.Fatalf("got %+v, want 40 chunks before and no known bytes", got.Shards)
	}
	if same := Compare(before, before, true); len(same.Collections) != 0 {
		t.Fatalf("got %+v, want len(Collections) 0", same)
	}
}

func TestCompareIncludesUnshardedDataInShardSizes(t *testing.T) {
	w := newWorld(t, 7)
	table := *w.table
	size := func(n int64) topology.Sizes {
		return topology.Sizes{
			At:     noon,
			Shards: map[string]topology.Size{shardName(0): {Bytes: topology.Figure{Known: true, Exact: true, Value: n, At: noon}}},
		}
	}
	// The server's own collections are not user data.
	own := *table.Collections[0]
	own.NS = "config.system.sessions"
	table.Collections = append([]*topology.Collection{&own}, table.Collections...)
	table.Unsharded = []topology.Namespace{"db.plain"}
	table.Sizes = map[topology.Namespace]topology.Sizes{"db.things": size(100), "db.plain": size(7)}
	got := Compare(&table, &table, true).Shards
	if !got[0].BytesAfter.Known || got[0].BytesAfter.Value != 107 || !got[1].BytesAfter.Known || got[1].BytesAfter.Value != 0 {
		t.Fatalf("got %+v, want 107 bytes on the first shard and none on the second", got)
	}
}

func TestWholeStatesAreWrittenAsListsOfRows(t *testing.T) {
	m := evenChunks(5000)
	flagged := m.At(17)
	flagged.Jumbo = true
	m, _ = m.Reflag([]topology.Chunk{flagged})
	body := packChunks(m)
	plainBody, err := unpack(body)
	must.Do(t, err)
	rows, err := decodeChunks(plainBody)
	must.That(t, err == nil && slices.Equal(rows, m.Delta(nil)), "%d rows, want %d; %v", len(rows), m.Len(), err)
	back, err := unpackChunks(routing.Pattern("k#"), body)
	must.That(t, err == nil && back.Equal(m), "%d chunks, want %d; %v", back.Len(), m.Len(), err)
	again, err := unpackChunks(routing.Pattern("k#"), pack(encodeChunks(rows)))
	expect.That(t, err == nil && again.Equal(m), "a body that was written as a list: %v", err)
}

func TestDamagedWholeStatesAreErrors(t *testing.T) {
	good, err := unpack(packChunks(evenChunks(300)))
	must.Do(t, err)
	for i := 0; i < len(good); i += 3 {
		cut := append([]byte{plain}, good[:i]...)
		if _, err := unpackChunks(routing.Pattern("k#"), cut); err == nil {
			t.Fatalf("a body that ends after %d of %d bytes was read", i, len(good))
		}
		if i%7 != 0 {
			continue
		}
		changed := append([]byte{plain}, good...)
		changed[i+1] ^= 0xff
		_, _ = unpackChunks(routing.Pattern("k#"), changed) // any answer but a panic
	}
	for _, b := range [][]byte{nil, {deflated}, {7, 1, 2}} {
		expect.That(t, must.Err(unpackChunks(routing.Pattern("k#"), b)) != nil, "%v was read", b)
	}
}
