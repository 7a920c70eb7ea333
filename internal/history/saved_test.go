package history

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// tableToSave has two collections, a zone and times of flags.
func tableToSave(chunks int) *topology.Table {
	p, at := routing.Pattern("k#"), time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	m := evenChunks(chunks)
	flagged := m.At(chunks / 2)
	flagged.Jumbo = true
	m, _ = m.Reflag([]topology.Chunk{flagged})
	lo := m.At(1).Min
	return &topology.Table{ClusterID: "c1", Loaded: true, ServerInfo: topology.ServerInfo{ClusterID: "c1", Version: "5.0.7"},
		Shards:    []topology.Shard{{Name: "a-shard"}, {Name: "b-shard"}, {Name: "c-shard", Draining: true}},
		Databases: []topology.Database{{Name: "db", Primary: "a-shard"}},
		Collections: []*topology.Collection{
			{Meta: topology.Meta{NS: "db.few", Key: p}, Highest: m.Highest(), Chunks: evenChunks(3)},
			{Meta: topology.Meta{NS: "db.many", Key: p, NoBalance: true}, Highest: m.Highest(), Chunks: m}},
		Zones:     []topology.ZoneRange{{NS: "db.many", Zone: "z", Min: lo, Max: p.Max()}},
		FlagsRead: map[topology.Namespace]time.Time{"db.many": at}}
}

func saved(t testing.TB, table *topology.Table, at time.Time) []byte {
	var out bytes.Buffer
	must.Do(t, WriteSaved(&out, table, at))
	return out.Bytes()
}

func anyRoom(int) error { return nil }

func readSaved(b []byte) (*topology.Table, error) {
	return ReadSaved(bytes.NewReader(b), int64(len(b)), anyRoom)
}

func TestASavedTableIsReadAsItWasSaved(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	was := tableToSave(2000)
	b := saved(t, was, at)
	is, err := readSaved(b)
	must.Do(t, err)
	if !is.Saved.Equal(at) || is.IsRead() || is.ClusterID != "c1" || len(is.Shards) != 3 || !is.Shards[2].Draining ||
		is.Primary("db") != "a-shard" || len(is.Zones) != 1 || is.Zones[0].Min.Compare(was.Zones[0].Min) != 0 ||
		!is.FlagsRead["db.many"].Equal(was.FlagsRead["db.many"]) {
		t.Errorf("read %+v", is)
	}
	for _, c := range was.Collections {
		if got := is.Collection(c.NS); got == nil || !got.Meta.Equal(c.Meta) || !got.Chunks.Equal(c.Chunks) {
			t.Errorf("%s differs", c.NS)
		}
	}
	later := at.Add(time.Hour)
	copy(b, SavedStamp(later))
	if is, err = readSaved(b); err != nil || !is.Saved.Equal(later) {
		t.Errorf("with a newer time: %v", err)
	}
	full := errors.New("no room")
	if _, err := ReadSaved(bytes.NewReader(b), int64(len(b)), func(n int) error {
		expect.That(t, n == 2003, "room for %d chunks was asked for", n)
		return full
	}); !errors.Is(err, full) {
		t.Errorf("without room: %v", err)
	}
}

// Whatever byte is missing or changed, nothing is shown of the file.
func TestDamagedSavedTablesAreRefused(t *testing.T) {
	b := saved(t, tableToSave(400), time.Now())
	for i := range b {
		if i%5 == 0 {
			if _, err := readSaved(b[:i]); !errors.Is(err, ErrNotSaved) {
				t.Fatalf("%d of %d bytes: %v", i, len(b), err)
			}
		}
		b[i] ^= 0x15
		if _, err := readSaved(b); !errors.Is(err, ErrNotSaved) {
			t.Fatalf("changed byte %d of %d: %v", i, len(b), err)
		}
		b[i] ^= 0x15
	}
	if _, err := readSaved(append(b, 0)); !errors.Is(err, ErrNotSaved) {
		t.Errorf("a longer file: %v", err)
	}
}

func TestTheMarkOfASavedTableTellsWhetherToWriteItAgain(t *testing.T) {
	a, b := tableToSave(400), tableToSave(400)
	b.Seq, b.FlagsRead = 7, nil
	expect.Equal(t, must.Get(SavedMark(a)), must.Get(SavedMark(b)), "other times make another mark")
	c := b.Collections[1]
	b.Collections[1] = &topology.Collection{Meta: c.Meta, Highest: topology.Version{Major: 99}, Chunks: c.Chunks}
	expect.That(t, must.Get(SavedMark(a)) != must.Get(SavedMark(b)), "a newer version makes the same mark")
}

// BenchmarkReadSavedTableOfMillion is a start with a million chunks of hashed keys.
func BenchmarkReadSavedTableOfMillion(b *testing.B) {
	written := saved(b, tableToSave(1_000_000), time.Now())
	for b.Loop() {
		must.Get(readSaved(written))
	}
	b.ReportMetric(float64(len(written))/1e6, "MB")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/read")
}

