package parts

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// Bound writes a key for a table whose page names the fields.
func Bound(p shardkey.Pattern, k shardkey.Key) templates.Key {
	return templates.Cut(answer.BoundText(p, k), answer.BoundWidth)
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
