package simcluster

import (
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Time-series collections are held as a real cluster lists and counts them, in both forms: up to 8.2 a view beside
// the collection of its buckets, from 9.0 on one viewless collection. Clients of the view insert and read measurements,
// those of the buckets insert buckets.

const bucketsPrefix = "system.buckets."

// granularities are how many seconds a bucket of each spans, and what its time is rounded down to.
var granularities = map[string]struct {
	span  int32
	round time.Duration
}{"seconds": {3600, time.Minute}, "minutes": {86400, time.Hour}, "hours": {2592000, 24 * time.Hour}}

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
	meta := value.Field(given, "metaField")
	granularity, named := value.Field(given, "granularity").StringValueOK()
	if !named {
		granularity = "seconds"
	}
	span := granularities[granularity].span
	if span == 0 {
		return "", nil, status.Errorf(status.BadValue, "Enumeration value '%s' for field 'create.timeseries.granularity' is not a valid value.",
			granularity)
	}
	if n, ok := wholeNumber(value.Field(given, "bucketMaxSpanSeconds")); ok {
		span = int32(n)
	}
	options = value.D("timeField", time, value.When(meta.Type != 0, "metaField", meta), "granularity", granularity,
		"bucketMaxSpanSeconds", span)
	if c.version.atLeast(9, 0, 0) {
		return coll, options, nil
	}
	return bucketsPrefix + coll, options, nil
}

// bucketsOptions are the options of the collection of buckets: the schema of a bucket, and that of the series.
func bucketsOptions(series bson.D) bson.D {
	is := func(kind string) bson.D { return value.D("bsonType", kind) }
	object := func(required []string, properties bson.D) bson.D {
		return value.D("bsonType", "object", "required", required, "properties", properties)
	}
	time := series[0].Value.(string)
	bound := object([]string{time}, value.D(time, is("date")))
	control := value.D(object([]string{"version", "min", "max"}, value.D("version", is("number"), "min", bound,
		"max", bound, "closed", is("bool"), "count", value.D("bsonType", "number", "minimum", int32(1)))),
		"additionalProperties", false)
	bucket := value.D(object([]string{"_id", "control", "data"}, value.D("_id", is("objectId"), "control", control,
		"data", is("object"), "meta", bson.D{})), "additionalProperties", false)
	return value.D("validator", value.D("$jsonSchema", bucket), "clusteredIndex", true, "timeseries", series)
}