// Disk usage changes all the time and would otherwise be recorded at every poll.
func TestDiskUsageIsNotRecordedAndThePastSaysSo(t *testing.T) {
	kept := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	defer kept.Close()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	w := newWorld(t, 1)
	counting := &countingStore{History: kept}
	r := NewRecorder(counting, nil, nil, now)
	for i := range 20 {
		next := *w.table
		next.Seq++
		next.Disks = map[string]topology.Disk{shardName(0): {
			Used:  topology.Figure{Known: true, Value: int64(1000 * i), Method: "dbStats", At: at},
			Total: topology.Figure{Known: true, Value: 1_000_000, Method: "dbStats", At: at},
		}}
		w.table = &next
		must.Do(t, r.Note(t.Context(), w.table))
		at = at.Add(time.Minute)
	}
	expect.Equal(t, counting.n, 1, "writes for one table whose disks moved")
	m, err := NewPast(kept, now).At(t.Context(), "c1", at)
	must.Do(t, err)
	for _, s := range m.Table.Shards {
		if d := m.Table.DiskOf(s.Name); d.Known() || d.Used.Reason != "notKept" {
			t.Errorf("%s: %+v", s.Name, d)
		}
	}
	if m.Table.Health[topology.PartDisks].At.IsZero() ||
		slices.ContainsFunc(m.Table.Shards, func(s topology.Shard) bool { return m.Table.DiskOld(s.Name, at.Add(time.Hour)) }) {
		t.Error("the disks of the past have no read time or are shown as outdated")
	}
}

// countingStore counts the writes of history.
type countingStore struct {
	store.History
	n int
}

func (a *countingStore) AppendHistory(ctx context.Context, cluster string, entries []store.HistoryEntry,
	events []store.HistoryEvent) error {
	a.n++
	return a.History.AppendHistory(ctx, cluster, entries, events)
}

// damagedStore is a store in which some rows cannot be decoded.
type damagedStore struct {
	store.History
	is func(store.HistoryEntry) bool
}

func (s damagedStore) damage(list []store.HistoryEntry, err error) ([]store.HistoryEntry, error) {
	for i := range list {
		if s.is(list[i]) {
			list[i].Body = []byte{0, 255, 123}
		}
	}
	return list, err
}

func (s damagedStore) HistoryOf(ctx context.Context, cluster, stream string, at time.Time) ([]store.HistoryEntry, error) {
	return s.damage(s.History.HistoryOf(ctx, cluster, stream, at))
}

func (s damagedStore) HistoryBetween(ctx context.Context, cluster, prefix string, from, to time.Time,
	limit int) ([]store.HistoryEntry, error) {
	return s.damage(s.History.HistoryBetween(ctx, cluster, prefix, from, to, limit))
}

func TestUnreadableChangeIsOmittedFromTheTimelineAndCounted(t *testing.T) {
	p, start, _, _, _ := recordFiftySteps(t, 3)
	q := Query{From: start, To: start.Add(time.Hour), Limit: 1000}
	whole, err := p.Timeline(t.Context(), "c1", q)
	must.That(t, err == nil && whole.Unreadable == 0, "got %v, %v, want 0", whole.Unreadable, err)
	list, err := p.kept.HistoryBetween(t.Context(), "c1", chunksPrefix, start, start.Add(time.Hour), 1000)
	must.Do(t, err)
	for name, bad := range map[string]store.HistoryEntry{"a change in the middle": list[len(list)/2], "the whole state": list[0],
		"the last change": list[len(list)-1]} {
		kept := damagedStore{p.kept, func(e store.HistoryEntry) bool { return e.Seq == bad.Seq }}
		got, err := NewPast(kept, p.now).Timeline(t.Context(), "c1", q)
		if err != nil || got.Unreadable == 0 {
			t.Errorf("%s: %d unreadable, %v, want got.Unreadable more than 0", name, got.Unreadable, err)
		}
		if bad.Seq != list[0].Seq && len(got.Items) < len(whole.Items)/3 {
			t.Errorf("%s: %d of %d items are left, want all but the unreadable ones", name, len(got.Items), len(whole.Items))
		}
	}
}

func TestUnreadableStateIsReportedAndDoesNotHideOtherTimes(t *testing.T) {
	p, start, _, _, _ := recordFiftySteps(t, 3)
	frames, err := p.kept.HistoryBetween(t.Context(), "c1", frameStream, start, start.Add(time.Hour), 100)
	must.That(t, err == nil && len(frames) >= 2, "got %v, %v, want at least 2", len(frames), err)
	bad := frames[len(frames)-1]
	past := NewPast(damagedStore{p.kept, func(e store.HistoryEntry) bool { return e.Seq == bad.Seq }}, p.now)
	if _, err := past.At(t.Context(), "c1", bad.At); fault.Of(err) != fault.Unavailable ||
		!strings.Contains(fault.Text(err), "is unreadable") {
		t.Errorf(`got %v, want kind %v, …"is unreadable"…`, err, fault.Unavailable)
	}
	expect.NoError(t, must.Err(past.At(t.Context(), "c1", bad.At.Add(-time.Millisecond))), "the time before")
	past = NewPast(damagedStore{p.kept, func(e store.HistoryEntry) bool { return strings.HasPrefix(e.Stream, chunksPrefix) }}, p.now)
	m, err := past.At(t.Context(), "c1", bad.At)
	must.Do(t, err)
	if note := m.Table.Health[topology.PartRouting].Note; len(m.Table.Collections) != 0 || len(m.Table.Shards) != 3 ||
		!strings.Contains(note, "db.things") {
		t.Errorf("%d collections, %d shards, note %q", len(m.Table.Collections), len(m.Table.Shards), note)
	}
}
