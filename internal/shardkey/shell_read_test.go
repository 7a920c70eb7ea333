package shardkey

import (
	"bytes"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

func TestKeysAreReadAsMongoshPrintsThem(t *testing.T) {
	for shell, want := range map[string]string{
		`{a: 1}`:                           `{"a": 1}`,
		`{'a.b': "x", _id: -1.5, $c: +2,}`: `{"a.b": "x", "_id": -1.5, "$c": 2}`,
		`{ n: NumberLong("9007199254740993"), m: NumberLong(5), l: Long('7'), f: Long.fromString("8"), i: NumberInt(3), j: Int32(4) }`: `{"n": {"$numberLong":` +
			`"9007199254740993"}, "m": {"$numberLong":"5"}, "l": {"$numberLong":"7"}, "f": {"$numberLong":"8"}, "i": {"$numberInt":"3"}, "j": {"$numberInt":"4"}}`,
		`{d: NumberDecimal("1.10"), e: Decimal128('2'), x: Double(1), y: Infinity, z: NaN, w: -Infinity}`: `{"d": {"$numberDecimal":"1.10"}, "e": ` +
			`{"$numberDecimal":"2"}, "x": {"$numberDouble":"1"}, "y": {"$numberDouble":"Infinity"}, "z": {"$numberDouble":"NaN"}, "w": {"$numberDouble":"-Infinity"}}`,
		`{p: ObjectId("65e0000000000000000000ff"), q: new ObjectId('65e0000000000000000000ff')}`: `{"p": {"$oid":` +
			`"65e0000000000000000000ff"}, "q": {"$oid":"65e0000000000000000000ff"}}`,
		`{t: ISODate("2026-01-02T03:04:05.006Z"), u: new Date(7), v: Date(-8), w: ISODate('2026-01-02'), x: ISODate("2026-01-02T03:04:05")}`: `{"t": ` +
			`{"$date":"2026-01-02T03:04:05.006Z"}, "u": {"$date":{"$numberLong":"7"}}, "v": {"$date":{"$numberLong":"-8"}}, "w": ` +
			`{"$date":"2026-01-02T00:00:00Z"}, "x": {"$date":"2026-01-02T03:04:05Z"}}`,
		`{u: UUID("3b241101-e2bb-4255-8caf-4136c566a962"), b: BinData(3, "AQ=="), h: HexData(0, "01"), c: Binary.createFromBase64('AQ==', 128)}`: `{"u": ` +
			`{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}, "b": {"$binary":{"base64":"AQ==","subType":"03"}}, "h": {"$binary":{"base64":"AQ==","subType":"00"}},` +
			` "c": {"$binary":{"base64":"AQ==","subType":"80"}}}`,
		`{lo: MinKey, hi: MaxKey(), n: null, b: true, ts: Timestamp(5, 6), us: Timestamp({t: 5, i: 6})}`: `{"lo": {"$minKey":1}, "hi": {"$maxKey":1}, "n": null, ` +
			`"b": true, "ts": {"$timestamp":{"t":5,"i":6}}, "us": {"$timestamp":{"t":5,"i":6}}}`,
		"{s: 'it\\'s \\x41 \\u00e9 \"q\"\\n', nested: {x: {y: [1, 'z']}}}": `{"s": "it's A é \"q\"\n", "nested": {"x": {"y": [1, "z"]}}}`,
	} {
		if strings.Contains(shell, "$c") {
			shell, want = strings.ReplaceAll(shell, "$c", "c"), strings.ReplaceAll(want, "$c", "c")
		}
		got, err := ParseKey(shell)
		strict, serr := ParseExtJSON(want)
		if err != nil || serr != nil || !bytes.Equal(got, strict) {
			t.Errorf("%s: %v %v, want %v %v", shell, got, err, strict, serr)
		}
	}
}

func TestNothingElseIsAKey(t *testing.T) {
	for text, why := range map[string]string{
		`{a: ObjectId("xyz")}`: `$oid`, `{a: }`: "up to character 4", `{a: process.exit()}`: "mongosh", `{a: 1} extra`: "mongosh", `{a: "x`: "mongosh",
		`{a: "begin…end"}`: "shortened", `{a: ObjectId("1"), …}`: "mongosh", `{a: {$gt: 1}}`: "$gt", `{a: NumberLong()}`: "mongosh", `{a: 1, a: 2}`: "twice",
		`{a: BinData(300, "AQ==")}`: "mongosh", strings.Repeat("{a:", 1000): "mongosh", "": "", "(": "mongosh", "new": "mongosh", `{a: ()}`: "mongosh", `{'`: "mongosh",
	} {
		if doc, err := ParseKey(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60s: %v %v, want an error with %q", text, doc, err, why)
		}
	}
}

// What pages show of a key can be pasted back, if nothing of it is left out.
func TestDisplayedKeysAreReadBack(t *testing.T) {
	p := must.Get(ParsePattern(mustMarshal(bson.D{{Key: "a.b", Value: 1}, {Key: "c d", Value: 1}})))
	for _, v := range []any{int32(1), int64(1) << 60, 1.5, "it's \"q\" \\ \n é", bson.ObjectID{1}, true, nil, bson.MinKey{},
		bson.MaxKey{}, bson.DateTime(5),
		bson.DateTime(-1 << 62), bson.Timestamp{T: 5, I: 6}, bson.Binary{Subtype: 4, Data: make([]byte, 16)}, bson.Binary{Data: []byte{1}},
		bson.D{{Key: "x", Value: int64(1)}}} {
		k := must.Get(p.Bound(mustMarshal(bson.D{{Key: "a.b", Value: v}, {Key: "c d", Value: int32(2)}})))
		doc, err := ParseKey(p.Display(k))
		if err != nil {
			t.Errorf("%s: %v", p.Display(k), err)
			continue
		}
		if back, err := p.Bound(doc); err != nil || back.Compare(k) != 0 {
			t.Errorf("%s is read as %v, %v", p.Display(k), doc, err)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(`{a: ObjectId("65e0000000000000000000ff"), 'b': [BinData(0,"AQ=="), new Date(1)]}`)
	f.Fuzz(func(t *testing.T, s string) {
		if doc, err := ParseKey(s); err == nil && doc.Validate() != nil {
			t.Errorf("%q: %v", s, doc.Validate())
		}
	})
}

func mustMarshal(d bson.D) bson.Raw { return must.Get(bson.Marshal(d)) }
