// Package keys compares shard keys over the rows of a collection: real ones that were sampled, or those of a
// model. For each key it works out what a cluster would make of the rows: how many values the key has, which is
// most common, what cannot be split, how chunks and inserts spread over shards, which queries reach one shard and
// which all, which unique indexes remain possible, and what it costs to get there. It reads nothing itself.
package keys

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// MostRows is how many rows a sample can have.
const MostRows = 5_000_000

// Sample is rows of a collection in the order in which they were inserted. Of a row it has the values of the
// fields that keys are made of, as a shard key encodes them: 13 bytes for an ObjectID. Not safe for concurrent use.
type Sample struct {
	columns []column
	sizes   []int32
	bytes   int64
	total   int64 // rows of the collection
}

// column has the values of a field.
type column struct {
	field  string
	alone  shardkey.Pattern // the field as a key
	plain  values
	hashed values // made when a key needs them
	bad    error  // of the first value that no key allows
}

// values are encoded, one after the other.
type values struct {
	bytes []byte
	ends  []uint32
}

func (v *values) add(encoded string) {
	v.bytes = append(v.bytes, encoded...)
	v.ends = append(v.ends, uint32(len(v.bytes)))
}

func (v *values) of(row int) []byte {
	start := uint32(0)
	if row > 0 {
		start = v.ends[row-1]
	}
	return v.bytes[start:v.ends[row]]
}

// NewSample is an empty sample of rows with these fields, by dotted path. It fails for fields that no key can have.
func NewSample(fields ...string) (*Sample, error) {
	s := &Sample{}
	for _, f := range fields {
		raw, err := bson.Marshal(bson.D{{Key: f, Value: 1}})
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "The field %q cannot be in a shard key.", f)
		}
		alone, err := shardkey.ParsePattern(raw)
		if err != nil {
			return nil, err
		}
		s.columns = append(s.columns, column{field: f, alone: alone})
	}
	return s, nil
}

// Add adds a row: a document with its fields, and its size in the collection in bytes. A field that it lacks is null,
// as in the server. The document is not kept.
func (s *Sample) Add(doc bson.Raw, bytes int) {
	s.sizes = append(s.sizes, int32(min(bytes, math.MaxInt32)))
	s.bytes += int64(bytes)
	for i := range s.columns {
		c := &s.columns[i]
		key, err := c.alone.Extract(doc)
		if err != nil && c.bad == nil {
			c.bad = fault.Wrap(fault.Invalid, err, "Row %d has a value that no shard key allows. %s", len(s.sizes), fault.Text(err))
		}
		c.plain.add(key.Encoded())
	}
}

// Expect makes room for so many rows more, so that a large sample is not copied while it grows. Fewer or more may be
// added.
func (s *Sample) Expect(rows int) {
	s.sizes = slices.Grow(s.sizes, rows)
	for i := range s.columns {
		c := &s.columns[i]
		c.plain.bytes, c.plain.ends = slices.Grow(c.plain.bytes, rows*idBytes), slices.Grow(c.plain.ends, rows)
	}
}

// Lengths of an encoded hash, at most, and of an encoded ObjectID.
const (
	hashBytes = 10
	idBytes   = 13
)

// DrawnFrom says how many rows the collection has from which the sample was drawn. Without it the sample is the
// whole collection.
func (s *Sample) DrawnFrom(rows int64) { s.total = rows }

// Len is the number of rows in the sample.
func (s *Sample) Len() int { return len(s.sizes) }

// Whole reports whether the sample is all rows of the collection, so that what is counted in it is exact.
func (s *Sample) Whole() bool { return s.total <= int64(s.Len()) }

// Rows is the number of rows of the collection.
func (s *Sample) Rows() int64 { return max(s.total, int64(s.Len())) }

// Bytes is the size of the collection; an estimate unless the sample is whole.
func (s *Sample) Bytes() int64 { return int64(float64(s.bytes) * s.scale()) }

// scale is how many rows of the collection one row of the sample stands for.
func (s *Sample) scale() float64 {
	if s.Len() == 0 {
		return 1
	}
	return float64(s.Rows()) / float64(s.Len())
}

// of are the values of a key's fields, in its order.
func (s *Sample) of(key shardkey.Pattern) ([]*values, error) {
	var out []*values
	for _, f := range key.Fields() {
		i := slices.IndexFunc(s.columns, func(c column) bool { return c.field == f.Name })
		if i < 0 {
			return nil, fault.New(fault.Invalid, "The sample does not have the field %q.", f.Name)
		}
		c := &s.columns[i]
		if c.bad != nil {
			return nil, c.bad
		}
		if !f.Hashed {
			out = append(out, &c.plain)
			continue
		}
		if err := c.hash(); err != nil {
			return nil, err
		}
		out = append(out, &c.hashed)
	}
	return out, nil
}

// hash works out the hashes of all values.
func (c *column) hash() error {
	if len(c.hashed.ends) == len(c.plain.ends) {
		return nil
	}
	c.hashed = values{bytes: make([]byte, 0, len(c.plain.ends)*hashBytes), ends: make([]uint32, 0, len(c.plain.ends))}
	for row := range c.plain.ends {
		v, err := c.alone.Values(shardkey.FromParts(string(c.plain.of(row)), ""))
		if err != nil {
			return err
		}
		h, err := shardkey.Hash(v[0])
		if err != nil {
			return err
		}
		c.hashed.add(shardkey.HashKey(h).Encoded())
	}
	return nil
}
