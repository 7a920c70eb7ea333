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
