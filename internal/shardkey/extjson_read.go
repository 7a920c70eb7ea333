package shardkey

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// Limits of ParseExtJSON, enough for any shard key typed by a person.
const (
	MaxExtJSONBytes = 64 << 10
	MaxExtJSONDepth = 20
)

// ParseExtJSON parses a key document written in canonical or relaxed Extended JSON, at
// most MaxExtJSONBytes long and MaxExtJSONDepth deep. A plain number becomes an int32,
// an int64 or a double, whichever fits first. Names that begin with a dollar sign must
// be a type of Extended JSON, so that query operators are rejected; a name must not
// appear twice or contain NUL. Anything else is fault.Invalid with a message for the
// user.
func ParseExtJSON(s string) (bson.Raw, error) {
	switch {
	case len(s) > MaxExtJSONBytes:
		return nil, fault.New(fault.Invalid, "The key is longer than %d KiB.", MaxExtJSONBytes>>10)
	case !utf8.ValidString(s):
		return nil, fault.New(fault.Invalid, "The key is not valid UTF-8 text.")
	case loneSurrogate(s):
		return nil, fault.New(fault.Invalid, "The key holds half of a \\u surrogate pair, which is no character.")
	}
	r := extJSONReader{json.NewDecoder(strings.NewReader(s))}
	r.UseNumber()
	t, err := r.next()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, fault.New(fault.Invalid, `A key is written as a document: {"field": value}.`)
	}
	typ, doc, err := r.object(nil, 1)
	if err != nil {
		return nil, err
	}
	if typ != bson.TypeEmbeddedDocument {
		return nil, fault.New(fault.Invalid, `A key is written as a document, {"field": value}, not as a bare value.`)
	}
	if _, err := r.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "There is something after the end of the key document.")
	}
	return doc, nil
}

// loneSurrogate reports \u escapes that the JSON decoder would silently replace.
func loneSurrogate(s string) bool {
	high := false // the previous escape was the first half of a pair
	for i := 0; i < len(s); i++ {
		half := uint64(0)
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == 'u' && i+4 < len(s) {
				half, _ = strconv.ParseUint(s[i+1:i+5], 16, 16)
				i += 4
			}
		}
		low := half >= 0xdc00 && half <= 0xdfff
		if low != high {
			return true
		}
		high = half >= 0xd800 && half <= 0xdbff
	}
	return high
}

type extJSONReader struct{ *json.Decoder }

func (r extJSONReader) next() (json.Token, error) {
	t, err := r.Token()
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The key is not valid JSON near character %d.", r.InputOffset())
	}
	return t, nil
}

// value appends the value that begins with token t.
func (r extJSONReader) value(dst []byte, t json.Token, depth int) (bson.Type, []byte, error) {
	switch t := t.(type) {
	case nil:
		return bson.TypeNull, dst, nil
	case bool:
		if t {
			return bson.TypeBoolean, append(dst, 1), nil
		}
		return bson.TypeBoolean, append(dst, 0), nil
	case string:
		return bson.TypeString, appendString(dst, t), nil
	case json.Number:
		return appendRelaxed(dst, string(t))
	case json.Delim:
		if depth >= MaxExtJSONDepth {
			return 0, nil, fault.New(fault.Invalid, "The key is nested more than %d levels deep.", MaxExtJSONDepth)
		}
		if t == '{' {
			return r.object(dst, depth+1)
		}
		return r.array(dst, depth+1)
	}
	return 0, nil, fault.New(fault.Invalid, "The key is not valid JSON near character %d.", r.InputOffset())
}

func (r extJSONReader) array(dst []byte, depth int) (bson.Type, []byte, error) {
	start := len(dst)
	dst = beginDocument(dst)
	for i := 0; ; i++ {
		t, err := r.next()
		if err != nil {
			return 0, nil, err
		}
		if t == json.Delim(']') {
			return bson.TypeArray, endDocument(dst, start), nil
		}
		if dst, err = r.element(dst, strconv.Itoa(i), t, depth); err != nil {
			return 0, nil, err
		}
	}
}

// object appends the document, or the value of an Extended JSON type, whose
// opening brace has been read.
func (r extJSONReader) object(dst []byte, depth int) (bson.Type, []byte, error) {
	start := len(dst)
	dst = beginDocument(dst)
	seen := map[string]bool{}
	wrapper := false
	for {
		t, err := r.next()
		if err != nil {
			return 0, nil, err
		}
		if t == json.Delim('}') {
			break
		}
		name, _ := t.(string)
		switch {
		case strings.IndexByte(name, 0) >= 0:
			return 0, nil, fault.New(fault.Invalid, "The field name %q holds a NUL character, which a field name cannot.", name)
		case seen[name]:
			return 0, nil, fault.New(fault.Invalid, "The field %q is there twice.", name)
		case strings.HasPrefix(name, "$") && !isWrapperName(name):
			return 0, nil, fault.New(fault.Invalid, "%q is neither a field nor a type of Extended JSON; a key holds values, not operators.", name)
		}
		wrapper = wrapper || strings.HasPrefix(name, "$")
		seen[name] = true
		if t, err = r.next(); err != nil {
			return 0, nil, err
		}
		if dst, err = r.element(dst, name, t, depth); err != nil {
			return 0, nil, err
		}
	}
	dst = endDocument(dst, start)
	if !wrapper {
		return bson.TypeEmbeddedDocument, dst, nil
	}
	return unwrap(dst, start)
}

// element appends one element whose value begins with token t.
func (r extJSONReader) element(dst []byte, name string, t json.Token, depth int) ([]byte, error) {
	at := len(dst)
	typ, dst, err := r.value(appendHeader(dst, 0, name), t, depth)
	if err != nil {
		return nil, err
	}
	dst[at] = byte(typ)
	return dst, nil
}
