package shardkey

import (
	"crypto/md5"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

const benchChunks = 10_000

// hashedBounds returns the lower bounds of evenly split chunks, as numbers and as keys.
func hashedBounds(t testing.TB, p Pattern) ([]int64, []Key) {
	t.Helper()
	numbers, keys := make([]int64, benchChunks), make([]Key, benchChunks)
	step := uint64(math.MaxUint64) / benchChunks
	for i := range numbers {
		numbers[i] = math.MinInt64 + int64(uint64(i)*step)
		k := must.Get(p.Bound(mustDoc(t, bson.D{{Key: "k", Value: numbers[i]}})))
		keys[i] = k
	}
	return numbers, keys
}

func BenchmarkLocateHashedObjectIDIn10000Chunks(b *testing.B) {
	p := mustPattern(b, "k#")
	_, bounds := hashedBounds(b, p)
	id := bson.NewObjectID()
	var room, bitsRoom [64]byte
	sink := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		binary.BigEndian.PutUint32(id[8:], uint32(i))
		enc, _, err := p.appendKeyOf(room[:0], bitsRoom[:0], bson.RawValue{Type: bson.TypeObjectID, Value: id[:]})
		must.Do(b, err)
		sink, _ = slices.BinarySearchFunc(bounds, enc, Key.CompareEncoded)
	}
	_ = sink
}

func BenchmarkLocateByKeyOf(b *testing.B) {
	p := mustPattern(b, "k#")
	_, bounds := hashedBounds(b, p)
	id := bson.NewObjectID()
	sink := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		binary.BigEndian.PutUint32(id[8:], uint32(i))
		k := must.Get(p.KeyOf(bson.RawValue{Type: bson.TypeObjectID, Value: id[:]}))
		sink, _ = slices.BinarySearchFunc(bounds, k, Key.Compare)
	}
	_ = sink
}

// The lower limit: only MD5 and a binary search over integers.
func BenchmarkLocateFloorOfMD5AndInt64s(b *testing.B) {
	bounds, _ := hashedBounds(b, mustPattern(b, "k#"))
	var buf [20]byte
	buf[4] = 35
	sink := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		binary.BigEndian.PutUint32(buf[16:], uint32(i))
		sum := md5.Sum(buf[:])
		sink, _ = slices.BinarySearch(bounds, int64(binary.LittleEndian.Uint64(sum[:])))
	}
	_ = sink
}

func BenchmarkHashObjectID(b *testing.B) {
	id := bson.NewObjectID()
	b.ReportAllocs()
	for b.Loop() {
		HashObjectID(id)
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, v := range map[string]any{"int64": int64(-1 << 40), "double": 0.1,
		"decimal": bson.NewDecimal128(0x303e000000000000, 123), "string": "doc-00001"} {
		raw := rawValue(b, v)
		b.Run(name, func(b *testing.B) {
			var room, bitsRoom [128]byte
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := encodeValue(room[:0], bitsRoom[:0], raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBound(b *testing.B) {
	p := mustPattern(b, "p", "k#")
	doc := mustDoc(b, bson.D{{Key: "p", Value: bson.NewObjectID()}, {Key: "k", Value: int64(-1 << 62)}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Bound(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func TestHashingAndEncodingIntoABufferDoNotAllocate(t *testing.T) {
	p := mustPattern(t, "a", "b", "k#")
	id, number, word := rawValue(t, bson.NewObjectID()), rawValue(t, 0.1), rawValue(t, "word")
	oid := bson.NewObjectID()
	_, bounds := hashedBounds(t, mustPattern(t, "k#"))
	var room, bitsRoom [128]byte
	n := testing.AllocsPerRun(100, func() {
		enc, _, err := p.appendKeyOf(room[:0], bitsRoom[:0], number, word, id)
		enc = appendInt64(enc, HashObjectID(oid))
		if err != nil || bounds[0].CompareEncoded(enc) == 0 {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
