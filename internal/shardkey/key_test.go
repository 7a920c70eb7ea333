package shardkey

import (
	"math"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

func TestEqualKeysOfDifferentTypesAreEqualOnlyByCompare(t *testing.T) {
	p := mustPattern("v")
	for _, equal := range [][]any{
		{int32(1), int64(1), 1.0, decimalOf("1"), decimalOf("1.0")},
		{"s", bson.Symbol("s")},
	} {
		seen := map[Key]bool{}
		for _, v := range equal {
			k, err := p.KeyOf(rawValue(v))
			expect.That(t, err == nil && !seen[k], "%v (%T): %v", v, v, err)
			seen[k] = true
			for other := range seen {
				expect.Equal(t, k.Compare(other), 0, "%s is not %s", p.Display(k), p.Display(other))
			}
		}
	}
}

func TestUsualKeysAreShort(t *testing.T) {
	p := mustPattern("project_id", "_id#")
	k, err := p.KeyOf(rawValue(bson.NewObjectID()), rawValue(bson.NewObjectID()))
	if err != nil || len(k.Encoded()) > 23 || k.Bits() != "" {
		t.Errorf("%d bytes and %d bits, %v", len(k.Encoded()), len(k.Bits()), err)
	}
}

func TestRangesContainOverlapAndCover(t *testing.T) {
	p := mustPattern("n")
	key := func(n int) Key {
		return must.Get(p.KeyOf(rawValue(n)))
	}
	r := func(from, to int) Range { return Range{key(from), key(to)} }
	for _, c := range []struct {
		a, b             Range
		overlaps, covers bool
	}{
		{r(1, 5), r(1, 5), true, true},
		{r(1, 5), r(2, 4), true, true},
		{r(2, 4), r(1, 5), true, false},
		{r(1, 3), r(3, 5), false, false},
		{r(1, 4), r(3, 5), true, false},
		{r(1, 5), r(3, 3), false, true},
		{r(3, 3), r(1, 5), false, false},
		{Range{p.Min(), p.Max()}, r(1, 2), true, true},
	} {
		if c.a.Overlaps(c.b) != c.overlaps || c.b.Overlaps(c.a) != c.overlaps || c.a.Covers(c.b) != c.covers {
			t.Errorf("[%s, %s) and [%s, %s)", p.Display(c.a.Min), p.Display(c.a.Max), p.Display(c.b.Min), p.Display(c.b.Max))
		}
	}
	if !r(1, 2).Contains(key(1)) || r(1, 2).Contains(key(2)) || !r(2, 1).IsEmpty() {
		t.Error("a range is not closed below and open above")
	}
	whole := Range{p.Min(), p.Max()}
	expect.That(t, whole.Contains(p.Min()) && !whole.Contains(p.Max()), "the whole key space is not [MinKey, MaxKey)")
}

func TestAPrefixRangeReachesFromMinKeyBeyondMaxKey(t *testing.T) {
	p := mustPattern("p", "k#")
	id := rawValue(bson.ObjectID{11: 0xff})
	r := must.Get(p.PrefixRange(id))
	for _, end := range []any{bson.MinKey{}, bson.MaxKey{}} {
		k, err := p.Bound(mustDoc(bson.D{{Key: "p", Value: id}, {Key: "k", Value: end}}))
		if err != nil || !r.Contains(k) || k.IsPrefixEnd() {
			t.Errorf("%s: %v", p.Display(k), err)
		}
	}
	expect.Equal(t, p.Display(r.Min), `{p: ObjectId("0000000000000000000000ff"), k: MinKey}`, "a bound of the range")
	if got := p.Display(r.Max); got != `{p: ObjectId("0000000000000000000000ff"), …}` || !r.Max.IsPrefixEnd() {
		t.Error(got)
	}
	expect.Equal(t, p.ExtJSON(r.Max), `{"p":{"$oid":"0000000000000000000000ff"}}`, "a bound of the range")
	refused.As(t, must.Err(p.Document(r.Max)), fault.Invalid, "the end of a prefix range is a document")
	refused.As(t, must.Err(p.PrefixRange(id, id, id)), fault.Invalid, "three values for two fields")
	refused.As(t, must.Err(p.KeyOf(id)), fault.Invalid, "one value for two fields")
}

func TestKeysOfOtherPatternsAndDamagedPartsAreRefused(t *testing.T) {
	one, two := mustPattern("a"), mustPattern("a", "b")
	k := two.Min()
	for _, bad := range []Key{k, {}, FromParts("\x25", ""), FromParts("\x1e\x05", ""), FromParts("\x1e\x05\x00", "\x09"),
		FromParts("\x30a", ""),
		FromParts("\x1e\x00\x00", ""), FromParts("\x1f\x01\x00\x00", "\x01\x01"), FromParts("\x50short", ""), FromParts("\xff", "")} {
		if _, err := one.Values(bad); err == nil || fault.Of(err) != fault.Invalid {
			t.Errorf("%x: %v, want kind %v", bad.Encoded(), err, fault.Invalid)
		}
	}
}

func TestDisplayUsesMongoshSyntax(t *testing.T) {
	p := mustPattern("v")
	id, _ := bson.ObjectIDFromHex("507f1f77bcf86cd799439011")
	for _, c := range []struct {
		v    any
		want string
	}{
		{int32(5), "5"},
		{int64(5), `NumberLong("5")`},
		{5.0, "5.0"},
		{0.1, "0.1"},
		{math.Copysign(0, -1), "-0.0"},
		{math.NaN(), "NaN"},
		{1e40, "1E+40"},
		{decimalOf("1.00"), `NumberDecimal("1.00")`},
		{"a\"b\n\u202e", `"a\"b\n\u202e"`},
		{id, `ObjectId("507f1f77bcf86cd799439011")`},
		{true, "true"},
		{nil, "null"},
		{bson.Undefined{}, "undefined"},
		{bson.MinKey{}, "MinKey"},
		{bson.Symbol("s"), `Symbol("s")`},
		{time.UnixMilli(1).UTC(), `ISODate("1970-01-01T00:00:00.001Z")`},
		{bson.DateTime(math.MaxInt64), "Date(9223372036854775807)"},
		{bson.Timestamp{T: 5, I: 6}, "Timestamp(5, 6)"},
		{bson.Binary{Subtype: 4, Data: make([]byte, 16)}, `UUID("00000000-0000-0000-0000-000000000000")`},
		{bson.Binary{Subtype: 2, Data: []byte{1, 2, 3}}, `BinData(2, "AQID")`},
		{bson.Regex{Pattern: "a", Options: "i"}, `RegExp("a", "i")`},
		{bson.DBPointer{DB: "c", Pointer: id}, `DBPointer("c", ObjectId("507f1f77bcf86cd799439011"))`},
		{bson.JavaScript("x"), `Code("x")`},
		{bson.CodeWithScope{Code: "x", Scope: bson.D{{Key: "y", Value: 1}}}, `Code("x", {y: 1})`},
		{bson.D{{Key: "a", Value: 1}, {Key: "b c", Value: bson.A{2, "x"}}}, `{a: 1, "b c": [2, "x"]}`},
	} {
		k, err := p.KeyOf(rawValue(c.v))
		if got := p.Display(k); err != nil || got != "{v: "+c.want+"}" {
			t.Errorf("%v: %s, want %s, %v", c.v, got, c.want, err)
		}
		expect.Equal(t, DisplayValue(rawValue(c.v)), c.want, "%v", c.v)
	}
}

func TestDisplayStaysShort(t *testing.T) {
	p := mustPattern("v")
	wide, deep := bson.D{}, any(1)
	for range 500 {
		wide = append(wide, bson.E{Key: strings.Repeat("é", 500), Value: strings.Repeat("\x01", 500)})
	}
	for range 150 {
		deep = bson.D{{Key: strings.Repeat("x", 200), Value: deep}}
	}
	for _, v := range []any{strings.Repeat("é", 5000), make([]byte, 5000), wide, deep, bson.Regex{Pattern: strings.Repeat("x", 999)}} {
		k, err := p.KeyOf(rawValue(v))
		if got := p.Display(k); err != nil || len(got) > 2000 || !strings.Contains(got, "…") {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

func TestDocumentsNestedDeeperThanTheServerAllowsAreRefused(t *testing.T) {
	p := mustPattern("v")
	deep := mustDoc(bson.D{})
	for range maxDepth - 1 {
		deep = endDocument(appendElement(beginDocument(nil), bson.TypeEmbeddedDocument, "d", deep), 0)
	}
	v := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: deep}
	k, err := p.KeyOf(v)
	if back, decodeErr := p.Values(k); err != nil || decodeErr != nil || !back[0].Equal(v) {
		t.Errorf("%d levels: %v, %v", maxDepth, err, decodeErr)
	}
	v.Value = endDocument(appendElement(beginDocument(nil), bson.TypeEmbeddedDocument, "d", deep), 0)
	if _, err := p.KeyOf(v); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "levels deep") {
		t.Errorf(`%d levels: %v, want kind %v, …"levels deep"…`, maxDepth+1, err, fault.Invalid)
	}
	refused.As(t, must.Err(Hash(v)), fault.Invalid, "hash of %d levels", maxDepth+1)
}

func TestHashingAndEncodingIntoABufferDoNotAllocate(t *testing.T) {
	p := mustPattern("a", "b", "k#")
	id, number, word := rawValue(bson.NewObjectID()), rawValue(0.1), rawValue("word")
	oid := bson.NewObjectID()
	var room, bitsRoom [128]byte
	least := p.Min()
	n := testing.AllocsPerRun(100, func() {
		enc, _, err := p.appendKeyOf(room[:0], bitsRoom[:0], number, word, id)
		enc = appendInt64(enc, HashObjectID(oid))
		if err != nil || least.CompareEncoded(enc) == 0 { // expect would allocate
			t.Error(err)
		}
	})
	expect.Equal(t, n, 0, "allocations")
}
