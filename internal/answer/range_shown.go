package answer

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// rangeShown is a range whose bounds are documents, as the cluster writes them.
func rangeShown(v View, ns topology.Namespace, min, max bson.Raw) api.RangeShown {
	out := api.RangeShown{Min: boundDocumentText(v.Table, ns, min), Max: boundDocumentText(v.Table, ns, max)}
	if c := v.Table.Collection(ns); c != nil {
		out.URL, out.Chunk = CollectionURL(ns), chunkOfBound(c, min)
	}
	return out
}

// boundDocumentText writes a bound by the collection's key if it fits, or as
// relaxed Extended JSON if the collection is gone or has another key by now.
func boundDocumentText(t *topology.Table, ns topology.Namespace, doc bson.Raw) string {
	switch {
	case len(doc) == 0:
		return ""
	case t.Hiding() != nil || IsHidden(doc):
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

// chunkOfBound is the short name of the chunk that now holds a lower bound.
func chunkOfBound(c *topology.Collection, min bson.Raw) string {
	if c.Chunks.Len() == 0 || len(min) == 0 {
		return ""
	}
	k, err := c.Key.Bound(min)
	if err != nil {
		return ""
	}
	_, ch := c.Chunks.Find(k)
	return ChunkName(c, ch.Min)
}
