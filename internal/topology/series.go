package topology

import "strings"

// Series is what config.collections says of a time-series collection (timeseriesFields); zero for all
// others. Its rows are buckets of measurements: counts are of buckets, and the key has the buckets'
// fields. Up to 8.2 the collection stands under the name of its buckets; viewless ones of 9.0 under their own.
type Series struct {
	TimeField, MetaField, Granularity string
	MaxSpan                           int64 // seconds between a bucket's first and last measurement at most; 0 = not known
}

// bucketsPrefix begins the name of a time-series collection's buckets up to 8.2.
const bucketsPrefix = "system.buckets."

// Exists tells whether it is a time series.
func (s Series) Exists() bool { return s.TimeField != "" }

// spans are the longest buckets by granularity, in seconds.
var spans = map[string]int64{"seconds": 3600, "minutes": 24 * 3600, "hours": 30 * 24 * 3600}

// Span is MaxSpan, or what follows from the granularity; 0 if neither is known.
func (s Series) Span() int64 {
	if s.MaxSpan > 0 {
		return s.MaxSpan
	}
	return spans[s.Granularity]
}

// Measured is the field of a measurement that a field of the shard key comes from: meta.x from that below
// the metaField, the time of a bucket from the timeField. isTime says that it is the latter.
func (s Series) Measured(field string) (name string, isTime, ok bool) {
	if !s.Exists() {
		return "", false, false
	}
	if rest, ok := strings.CutPrefix(field, "meta"); ok && s.MetaField != "" && (rest == "" || rest[0] == '.') {
		return s.MetaField + rest, false, true
	}
	if field == "control.min."+s.TimeField || field == "control.max."+s.TimeField {
		return s.TimeField, true, true
	}
	return "", false, false
}

// CountsBuckets tells whether what is counted as documents of a collection are the buckets of a time series.
func (t *Table) CountsBuckets(ns Namespace) bool {
	if c := t.Collection(ns); c != nil && c.Series.Exists() {
		return true
	}
	return IsBuckets(ns) || t.Sizes[ns].Buckets
}

// BucketsOf is the namespace of a time-series collection's buckets.
func BucketsOf(ns Namespace) Namespace {
	return Namespace(ns.Database() + "." + bucketsPrefix + ns.Collection())
}

// SeriesName is the name that a time-series collection was created under; ns itself for all others.
func SeriesName(ns Namespace) Namespace {
	if name, ok := strings.CutPrefix(ns.Collection(), bucketsPrefix); ok {
		return Namespace(ns.Database() + "." + name)
	}
	return ns
}

// IsBuckets tells whether a namespace is that of buckets.
func IsBuckets(ns Namespace) bool { return strings.HasPrefix(ns.Collection(), bucketsPrefix) }
