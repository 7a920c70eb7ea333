package shardkey

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// JSON is the pattern as people type it in JSON, such as {"project_id":1,"key":1}; "" if
// it cannot be encoded.
func (p Pattern) JSON() string {
	text, err := bson.MarshalExtJSON(p.Raw(), false, false)
	if err != nil {
		return ""
	}
	return string(text)
}

// With is the pattern with one more field at its end.
func (p Pattern) With(f Field) Pattern {
	p.fields = append(slices.Clip(p.fields), f)
	return p
}

// HasField reports whether the pattern has a field of that name.
func (p Pattern) HasField(name string) bool {
	return slices.ContainsFunc(p.fields, func(f Field) bool { return f.Name == name })
}
