package catalog

import (
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// Placement is one entry of a chunk's history: since when a shard owned it.
type Placement struct {
	ValidAfter bson.Timestamp
	Shard      string
}

// Chunk is one range [Min, Max) of a collection's key space. Do not modify it: the
// values belong to the routing table.
type Chunk struct {
	ID      bson.ObjectID
	Min     bson.Raw // full shard key, inclusive
	Max     bson.Raw // full shard key, exclusive
	Shard   string
	Version bson.Timestamp // lastmod: T is the major, I the minor version
	History []Placement    // newest first, never empty
	Jumbo   bool

	flagged bool // the field jumbo exists, even if false
	record  engine.RecordID
}

// document is the chunk's document in config.chunks, with the fields in the server's
// order.
func (r *Routing) document(ch *Chunk) bson.D {
	d := bson.D{{Key: "_id", Value: ch.ID}}
	if r.format.chunksByNS {
		d = append(d, bson.E{Key: "ns", Value: r.NS})
	} else {
		d = append(d, bson.E{Key: "uuid", Value: uuidValue(r.UUID)})
	}
	d = append(d,
		bson.E{Key: "min", Value: ch.Min},
		bson.E{Key: "max", Value: ch.Max},
		bson.E{Key: "shard", Value: r.format.shardRef(ch.Shard)},
		bson.E{Key: "lastmod", Value: ch.Version})
	if r.format.chunksByNS {
		d = append(d, bson.E{Key: "lastmodEpoch", Value: r.Epoch})
	}
	if ch.Jumbo || ch.flagged {
		d = append(d, bson.E{Key: "jumbo", Value: ch.Jumbo})
	}
	if r.format.sinceField {
		d = append(d, bson.E{Key: "onCurrentShardSince", Value: ch.History[0].ValidAfter})
	}
	history := make(bson.A, len(ch.History))
	for i, p := range ch.History {
		history[i] = bson.D{{Key: "validAfter", Value: p.ValidAfter}, {Key: "shard", Value: r.format.shardRef(p.Shard)}}
	}
	return append(d, bson.E{Key: "history", Value: history})
}

// parseChunk reads a document of config.chunks that a client may have written.
func (f versionFeatures) parseChunk(id engine.RecordID, doc bson.Raw) *Chunk {
	ch := &Chunk{record: id}
	ch.ID, _ = doc.Lookup("_id").ObjectIDOK()
	lo, _ := doc.Lookup("min").DocumentOK()
	hi, _ := doc.Lookup("max").DocumentOK()
	ch.Min, ch.Max = append(bson.Raw(nil), lo...), append(bson.Raw(nil), hi...)
	ch.Shard = f.shardName(doc.Lookup("shard"))
	ch.Version.T, ch.Version.I, _ = doc.Lookup("lastmod").TimestampOK()
	ch.Jumbo, ch.flagged = truthy(doc.Lookup("jumbo")), doc.Lookup("jumbo").Type != 0
	entries, _ := doc.Lookup("history").ArrayOK()
	values, _ := entries.Values()
	for _, v := range values {
		e, ok := v.DocumentOK()
		if !ok {
			continue
		}
		var p Placement
		p.ValidAfter.T, p.ValidAfter.I, _ = e.Lookup("validAfter").TimestampOK()
		p.Shard = f.shardName(e.Lookup("shard"))
		ch.History = append(ch.History, p)
	}
	if len(ch.History) == 0 {
		ch.History = []Placement{{Shard: ch.Shard}}
	}
	return ch
}

// older reports whether version a comes before b.
func older(a, b bson.Timestamp) bool { return a.T < b.T || a.T == b.T && a.I < b.I }

// indexOf is the index of the chunk that contains key.
func (r *Routing) indexOf(key bson.Raw) int {
	n := sort.Search(len(r.chunks), func(i int) bool { return compareKeys(r.chunks[i].Min, key) > 0 })
	return max(n-1, 0)
}

// chunkExactly is the chunk with exactly these bounds, or nil.
func (r *Routing) chunkExactly(lo, hi bson.Raw) *Chunk {
	ch := r.chunks[r.indexOf(lo)]
	if compareKeys(ch.Min, lo) != 0 || compareKeys(ch.Max, hi) != 0 {
		return nil
	}
	return ch
}
