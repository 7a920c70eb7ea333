package catalog

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// keys are the new keys of all documents, sorted.
func (o *resharding) keys(r *Routing) []bson.Raw {
	var keys []bson.Raw
	o.each(r, func(doc bson.Raw) {
		if key, err := o.key.keyOf(doc); err == nil {
			keys = append(keys, key)
		}
	})
	slices.SortFunc(keys, compareKeys)
	return keys
}

// each visits every owned document.
func (o *resharding) each(r *Routing, visit func(bson.Raw)) {
	o.eachPlace(r, func(_ docPlace, doc bson.Raw) { visit(doc) })
}

// points are the split points for the initial number of chunks and at zone boundaries.
func (o *resharding) points(keys []bson.Raw) []bson.Raw {
	var points []bson.Raw
	for i := int64(1); i < o.initial && len(keys) > 0; i++ {
		points = append(points, keys[int(i)*len(keys)/int(o.initial)])
	}
	for _, z := range o.zones {
		points = append(points, z.Min, z.Max)
	}
	slices.SortFunc(points, compareKeys)
	points = slices.CompactFunc(points, func(a, b bson.Raw) bool { return compareKeys(a, b) == 0 })
	return slices.DeleteFunc(points, func(p bson.Raw) bool {
		return compareKeys(p, o.key.min()) <= 0 || compareKeys(p, o.key.max()) >= 0
	})
}

// estimate computes the approximate work of one recipient: the donors' data, orphans
// included, divided by the number of recipients.
func (o *resharding) estimate(r *Routing) {
	n := int64(max(len(o.c.routes[o.temp].counts), 1))
	for _, s := range r.ShardsOwning() {
		if coll := o.c.data(s, o.ns); coll != nil {
			o.bytes, o.docs = o.bytes+coll.Bytes(), o.docs+int64(coll.Len())
		}
	}
	o.bytes, o.docs = o.bytes/n, o.docs/n
}

// bumpRecipients increases the version of one chunk on every recipient, so that the
// shards notice a state change.
func (o *resharding) bumpRecipients() {
	t := o.c.routes[o.temp]
	seen := make(map[string]bool)
	major := true
	for _, ch := range t.chunks {
		if seen[ch.Shard] {
			continue
		}
		seen[ch.Shard] = true
		if major {
			ch.Version, major = t.bumpMajor(), false
		} else {
			ch.Version = t.bumpMinor()
		}
		o.c.saveChunk(t, ch)
	}
}
