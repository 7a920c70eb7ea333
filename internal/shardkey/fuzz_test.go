package shardkey

import (
	"bytes"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
)

// Untrusted input results in an error or a value that survives a round trip; never in a
// panic or in much more memory than the input.

func FuzzDecode(f *testing.F) {
	for _, doc := range readLines(f, "sort-order") {
		v := doc.Lookup("v")
		enc, tb, err := encodeValue(nil, nil, v)
		must.Do(f, err)
		f.Add(string(enc), string(tb))
	}
	f.Add("\xf0\xff", "")
	p := mustPattern("a", "b")
	f.Fuzz(func(t *testing.T, enc, tb string) {
		k := FromParts(enc, tb)
		_, _, _ = p.Display(k), p.ExtJSON(k), k.IsPrefixEnd()
		doc, err := p.Document(k)
		if err != nil {
			must.That(t, fault.Of(err) == fault.Invalid, "got %v, want kind %v", err, fault.Invalid)
			return
		}
		if err := doc.Validate(); err != nil {
			t.Fatalf("%x %x gives % x: %v", enc, tb, doc, err)
		}
		again, err := p.Bound(doc)
		must.That(t, err != nil || again == k, "%x %x gives %s, which is %x %x", enc, tb, doc, again.enc, again.bits)
	})
}

func FuzzEncode(f *testing.F) {
	for _, doc := range readLines(f, "hash-vectors") {
		f.Add(byte(doc.Lookup("value", "v").Type), []byte(doc.Lookup("value", "v").Value))
	}
	p := mustPattern("v")
	f.Fuzz(func(t *testing.T, typ byte, value []byte) {
		v := bson.RawValue{Type: bson.Type(typ), Value: value}
		_ = DisplayValue(v)
		k, err := p.KeyOf(v)
		if err != nil {
			must.That(t, fault.Of(err) == fault.Invalid, "got %v, want kind %v", err, fault.Invalid)
			return
		}
		must.That(t, len(k.enc) <= 4*len(value)+800, "%d bytes became %d", len(value), len(k.enc))
		back, err := p.Values(k)
		if err != nil || back[0].Type != v.Type || !bytes.Equal(back[0].Value, value) {
			t.Fatalf("% x came back as %v, %v", value, back, err)
		}
		_, _, _ = p.Display(k), p.ExtJSON(k), k.IsPrefixEnd()
	})
}

func FuzzHash(f *testing.F) {
	for _, doc := range readLines(f, "hash-vectors") {
		f.Add(byte(doc.Lookup("value", "v").Type), []byte(doc.Lookup("value", "v").Value))
	}
	p := mustPattern("v#")
	f.Fuzz(func(t *testing.T, typ byte, value []byte) {
		v := bson.RawValue{Type: bson.Type(typ), Value: value}
		h, err := Hash(v)
		k, keyErr := p.KeyOf(v)
		must.That(t, (err == nil) == (keyErr == nil), "hash says %v, the key says %v", err, keyErr)
		must.That(t, err != nil || k.CompareEncoded(appendInt64(nil, h)) == 0, "the key of %v is not its hash %d", v, h)
	})
}

func FuzzExtJSON(f *testing.F) {
	for _, doc := range readLines(f, "hash-vectors")[:300] {
		f.Add(string(appendJSONDocument(nil, doc)))
	}
	for _, s := range []string{`{"a":{"$code":"x","$scope":{}}}`,
		`{"a":{"$dbPointer":{"$ref":"c","$id":{"$oid":"507f1f77bcf86cd799439011"}}}}`,
		`{"a":{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}}`, `{"a":[1,2.5,-0.0,1e9]}`, `{"a":"\ud83d\ude00"}`, `{"$ref":"a","$id":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, err := ParseExtJSON(s)
		if err != nil {
			must.That(t, fault.Of(err) == fault.Invalid && fault.Text(err) != "", "%v", err)
			return
		}
		if err := doc.Validate(); err != nil {
			t.Fatalf("%q gives % x: %v", s, doc, err)
		}
		written := string(appendJSONDocument(nil, doc))
		again, err := ParseExtJSON(written)
		if err != nil && len(written) <= MaxExtJSONBytes && !strings.Contains(fault.Text(err), "levels") {
			t.Fatalf("%q is written as %q: %v", s, written, err)
		}
		must.That(t, err != nil || bytes.Equal(again, doc), "%q is written as %q, which is other BSON", s, written)
	})
}
