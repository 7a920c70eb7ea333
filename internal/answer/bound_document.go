package answer

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// boundDocumentText writes a bound by the collection's key if it fits, or as
// relaxed Extended JSON if the collection is gone or has another key by now.
func boundDocumentText(t *topology.Table, ns topology.Namespace, doc bson.Raw) string {
	switch {
	case len(doc) == 0:
		return ""
	case t.Hiding() != nil || shardkey.IsHidden(doc):
		return "hidden: needs the role support"
	}
	if c := t.Collection(ns); c != nil {
		if k, err := c.Key.Bound(doc); err == nil {
			return BoundText(c.Key, k)
		}
	}
	out, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return "(unreadable)"
	}
	return string(out)
}
