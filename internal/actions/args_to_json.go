package actions

import (
	"encoding/json"
	"shardboard/internal/actions/operation"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// JSON returns the given arguments as an object that ReadArgs reads, in the order of
// Arguments.
func (a Args) JSON() json.RawMessage {
	out := []byte{'{'}
	for _, x := range Arguments() {
		if !x.Given(a) {
			continue
		}
		value := x.write(a)
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, x.Name), ':'), value...)
	}
	return append(out, '}')
}

// write returns the value of a given argument; nil if it cannot be encoded.
func (x Argument) write(a Args) json.RawMessage {
	var value any
	switch p := x.field(&a).(type) {
	case *time.Duration:
		value = p.String()
	case *bson.Raw:
		if x.Type == TypePattern {
			return patternJSON(*p)
		}
		value = keyJSON(*p)
	case *[2]bson.Raw:
		if p[0] == nil || p[1] == nil {
			return nil
		}
		value = []json.RawMessage{keyJSON(p[0]), keyJSON(p[1])}
	case *[]Cut:
		var list []cutJSON
		for _, c := range *p {
			list = append(list, cutJSON{Min: keyJSON(c.Min), Max: keyJSON(c.Max), At: keyJSON(c.At), Half: c.Half, To: c.To, Pieces: c.Pieces})
		}
		value = list
	case *[]PlannedChange:
		value = writePlans(*p)
	case *[]operation.KeyZone:
		value = writeZones(*p)
	default:
		value = p
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}

// keyJSON encodes a document as canonical Extended JSON. Strings in a cluster may contain
// bytes that are not UTF-8. JSON cannot, so they become replacement characters.
func keyJSON(doc bson.Raw) json.RawMessage {
	if len(doc) == 0 {
		return nil
	}
	text, err := bson.MarshalExtJSON(doc, true, false)
	if err != nil {
		return nil
	}
	if raw := json.RawMessage(strings.ToValidUTF8(string(text), "\ufffd")); json.Valid(raw) {
		return raw
	}
	return nil
}
