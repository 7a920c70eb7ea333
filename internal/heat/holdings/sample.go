package holdings

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/survey"
	"shardboard/internal/topology"
)

// row is one row that was read, or all rows with its key where the whole collection was. The shard key is kept, so that
// it can be placed by later tables.
type row struct {
	Key     string // encoded; "" in a collection without one
	Project bson.ObjectID
	Rows    uint32
	Bytes   int64
	Shard   string // where it was when it was read; "" if unknown
}

// batch is rows that were read together: a random sample of the collection, or all of its rows.
type batch struct {
	Begun, At time.Time
	Rows      []row
}

// sample is the rows that were read of one collection. Immutable: a step makes another one that
// shares its batches.
type sample struct {
	Life    topology.Incarnation // of the collection whose keys the rows have; zero: it is not sharded
	Counted bool                 // its only batch is all rows of the collection
	Batches []batch              // oldest first
}

// lifeOf is the life of a collection; zero if it is not sharded.
func lifeOf(t *topology.Table, ns topology.Namespace) topology.Incarnation {
	if c := t.Collection(ns); c != nil {
		return c.Incarnation
	}
	return topology.Incarnation{}
}

func (s *sample) read() (rows int) {
	for _, b := range s.Batches {
		rows += len(b.Rows)
	}
	return rows
}

// with is the sample with one more batch, and without the oldest ones that are not needed for so
// many rows.
func (s *sample) with(b batch, window int) *sample {
	out := &sample{Life: s.Life, Batches: append(slices.Clone(s.Batches), b)}
	left := out.read()
	for len(out.Batches) > 1 && left-len(out.Batches[0].Rows) >= window {
		left -= len(out.Batches[0].Rows)
		out.Batches = out.Batches[1:]
	}
	return out
}

// rowsOf converts rows that were read.
func rowsOf(t *topology.Table, ns topology.Namespace, read []survey.SizedRow) []row {
	c := t.Collection(ns)
	out := make([]row, len(read))
	same := interned{}
	for i, r := range read {
		out[i] = row{Project: r.Project, Rows: 1, Bytes: r.Bytes}
		if c != nil {
			if k, err := c.Key.Extract(r.Key); err == nil {
				out[i].Key = same.of(k.Encoded())
			}
		}
		out[i].Shard = same.of(shardOf(t, c, ns, out[i].Key))
	}
	return out
}

// interned holds one string of each text: rows of a project or document have the same key, and most the same shard.
type interned map[string]string

func (m interned) of(s string) string {
	if one, ok := m[s]; ok {
		return one
	}
	m[s] = s
	return s
}

// shardOf is the shard of a row by a table; "" when unknown.
func shardOf(t *topology.Table, c *topology.Collection, ns topology.Namespace, key string) string {
	switch {
	case c == nil:
		return t.Primary(ns.Database())
	case key == "" || c.Chunks.Len() == 0:
		return ""
	}
	i, _ := c.Chunks.FindEncoded(key)
	if i < 0 {
		return ""
	}
	return c.Chunks.Owner(i)
}
