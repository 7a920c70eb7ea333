package shardkey

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/value"
)

// encodeValue appends the encoding of one value to enc and its type bits to bits, as keys do with each of their
// fields. Every BSON value is accepted, including arrays, which Pattern rejects.
func encodeValue(enc, bits []byte, v bson.RawValue) ([]byte, []byte, error) {
	return appendValue(enc, bits, v.Type, v.Value, 0)
}

func encoded(t testing.TB, v bson.RawValue) (enc, bits string) {
	t.Helper()
	e, b, err := encodeValue(nil, nil, v)
	must.That(t, err == nil, "encode %s: %v", v, err)
	return string(e), string(b)
}

// The simulated cluster has its own comparison and hash, which share nothing with ours.
func TestOrderAndHashAgreeWithTheSimulatedCluster(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := make([]bson.RawValue, 20)
		encs := make([]string, len(values))
		for i := range values {
			values[i] = drawComparable(rt, 3)
			encs[i], _ = encoded(t, values[i])
			h, err := Hash(values[i])
			if values[i].Type != bson.TypeArray && (err != nil || h != value.Hash(values[i])) {
				rt.Fatalf("hash of %s % x: %d, %v and %d", values[i], values[i].Value, h, err, value.Hash(values[i]))
			}
		}
		for i, a := range values {
			for j, b := range values {
				want := cmp.Compare(value.Compare(a, b), 0)
				if got := strings.Compare(encs[i], encs[j]); got != want {
					rt.Fatalf("%s and %s: %d, want %d", a, b, got, want)
				}
				must.That(rt, want == 0 || !strings.HasPrefix(encs[i], encs[j]), "the encoding of %s begins with that of %s", a, b)
			}
		}
	})
}

func TestDecodingGivesTheSameBytesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for range 20 {
			v := drawValue(rt)
			enc, bits := encoded(t, v)
			d := decoder{enc, strings.TrimRight(bits, "\x00")}
			typ, value, err := d.value(nil, 0)
			if err != nil || typ != v.Type || !bytes.Equal(value, v.Value) || d.enc != "" || d.bits != "" {
				rt.Fatalf("%s % x came back as %v % x, %v", v, v.Value, typ, value, err)
			}
		}
	})
}

// drawKeys returns a pattern of two or three fields and sorted keys of it.
func drawKeys(t *testing.T, rt *rapid.T) (Pattern, []Key) {
	p := mustPattern("a", "b.c", "d#")
	if rapid.Bool().Draw(rt, "short") {
		p = mustPattern("a#", "b")
	}
	keys := make([]Key, rapid.IntRange(1, 30).Draw(rt, "keys"))
	for i := range keys {
		keys[i] = drawKey(rt, p)
	}
	slices.SortFunc(keys, Key.Compare)
	return p, keys
}

func drawKey(rt *rapid.T, p Pattern) Key {
	for {
		values := make([]bson.RawValue, p.Len())
		for i := range values {
			values[i] = drawNested(rt, 1)
			if values[i].Type == bson.TypeArray {
				values[i] = bson.RawValue{Type: bson.TypeNull}
			}
		}
		if k, err := p.KeyOf(values...); err == nil {
			return k
		}
	}
}

func TestSplitsPartitionTheKeySpaceAndSearchFindsTheRange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, splits := drawKeys(t, rt)
		bounds := append([]Key{p.Min()}, splits...)
		bounds = slices.CompactFunc(append(bounds, p.Max()), func(a, b Key) bool { return a.Compare(b) == 0 })
		for range 20 {
			k := drawKey(rt, p)
			if k.Compare(p.Max()) >= 0 {
				continue
			}
			owners := []int{}
			for i := 1; i < len(bounds); i++ {
				if (Range{bounds[i-1], bounds[i]}).Contains(k) {
					owners = append(owners, i-1)
				}
			}
			at, found := slices.BinarySearchFunc(bounds, k, Key.Compare)
			if !found {
				at--
			}
			if len(owners) != 1 || owners[0] != at {
				rt.Fatalf("%s: in ranges %v, found in %d", p.Display(k), owners, at)
			}
		}
	})
}

func TestAPrefixRangeHoldsExactlyTheKeysWithThatPrefix(t *testing.T) {
	p := mustPattern("a", "b", "c")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 3).Draw(rt, "fields")
		prefix := make([]bson.RawValue, n)
		for i := range prefix {
			prefix[i] = drawComparable(rt, 0)
		}
		r := must.Get(p.PrefixRange(prefix...))
		for range 20 {
			values := slices.Clone(prefix)
			for len(values) < 3 {
				values = append(values, drawComparable(rt, 0))
			}
			for i := range values {
				if rapid.IntRange(0, 3).Draw(rt, "other") == 0 {
					values[i] = drawComparable(rt, 0)
				}
			}
			k := must.Get(p.KeyOf(values...))
			has := slices.EqualFunc(prefix, values[:n], func(a, b bson.RawValue) bool { return value.Compare(a, b) == 0 })
			if r.Contains(k) != has {
				rt.Fatalf("%s in the range of %v: %v", p.Display(k), prefix, !has)
			}
		}
		must.That(rt, r.Max.IsPrefixEnd() && !r.Min.IsPrefixEnd(), "the two ends of the prefix range of %v are equal", prefix)
	})
}

func TestKeysCompareFieldByField(t *testing.T) {
	p := mustPattern("a", "b")
	rapid.Check(t, func(rt *rapid.T) {
		a := []bson.RawValue{drawComparable(rt, 1), drawComparable(rt, 1)}
		b := []bson.RawValue{drawComparable(rt, 1), drawComparable(rt, 1)}
		if rapid.Bool().Draw(rt, "same") {
			b[0] = a[0]
		}
		ka, err1 := p.KeyOf(a...)
		kb, err2 := p.KeyOf(b...)
		if err1 != nil || err2 != nil {
			rt.SkipNow()
		}
		want := cmp.Compare(cmp.Or(value.Compare(a[0], b[0]), value.Compare(a[1], b[1])), 0)
		if ka.Compare(kb) != want || kb.CompareEncoded([]byte(ka.Encoded())) != -want {
			rt.Fatalf("%s and %s: want %d", p.Display(ka), p.Display(kb), want)
		}
		doc := must.Get(p.Document(ka))
		again, err := p.Bound(doc)
		if err != nil || again != ka || FromParts(ka.Encoded(), ka.Bits()) != ka {
			rt.Fatalf("%s came back as %s, %v", p.Display(ka), p.Display(again), err)
		}
	})
}
