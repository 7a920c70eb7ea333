package topology

import (
	"bufio"
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

func columnsOf(tb testing.TB, m *ChunkMap) []byte {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	must.Do(tb, m.WriteColumns(w))
	must.Do(tb, w.Flush())
	return out.Bytes()
}

func readColumns(b []byte, p shardkey.Pattern) (*ChunkMap, error) {
	left := int64(len(b))
	return ReadColumns(bufio.NewReader(bytes.NewReader(b)), &left, p)
}

// A map that was written is read back as it was, counts, flags and further changes included, and what is cut off or
// changed is refused or some map, but ends no process.
func TestChunkMapsAreReadBackAsTheyWereWritten(t *testing.T) {
	shards := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(rt *rapid.T) {
		p := ranged(t)
		w := &referenceMap{p: p, cuts: []int64{lowest}, rows: []Chunk{row(t, p, lowest, highest, "a", 1, 0)}, major: 1, minor: 1}
		n := func(k int) int { return rapid.IntRange(0, k-1).Draw(rt, "n") }
		m := mustBuild(t, p, w.rows...)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.randomChange(t, n, shards)
			next, _, err := m.Apply(w.changedSince(m.Highest()))
			must.Do(rt, err)
			flagged := next.At(n(next.Len()))
			flagged.Jumbo = n(2) == 0
			m, _ = next.Reflag([]Chunk{flagged})
		}
		b := columnsOf(t, m)
		back, err := readColumns(b, p)
		if err != nil || !back.Equal(m) || back.Highest() != m.Highest() || back.Jumbo() != m.Jumbo() {
			rt.Fatalf("%d of %d chunks, %v", back.Len(), m.Len(), err)
		}
		for s, chunks := range m.CountByShard() {
			if back.CountByShard()[s] != chunks {
				rt.Fatalf("%s has %d chunks, want %d", s, back.CountByShard()[s], chunks)
			}
		}
		w.randomChange(t, n, shards)
		was, _, err := m.Apply(w.changedSince(m.Highest()))
		must.Do(rt, err)
		if is, _, err := back.Apply(w.changedSince(m.Highest())); err != nil || !is.Equal(was) {
			rt.Fatalf("after a further change: %v", err)
		}
		if _, err := readColumns(b[:n(len(b))], p); err == nil {
			rt.Fatal("a cut off map was read")
		}
		b[n(len(b))] ^= byte(1 + n(255))
		_, _ = readColumns(b, p)
	})
}
