package shardkey

import (
	"encoding/hex"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A fast path: nearly every key that a program looks up has one of the forms {"doc_id":
// {"$oid": "…"}}, {"name": "abc"} and {"n": 5}. The full reader is ten times slower on
// them. Everything else, including all errors, is left to the full reader; the results
// are the same bytes.

// fastReader parses the simple forms and gives up on anything else.
type fastReader struct {
	text string
	at   int
}

// fastFields is the largest number of fields; names are compared in pairs.
const fastFields = 4

// fastExtJSON reads a document of the simple forms; ok is false for anything else,
// well-formed or not.
func fastExtJSON(s string) (bson.Raw, bool) {
	r := fastReader{text: s}
	if !r.take('{') {
		return nil, false
	}
	doc := beginDocument(make([]byte, 0, len(s)+16))
	var names [fastFields]string
	for n := range names {
		name, ok := r.plain()
		if !ok || strings.HasPrefix(name, "$") || !r.take(':') {
			return nil, false
		}
		for _, other := range names[:n] {
			if name == other {
				return nil, false
			}
		}
		names[n] = name
		start := len(doc)
		doc = appendHeader(doc, 0, name)
		typ, ok := r.value(&doc)
		if !ok {
			return nil, false
		}
		doc[start] = byte(typ)
		if r.take(',') {
			continue
		}
		if !r.take('}') {
			return nil, false
		}
		r.space()
		return endDocument(doc, 0), r.at == len(s)
	}
	return nil, false
}

// value appends a plain string, an ObjectID or an integer.
func (r *fastReader) value(doc *[]byte) (bson.Type, bool) {
	r.space()
	if r.at == len(r.text) {
		return 0, false
	}
	switch c := r.text[r.at]; {
	case c == '"':
		s, ok := r.plain()
		*doc = appendString(*doc, s)
		return bson.TypeString, ok
	case c == '{':
		r.at++
		name, named := r.plain()
		if !named || name != "$oid" || !r.take(':') {
			return 0, false
		}
		digits, ok := r.plain()
		if !ok || len(digits) != 24 || !r.take('}') {
			return 0, false
		}
		var id [12]byte
		if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
			return 0, false
		}
		*doc = append(*doc, id[:]...)
		return bson.TypeObjectID, true
	}
	from := r.at
	if r.text[r.at] == '-' {
		r.at++
	}
	first := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	digits := r.at - first
	if digits == 0 || digits > 18 || r.text[first] == '0' && digits > 1 {
		return 0, false
	}
	if r.at < len(r.text) && strings.IndexByte(",} \t\r\n", r.text[r.at]) < 0 {
		return 0, false // a fraction, an exponent or an error
	}
	t, out, err := appendRelaxed(*doc, r.text[from:r.at])
	*doc = out
	return t, err == nil
}

// plain is a string of printable ASCII without escapes.
func (r *fastReader) plain() (string, bool) {
	if !r.take('"') {
		return "", false
	}
	from := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[from : r.at-1], true
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		}
	}
	return "", false
}

// take skips white space and then c, if it is next.
func (r *fastReader) take(c byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *fastReader) space() {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t' || r.text[r.at] == '\r' || r.text[r.at] == '\n') {
		r.at++
	}
}
