package topology_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

func TestReferencesOfEveryLengthNameTheirChunk(t *testing.T) {
	p := routing.Pattern("url")
	values := []any{int64(5), "", "\x00\xff", "a", strings.Repeat("h", 400), strings.Repeat("h", 401), strings.Repeat("x", 1<<20)}
	c := routing.Collection("app.url", p, routing.Bounds(p, values...), "a", "b")
	c.Incarnation.UUID = [16]byte{1, 2}
	for i, ch := range c.Chunks.All() {
		ref := c.Ref(ch.Min)
		expect.That(t, len(ref) == 36+1+22, "the reference of chunk %d has %d bytes", i, len(ref))
		_, alone, _ := strings.Cut(ref, ".")
		for _, form := range []string{ref, alone, must.Get(c.ExactRef(ch.Min))} {
			if at, min, err := c.ByRef(form); at != i || min.Compare(ch.Min) != 0 || err != nil {
				t.Errorf("%.90s: chunk %d, %v; want %d", form, at, err, i)
			}
		}
	}
	// The same number of another type is the same bound.
	expect.Equal(t, c.Ref(routing.Bound(p, 5.0)), c.Ref(c.Chunks.At(1).Min), "5.0 has another reference than 5")
}

// Plans, links and bookmarks keep references: neither form may change.
func TestReferencesStayAsTheyAre(t *testing.T) {
	p := routing.Pattern("n")
	c := routing.Collection("app.n", p, routing.Bounds(p, int64(5)), "a")
	c.Incarnation = topology.Incarnation{Epoch: bson.ObjectID{7}}
	min := c.Chunks.At(1).Min
	if got, want := c.Ref(min), "070000000000000000000000.-Li93lii8cfpmId07pr1qg"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	old := "070000000000000000000000.EAAAABJuAAUAAAAAAAAAAA"
	if at, _, err := c.ByRef(old); at != 1 || err != nil || must.Get(c.ExactRef(min)) != old {
		t.Errorf("chunk %d, %v, %s", at, err, must.Get(c.ExactRef(min)))
	}
}

func TestAReferenceOfNoChunkNamesNone(t *testing.T) {
	p := routing.Pattern("n")
	c := routing.Collection("app.n", p, routing.Bounds(p, int64(5)), "a")
	gone := routing.Bound(p, int64(6))
	if at, min, err := c.ByRef(c.Ref(gone)); at != -1 || !min.IsZero() || err != nil {
		t.Errorf("%d %v %v, want no chunk and no bound", at, min, err)
	}
	if at, min, err := c.ByRef(must.Get(c.ExactRef(gone))); at != -1 || min.Compare(gone) != 0 || err != nil {
		t.Errorf("%d %v %v, want no chunk and the bound", at, min, err)
	}
	other := *c
	other.Incarnation.UUID[0]++
	for ref, want := range map[string]fault.Kind{
		"": fault.Invalid, ".": fault.Invalid, "x.!!": fault.Invalid, "x.AAAA": fault.Invalid, "BQAAAAE": fault.Invalid,
		other.Ref(gone): fault.Conflict, must.Get(other.ExactRef(gone)): fault.Conflict,
	} {
		if _, _, err := c.ByRef(ref); err == nil || fault.Of(err) != want {
			t.Errorf("%q: %v, want %v", ref, err, want)
		}
	}
}

func BenchmarkReferenceOfAMillionChunks(b *testing.B) {
	p := routing.Pattern("n")
	hashes := make([]int64, 1_000_000)
	for i := range hashes {
		hashes[i] = int64(i)
	}
	c := routing.Collection("app.n", p, routing.Bounds(p, hashes...), "a", "b")
	last := c.Ref(c.Chunks.At(c.Chunks.Len() - 1).Min)
	for b.Loop() {
		if i, _, _ := c.ByRef(last); i != c.Chunks.Len()-1 {
			b.Fatal(i)
		}
	}
}
