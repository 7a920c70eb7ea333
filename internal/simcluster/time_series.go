package simcluster

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Time-series collections are held as a real cluster lists and counts them, in both forms: up to 8.2 a view beside
// the collection of its buckets, from 9.0 on one viewless collection. Clients insert buckets, not measurements.

const bucketsPrefix = "system.buckets."

// seriesColl is the name of what a time-series collection is stored in.
func (c *Cluster) seriesColl(coll string, options bson.Raw) (string, error) {
	switch {
	case value.Field(options, "timeField").Type != bson.TypeString:
		return "", status.Errorf(status.BadValue, "BSON field 'create.timeseries.timeField' is missing but a required field")
	case !c.version.atLeast(5, 0, 0):
		return "", status.Errorf(status.CommandNotSupported, "this release has no time-series collections")
	case c.version.atLeast(9, 0, 0):
		return coll, nil
	}
	return bucketsPrefix + coll, nil
}

// isSeries tells whether a collection holds the buckets of a time series.
func isSeries(coll *engine.Coll) bool {
	return coll != nil && coll.Options != nil && value.Field(coll.Options, "timeseries").Type == bson.TypeEmbeddedDocument
}

// seriesRow changes the row of a collection in listCollections, and adds that of the view of its buckets.
func seriesRow(coll *engine.Coll, row bson.D) []bson.D {
	if !isSeries(coll) {
		return []bson.D{row}
	}
	name, view := strings.CutPrefix(coll.Name, bucketsPrefix)
	if !view {
		row[1].Value = "timeseries"
		return []bson.D{row}
	}
	return []bson.D{row, {{Key: "name", Value: name}, {Key: "type", Value: "timeseries"}, {Key: "options", Value: coll.Options},
		{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}}}}}
}

// seriesStats replaces the count of documents by that of buckets.
func seriesStats(coll *engine.Coll, stats bson.D) bson.D {
	if !isSeries(coll) {
		return stats
	}
	var out bson.D
	average := int64(0)
	for _, e := range stats {
		switch e.Key {
		case "count", "avgObjSize":
		default:
			out = append(out, e)
		}
	}
	if n := int64(coll.Len()); n > 0 {
		average = coll.Bytes() / n
	}
	return append(out, bson.E{Key: "timeseries", Value: bson.D{{Key: "bucketsNs", Value: coll.DB + "." + coll.Name},
		{Key: "bucketCount", Value: int64(coll.Len())}, {Key: "avgBucketSize", Value: average}}})
}
