package shardkey

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// drawPlain draws a value that Extended JSON can represent: strings are UTF-8, and
// numbers are canonical.
func drawPlain(rt *rapid.T) bson.RawValue {
	for {
		v := drawNested(rt, 0)
		switch {
		case v.Type == bson.TypeDouble && appendsRaw(v), hasUnusualDecimal(v):
		case v.Type == bson.TypeRegex && (!utf8.Valid(v.Value) || !sortedOptions(v)):
		case v.Type == bson.TypeDBPointer && !utf8.Valid(text(v.Value[:len(v.Value)-12])):
		case (v.Type == bson.TypeString || v.Type == bson.TypeSymbol || v.Type == bson.TypeJavaScript) && !utf8.Valid(text(v.Value)):
		default:
			return v
		}
	}
}

// sortedOptions reports whether a regex's options are sorted; the driver sorts them.
func sortedOptions(v bson.RawValue) bool {
	_, options := regexParts(v.Value)
	return slices.IsSorted([]byte(options))
}

func appendsRaw(v bson.RawValue) bool {
	_, bits, err := encodeValue(nil, nil, v)
	return err != nil || len(bits) > 1
}

func TestExtendedJSONPreservesEveryKeyAndTheDriverParsesItTheSame(t *testing.T) {
	p := mustPattern("a", "b.c", "d")
	rapid.Check(t, func(rt *rapid.T) {
		inner := beginDocument(nil)
		for _, name := range []string{"x", "y<\"\\\u2028", ""} {
			v := drawPlain(rt)
			inner = appendElement(inner, v.Type, name, v.Value)
		}
		array := beginDocument(nil)
		for _, name := range []string{"0", "1"} {
			v := drawPlain(rt)
			array = appendElement(array, v.Type, name, v.Value)
		}
		inner = appendElement(inner, bson.TypeArray, "items", endDocument(array, 0))
		inner = endDocument(inner, 0)
		code := appendString(nil, "f()")
		scope := append(append([]byte{byte(4 + len(code) + len(inner)), byte((4 + len(code) + len(inner)) >> 8), 0, 0}, code...), inner...)
		k, err := p.KeyOf(drawPlain(rt), bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: inner},
			bson.RawValue{Type: bson.TypeCodeWithScope, Value: scope})
		must.Do(t, err)
		s := p.ExtJSON(k)
		doc, err := ParseExtJSON(s)
		must.That(rt, err == nil, "%s: %v", s, err)
		if again, err := p.Bound(doc); err != nil || again != k {
			rt.Fatalf("%s came back as %s, %v", s, p.ExtJSON(again), err)
		}
		var driver bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(s), true, &driver); err != nil || !bytes.Equal(driver, doc) {
			rt.Fatalf("%s: the driver reads %s, %v, want %v", s, driver, err, doc)
		}
	})
}

