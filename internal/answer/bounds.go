package answer

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// BoundWidth is how many characters of a bound a table shows: an ObjectID and
// a hash fit.
const BoundWidth = 47

// NamedBoundWidth is the same beside a project's name: an ObjectID fits.
const NamedBoundWidth = 24

// BoundText writes a key for a reader who knows the names of its fields: the values
// alone, ids as hex and numbers as digits, which is also what the filters take.
func BoundText(p shardkey.Pattern, k shardkey.Key) string {
	if p.Hiding() != nil {
		return shardkey.HiddenText
	}
	values, err := p.Values(k)
	if err != nil {
		return p.Display(k)
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = shardkey.PlainValue(v)
	}
	return strings.Join(parts, ", ")
}

// BoundDocumentText writes a bound by the collection's key if it fits, or as
// relaxed Extended JSON if the collection is gone or has another key by now.
func BoundDocumentText(t *topology.Table, ns topology.Namespace, doc bson.Raw) string {
	switch {
	case len(doc) == 0:
		return ""
	case t.Hiding() != nil || shardkey.IsHidden(doc):
		return shardkey.HiddenText
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

// RangeShown is a range whose bounds are documents, as the cluster writes them.
func RangeShown(v View, ns topology.Namespace, min, max bson.Raw) api.RangeShown {
	out := api.RangeShown{Min: BoundDocumentText(v.Table, ns, min), Max: BoundDocumentText(v.Table, ns, max)}
	out.From, out.Until = v.ProjectsOfRange(ns, min, max)
	if c := v.Table.Collection(ns); c != nil {
		out.URL = CollectionURL(ns)
		out.Chunk, out.ChunkURL = ChunkOfBound(c, min)
	}
	return out
}

// ChunkOfBound is the chunk that now holds a lower bound: its short name and its address.
func ChunkOfBound(c *topology.Collection, min bson.Raw) (name, url string) {
	if c.Chunks.Len() == 0 || len(min) == 0 {
		return "", ""
	}
	k, err := c.Key.Bound(min)
	if err != nil {
		return "", ""
	}
	_, ch := c.Chunks.Find(k)
	return ChunkName(c, ch.Min), ChunkURL(c.NS, ChunkRef(c, ch.Min))
}

// KeyOf is a bound as embedded JSON; null for a bound that is not there.
func KeyOf(p shardkey.Pattern, k shardkey.Key) api.Key {
	if p.IsZero() || k.IsZero() {
		return nil
	}
	return api.Embedded(p.ExtJSON(k))
}
