package catalog

import "go.mongodb.org/mongo-driver/v2/bson"

// versionFields is a chunk version in log entries: up to 5.0 separate fields for
// version, epoch and timestamp (4.4 has no timestamps), from 6.0 one document with v, e
// and t (s/chunk_version.cpp, serialize).
func (r *Routing) versionFields(name string, v bson.Timestamp) bson.D {
	if r.format.versionParts {
		return bson.D{{Key: name, Value: bson.D{
			{Key: "e", Value: r.Epoch}, {Key: "t", Value: r.Timestamp}, {Key: "v", Value: v},
		}}}
	}
	d := bson.D{{Key: name, Value: v}, {Key: name + "Epoch", Value: r.Epoch}}
	if r.format.dbTimestamp {
		d = append(d, bson.E{Key: name + "Timestamp", Value: r.Timestamp})
	}
	return d
}

// logMerged writes the log entry of a merge since 6.0: the new chunk and the number of
// merged chunks.
func (c *Cluster) logMerged(what string, r *Routing, owner string, merged *Chunk, before bson.Timestamp, parts int) {
	d := append(r.versionFields("prevPlacementVersion", before), r.versionFields("mergedVersion", merged.Version)...)
	c.logChange(configServer, what, r.NS, append(d,
		bson.E{Key: "owningShard", Value: owner},
		bson.E{Key: "min", Value: merged.Min}, bson.E{Key: "max", Value: merged.Max},
		bson.E{Key: "numChunks", Value: int32(parts)}))
}

// mergedSince is the validAfter of a merged chunk: now, or from 7.0 the newest one of
// the parts.
func (c *Cluster) mergedSince(parts []*Chunk) bson.Timestamp {
	if !c.features.keepSince {
		return c.Timestamp()
	}
	var newest bson.Timestamp
	for _, ch := range parts {
		if at := ch.History[0].ValidAfter; older(newest, at) {
			newest = at
		}
	}
	return newest
}