func TestCommonSpellingsOfKeysAreParsed(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1}`:                                                          `{"a":{"$numberInt":"1"}}`,
		` {"a": 2147483648, "b": -1.5} `:                                    `{"a":{"$numberLong":"2147483648"},"b":{"$numberDouble":"-1.5"}}`,
		`{"a": 9223372036854775808}`:                                        `{"a":{"$numberDouble":"9.223372036854775808E+18"}}`,
		`{"a": 1.0, "b": 1e3}`:                                              `{"a":{"$numberDouble":"1.0"},"b":{"$numberDouble":"1000.0"}}`,
		`{"a": [true, null, {}]}`:                                           `{"a":[true,null,{}]}`,
		`{"a": "\u0000\ud83d\ude00"}`:                                       `{"a":"\u0000😀"}`,
		`{"a": {"$minKey": 1}}`:                                             `{"a":{"$minKey":1}}`,
		`{"a": {"$date": "1970-01-01T00:00:00.001Z"}}`:                      `{"a":{"$date":{"$numberLong":"1"}}}`,
		`{"a": {"$uuid": "3b241101-e2bb-4255-8caf-4136c566a962"}}`:          `{"a":{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}}`,
		`{"a": {"$binary": {"subType": "0", "base64": "AQ=="}}}`:            `{"a":{"$binary":{"base64":"AQ==","subType":"00"}}}`,
		`{"a": {"$numberDecimal": "1.00"}}`:                                 `{"a":{"$numberDecimal":"1.00"}}`,
		`{"a": {"$timestamp": {"t": 4294967295, "i": 0}}}`:                  `{"a":{"$timestamp":{"t":4294967295,"i":0}}}`,
		`{"a": {"$ref": "c", "$id": {"$oid": "507f1f77bcf86cd799439011"}}}`: `{"a":{"$ref":"c","$id":{"$oid":"507f1f77bcf86cd799439011"}}}`,
	} {
		doc, err := ParseExtJSON(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := string(appendJSONDocument(nil, doc)); got != want && in != `{"a": 9223372036854775808}` {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		expect.NoError(t, doc.Validate(), "%s", in)
	}
}

func TestInvalidKeysAreRefusedWithAnExplanation(t *testing.T) {
	for in, part := range map[string]string{
		``:                                     "not valid JSON",
		`{"a": 1`:                              "not valid JSON",
		`{"a": 1} {}`:                          "after the end",
		`{"a": 1}]`:                            "after the end",
		`[1]`:                                  "written as a document",
		`"a"`:                                  "written as a document",
		`{"$oid": "507f1f77bcf86cd799439011"}`: "not as a bare value",
		`{"a": {"$gt": 1}}`:                    `"$gt" is neither`,
		`{"$where": "1"}`:                      `"$where" is neither`,
		`{"a": {"$regex": "x"}}`:               `"$regex" is neither`,
		`{"a": {"$oid": "xyz"}}`:               `looks like {"$oid"`,
		`{"a": {"$oid": 1}}`:                   `looks like {"$oid"`,
		`{"a": {"$numberInt": "2147483648"}}`:  "$numberInt",
		`{"a": {"$numberLong": 1}}`:            "$numberLong",
		`{"a": {"$numberDouble": "0x1p4"}}`:    "$numberDouble",
		`{"a": {"$numberDecimal": "x"}}`:       "$numberDecimal",
		`{"a": {"$numberDecimal": "` + strings.Repeat("1", 200) + `"}}`:       "$numberDecimal",
		`{"a": {"$oid": "507f1f77bcf86cd799439011", "b": 1}}`:                 "beside other fields",
		`{"a": {"$binary": {"base64": "!", "subType": "00"}}}`:                "$binary",
		`{"a": {"$timestamp": {"t": -1, "i": 0}}}`:                            "$timestamp",
		`{"a": {"$timestamp": {"t": 1}}}`:                                     "$timestamp",
		`{"a": {"$regularExpression": {"pattern": "\u0000", "options": ""}}}`: "$regularExpression",
		`{"a": {"$code": "x", "$scope": 1}}`:                                  "Code with scope",
		`{"a": {"$scope": {}}}`:                                               "$scope",
		`{"a": {"$date": "yesterday"}}`:                                       "$date",
		`{"a": {"$undefined": false}}`:                                        "$undefined",
		`{"a": {"$minKey": 2}}`:                                               "$minKey",
		`{"a": 1e999}`:                                                        "range of a double",
		`{"a": 1, "a": 2}`:                                                    "twice",
		`{"a\u0000": 1}`:                                                      "NUL",
		`{"a": "\ud800"}`:                                                     "surrogate",
		`{"a": "\udc00\ud800"}`:                                               "surrogate",
		"{\"a\": \"\xff\"}":                                                   "UTF-8",
		`{"a": "` + strings.Repeat("x", MaxExtJSONBytes) + `"}`:               "longer than 64 KiB",
		strings.Repeat(`{"a":`, 21) + "1" + strings.Repeat("}", 21):           "20 levels",
		strings.Repeat(`{"a":[`, 3000):                                        "20 levels",
	} {
		_, err := ParseExtJSON(in)
		if fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), part) {
			t.Errorf("%.80q: %v, want %s", in, err, part)
		}
	}
	expect.NoError(t, must.Err(ParseExtJSON(strings.Repeat(`{"a":`, 20)+"1"+strings.Repeat("}", 20))), "20 levels")
}
