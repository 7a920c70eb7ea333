package web

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// boundWidth is how many characters of a bound a table shows: an ObjectID and
// a hash fit.
const boundWidth = 47

// bound writes a key for a table whose page names the fields: the values
// alone, ids as hex and numbers as digits, which is also what the filters take.
func bound(p shardkey.Pattern, k shardkey.Key) templates.Key {
	if p.Hiding() != nil {
		return hiddenBound()
	}
	values, err := p.Values(k)
	if err != nil {
		return templates.Cut(p.Display(k), boundWidth)
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = plainValue(v)
	}
	return templates.Cut(strings.Join(parts, ", "), boundWidth)
}

func plainValue(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeObjectID:
		return v.ObjectID().Hex()
	case bson.TypeInt64:
		return strconv.FormatInt(v.Int64(), 10)
	case bson.TypeInt32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	}
	return shardkey.DisplayValue(v)
}

// boundOf writes a bound as the server has it, by the collection's key when it
// fits, as relaxed Extended JSON when the collection is gone or has another
// key by now.
func boundOf(t *topology.Table, ns string, doc bson.Raw) templates.Key {
	if t.Hiding() != nil || isHidden(doc) {
		return hiddenBound()
	}
	if c := t.Collection(topology.Namespace(ns)); c != nil {
		if k, err := c.Key.Bound(doc); err == nil {
			return bound(c.Key, k)
		}
	}
	out, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return templates.Key{Short: words.T("event.unreadable"), Full: words.T("event.unreadable")}
	}
	return templates.Cut(string(out), boundWidth)
}
