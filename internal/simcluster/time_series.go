package simcluster

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Time-series collections are held as a real cluster lists and counts them, in both forms: up to 8.2 a view beside
// the collection of its buckets, from 9.0 on one viewless collection. Clients of the view insert and read measurements
// (time_series_buckets.go), those of the buckets insert buckets.

const bucketsPrefix = "system.buckets."

// bucketSpan is how many seconds a bucket of each granularity spans.
var bucketSpan = map[string]int32{"seconds": 3600, "minutes": 86400, "hours": 2592000}

// seriesOptions checks the options of a new time series, adds the default ones, and names the collection in which it is
// stored.
func (c *Cluster) seriesOptions(coll string, given bson.Raw) (stored string, options bson.D, err error) {
	time, ok := value.Field(given, "timeField").StringValueOK()
	switch {
	case !ok:
		return "", nil, status.Errorf(status.BadValue, "BSON field 'create.timeseries.timeField' is missing but a required field")
	case !c.version.atLeast(5, 0, 0):
		return "", nil, status.Errorf(status.CommandNotSupported, "this release has no time-series collections")
	}
	options = bson.D{{Key: "timeField", Value: time}}
	if meta := value.Field(given, "metaField"); meta.Type != 0 {
		options = append(options, bson.E{Key: "metaField", Value: meta})
	}
	granularity, named := value.Field(given, "granularity").StringValueOK()
	if !named {
		granularity = "seconds"
	}
	span, known := bucketSpan[granularity]
	if !known {
		return "", nil, status.Errorf(status.BadValue, "Enumeration value '%s' for field 'create.timeseries.granularity' is not a valid value.",
			granularity)
	}
	if n, ok := wholeNumber(value.Field(given, "bucketMaxSpanSeconds")); ok {
		span = int32(n)
	}
	options = append(options, bson.E{Key: "granularity", Value: granularity}, bson.E{Key: "bucketMaxSpanSeconds", Value: span})
	if c.version.atLeast(9, 0, 0) {
		return coll, options, nil
	}
	return bucketsPrefix + coll, options, nil
}

// bucketsOptions are the options of the collection of buckets: the schema of a bucket, and that of the series.
func bucketsOptions(series bson.D) bson.D {
	is := func(kind string) bson.D { return bson.D{{Key: "bsonType", Value: kind}} }
	object := func(required []string, properties bson.D) bson.D {
		return bson.D{{Key: "bsonType", Value: "object"}, {Key: "required", Value: required}, {Key: "properties", Value: properties}}
	}
	time := series[0].Value.(string)
	bound := object([]string{time}, bson.D{{Key: time, Value: is("date")}})
	closed := bson.E{Key: "additionalProperties", Value: false}
	control := append(object([]string{"version", "min", "max"}, bson.D{
		{Key: "version", Value: is("number")}, {Key: "min", Value: bound}, {Key: "max", Value: bound}, {Key: "closed", Value: is("bool")},
		{Key: "count", Value: bson.D{{Key: "bsonType", Value: "number"}, {Key: "minimum", Value: int32(1)}}},
	}), closed)
	bucket := append(object([]string{"_id", "control", "data"}, bson.D{
		{Key: "_id", Value: is("objectId")}, {Key: "control", Value: control}, {Key: "data", Value: is("object")},
		{Key: "meta", Value: bson.D{}},
	}), closed)
	return bson.D{{Key: "validator", Value: bson.D{{Key: "$jsonSchema", Value: bucket}}}, {Key: "clusteredIndex", Value: true},
		{Key: "timeseries", Value: series}}
}

// addSeries adds what a new collection of buckets has besides: an index (6.3), and a view in system.views.
func (c *Cluster) addSeries(node *engine.Node, buckets *engine.Coll, series bson.D) error {
	time := series[0].Value.(string)
	if meta, ok := value.Field(encode(series), "metaField").StringValueOK(); ok && c.version.atLeast(6, 3, 0) {
		key := bson.D{{Key: "meta", Value: int32(1)}, {Key: "control.min." + time, Value: int32(1)},
			{Key: "control.max." + time, Value: int32(1)}}
		if _, err := buckets.EnsureIndex(bson.D{{Key: "key", Value: key}, {Key: "name", Value: meta + "_1_" + time + "_1"}}); err != nil {
			return err
		}
	}
	name, view := strings.CutPrefix(buckets.Name, bucketsPrefix)
	if !view {
		return nil
	}
	views := node.Coll(buckets.DB, "system.views")
	if views == nil {
		views = node.Create(buckets.DB, "system.views", c.catalog.UUID(), nil)
	}
	_, err := views.Insert(encode(bson.D{{Key: "_id", Value: buckets.DB + "." + name}, {Key: "viewOn", Value: buckets.Name},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$_internalUnpackBucket", Value: series}}}}}))
	return err
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
	return []bson.D{row, {{Key: "name", Value: name}, {Key: "type", Value: "timeseries"},
		{Key: "options", Value: bson.D{{Key: "timeseries", Value: value.Field(coll.Options, "timeseries")}}},
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
