package history

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
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
		if n != 2003 {
			t.Errorf("room for %d chunks was asked for", n)
		}
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
	if must.Get(SavedMark(a)) == must.Get(SavedMark(b)) {
		t.Error("a newer version makes the same mark")
	}
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
