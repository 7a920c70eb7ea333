package parts

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// bound writes a key for a table whose page names the fields: the values
// alone, ids as hex and numbers as digits, which is also what the filters take.
func Bound(p shardkey.Pattern, k shardkey.Key) templates.Key {
	if p.Hiding() != nil {
		return hiddenBound()
	}
	values, err := p.Values(k)
	if err != nil {
		return templates.Cut(p.Display(k), answer.BoundWidth)
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = shardkey.PlainValue(v)
	}
	return templates.Cut(strings.Join(parts, ", "), answer.BoundWidth)
}

// boundOf writes a bound as the server has it, by the collection's key when it
// fits, as relaxed Extended JSON when the collection is gone or has another
// key by now.
func BoundOf(t *topology.Table, ns string, doc bson.Raw) templates.Key {
	if t.Hiding() != nil || shardkey.IsHidden(doc) {
		return hiddenBound()
	}
	if c := t.Collection(topology.Namespace(ns)); c != nil {
		if k, err := c.Key.Bound(doc); err == nil {
			return Bound(c.Key, k)
		}
	}
	out, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return templates.Key{Short: "(unreadable)", Full: "(unreadable)"}
	}
	return templates.Cut(string(out), answer.BoundWidth)
}