// addSeries adds what a new collection of buckets has besides: an index (6.3), and a view in system.views.
func (c *Cluster) addSeries(node *engine.Node, buckets *engine.Coll, series bson.D) error {
	time := series[0].Value.(string)
	if meta, ok := value.Field(encode(series), "metaField").StringValueOK(); ok && c.version.atLeast(6, 3, 0) {
		key := value.D("meta", int32(1), "control.min."+time, int32(1), "control.max."+time, int32(1))
		if _, err := buckets.EnsureIndex(encode(value.D("key", key, "name", meta+"_1_"+time+"_1"))); err != nil {
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
	_, err := views.Insert(encode(value.D("_id", buckets.DB+"."+name, "viewOn", buckets.Name,
		"pipeline", bson.A{value.D("$_internalUnpackBucket", series)})))
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
	return []bson.D{row, value.D("name", name, "type", "timeseries",
		"options", value.D("timeseries", value.Field(coll.Options, "timeseries")), "info", value.D("readOnly", false))}
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
	return append(out, bson.E{Key: "timeseries", Value: value.D("bucketsNs", coll.DB+"."+coll.Name,
		"bucketCount", int64(coll.Len()), "avgBucketSize", average)})
}

// fullBucket is the most measurements of one bucket (timeseriesBucketMaxCount).
const fullBucket = 1000

// series is a time series that clients use through its view.
type series struct {
	time, meta string
	round      time.Duration
	span       time.Duration
}

// seriesOf returns the time series of a view; ok is false if the name is no view of buckets. The caller holds
// catalog.Mu.
func (c *Cluster) seriesOf(db, coll string) (s series, ok bool) {
	for _, at := range c.stored(db, bucketsPrefix+coll, nil).sources {
		if isSeries(at.coll) {
			options := bson.Raw(value.Field(at.coll.Options, "timeseries").Value)
			s.time, _ = value.Field(options, "timeField").StringValueOK()
			s.meta, _ = value.Field(options, "metaField").StringValueOK()
			granularity, _ := value.Field(options, "granularity").StringValueOK()
			n, _ := wholeNumber(value.Field(options, "bucketMaxSpanSeconds"))
			s.round, s.span = granularities[granularity].round, time.Duration(n)*time.Second
			return s, true
		}
	}
	return s, false
}

// insertMeasurement stores a measurement in an open bucket of its series, or in a new one. Buckets are of the first
// version, without compression.
func (p *inserter) insertMeasurement(s series, doc bson.Raw) error {
	at, ok := value.Field(doc, s.time).TimeOK()
	if !ok {
		return status.Errorf(status.BadValue, "'%s' must be present and contain a valid BSON UTC datetime value", s.time)
	}
	fresh := s.bucket(at, doc)
	coll, _, err := p.place(fresh)
	if err != nil {
		return err
	}
	if id, bucket, ok := s.openBucket(coll, at, value.Field(fresh, "meta")); ok {
		_, err := p.cluster.transactions.write(p.tx, coll, id, s.add(bucket, at, doc))
		return err
	}
	_, err = p.cluster.transactions.write(p.tx, coll, 0, fresh)
	return err
}

// bucket is a new bucket with one measurement.
func (s series) bucket(at time.Time, doc bson.Raw) bson.Raw {
	meta, since := value.Field(doc, s.meta), at.UTC().Truncate(s.round)
	return s.add(encode(value.D("_id", bson.NewObjectIDFromTimestamp(since),
		"control", value.D("version", int32(1), "min", value.D(s.time, since), "max", value.D(s.time, at)),
		value.When(s.meta != "" && meta.Type != 0, "meta", meta), "data", bson.D{})), at, doc)
}

// openBucket finds the bucket of the same meta value that has room for one more measurement at a time.
func (s series) openBucket(coll *engine.Coll, at time.Time, meta bson.RawValue) (id engine.RecordID, bucket bson.Raw, ok bool) {
	for id, doc := range coll.All() {
		since, _ := value.Field(bson.Raw(value.Field(value.Field(doc, "control").Value, "min").Value), s.time).TimeOK()
		if !at.Before(since) && at.Before(since.Add(s.span)) && value.Compare(value.Field(doc, "meta"), meta) == 0 && s.count(doc) < fullBucket {
			return id, doc, true
		}
	}
	return 0, nil, false
}

// count is the number of measurements of a bucket.
func (s series) count(bucket bson.Raw) int {
	times, _ := bson.Raw(value.Field(value.Field(bucket, "data").Value, s.time).Value).Elements()
	return len(times)
}

// add puts a measurement into a bucket: data has a document for each field, with the numbers of the measurements.
func (s series) add(bucket bson.Raw, at time.Time, doc bson.Raw) bson.Raw {
	number := strconv.Itoa(s.count(bucket))
	for name, v := range value.Elements(doc) {
		if name != s.meta {
			bucket = value.Put(bucket, []string{"data", name, number}, v)
		}
	}
	last, _ := value.Field(value.Field(value.Field(bucket, "control").Value, "max").Value, s.time).TimeOK()
	if at.After(last) {
		bucket = value.Put(bucket, []string{"control", "max", s.time}, value.Date(at))
	}
	return bucket
}

// unpack is a collection of the measurements of buckets, for reads of the view.
func (s series) unpack(buckets *engine.Coll, owned func(bson.Raw) bool) *engine.Coll {
	out := engine.NewNode("").Create(buckets.DB, buckets.Name[len(bucketsPrefix):], buckets.UUID, nil)
	for _, bucket := range buckets.All() {
		if owned != nil && !owned(bucket) {
			continue
		}
		data := bson.Raw(value.Field(bucket, "data").Value)
		meta := value.Field(bucket, "meta")
		for i := range s.count(bucket) {
			d := value.D(s.time, value.Field(value.Field(data, s.time).Value, strconv.Itoa(i)))
			if meta.Type != 0 {
				d = append(d, bson.E{Key: s.meta, Value: meta})
			}
			for e := value.Read(data); e.Next(); {
				if v := value.Field(e.Value.Value, strconv.Itoa(i)); v.Type != 0 && string(e.Key) != s.time {
					d = append(d, bson.E{Key: string(e.Key), Value: v})
				}
			}
			doc, err := storable(encode(d))
			if err == nil {
				_, _ = out.Insert(doc)
			}
		}
	}
	return out
}

// unpacked is the target of a read of a view: the measurements of the buckets on every shard.
func (c *Cluster) unpacked(db, coll string, s series) target {
	t := target{ns: db + "." + coll}
	for _, at := range c.stored(db, bucketsPrefix+coll, nil).sources {
		if at.coll != nil {
			t.sources = append(t.sources, source{shard: at.shard, coll: s.unpack(at.coll, at.owned)})
		}
	}
	return t
}
