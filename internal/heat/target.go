package heat

import (
	"maps"
	"slices"
	"time"
	"unique"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// target is a collection whose writes can be counted, with the fields that identify the writers.
type target struct {
	ns                topology.Namespace
	method            Method
	project, document string
	date              string // field with the date of a row's last change; "" = the time is in its _id
}

// targets returns the collections of the profile's databases that can be counted.
func targets(t *topology.Table, p *profile.Profile) []target {
	var out []target
	for _, db := range p.Match(t) {
		for _, col := range p.Nearest(t, db).Collections {
			ns := topology.Namespace(db + "." + col.Name)
			c := t.Collection(ns)
			if c == nil {
				continue
			}
			switch how := coverage(c, col); {
			case how.Not != "":
			case how.Method == NewRows:
				out = append(out, target{ns: ns, project: col.ProjectField, document: col.DocumentField})
			default: // grouping by row would be too expensive
				out = append(out, target{ns: ns, method: ChangedRows, project: col.ProjectField, date: col.WrittenAt})
			}
		}
	}
	return out
}

// byMethod returns the targets counted by one method.
func byMethod(m Method, all []target) []target {
	return slices.DeleteFunc(slices.Clone(all), func(t target) bool { return t.method != m })
}

// chunkPosition is the chunk of rows that a slot counted; false when they may be in several chunks, or the key
// begins with another field.
func (s Slot) chunkPosition(c *topology.Collection, t target, n Count) (int, bool) {
	r, ok := s.keyRange(c, t, n)
	if !ok {
		return 0, false
	}
	from, to := c.Chunks.Overlap(r)
	return from, to-from == 1
}

// keyRange is the range of keys that counted rows can have: a single key when its fields are all
// known, else the prefix.
func (s Slot) keyRange(c *topology.Collection, t target, n Count) (shardkey.Range, bool) {
	values := s.keyValues(c, t, n)
	if len(values) == 0 {
		return shardkey.Range{}, false
	}
	r, err := c.Key.PrefixRange(values...)
	return r, err == nil
}

// keyValues are the first fields of the shard key of counted rows, as far as the counts name them.
func (s Slot) keyValues(c *topology.Collection, t target, n Count) []bson.RawValue {
	values := make([]bson.RawValue, 0, c.Key.Len())
	for _, f := range c.Key.Fields() {
		id := n.Project
		switch {
		case f.Name == t.project:
		case f.Name == t.document && !n.Document.IsZero():
			id = n.Document
		default:
			return values
		}
		value, known := s.Stored.Value(id)
		if !known {
			return values
		}
		values = append(values, value)
	}
	return values
}

// growingChunk is the one chunk that the rows of a time span went to when the shard key is _id,
// which begins with the time; false for other keys, or if a bound lies within the span.
func growingChunk(c *topology.Collection, from, to time.Time) (int, bool) {
	if f := c.Key.Fields(); len(f) != 1 || f[0].Name != "_id" || f[0].Hashed {
		return 0, false
	}
	first, err := c.Key.KeyOf(placement.ObjectIDValue(bson.NewObjectIDFromTimestamp(from)))
	if err != nil {
		return 0, false
	}
	last, err := c.Key.KeyOf(placement.ObjectIDValue(bson.NewObjectIDFromTimestamp(to)))
	if err != nil {
		return 0, false
	}
	a, _ := c.Chunks.Find(first)
	b, _ := c.Chunks.Find(last)
	return a, a >= 0 && a == b
}

// assignChunks attributes a slot's rows to the chunks of a table.
func assignChunks(s *Slot, c *topology.Collection, t target) {
	s.Life = c.Incarnation
	rows := map[int]int64{}
	if i, ok := growingChunk(c, s.From, s.To); ok {
		if all := s.Rows(); all > 0 {
			s.Pieces = []Piece{PieceOf(c, i, all)}
		}
		return
	}
	for _, n := range s.Counts {
		if i, ok := s.chunkPosition(c, t, n); ok {
			rows[i] += n.Rows
			continue
		}
		s.Astray += n.Rows
	}
	for _, i := range slices.Sorted(maps.Keys(rows)) {
		s.Pieces = append(s.Pieces, PieceOf(c, i, rows[i]))
	}
}

// PieceOf is rows in a chunk of a table, by its position.
func PieceOf(c *topology.Collection, i int, rows int64) Piece {
	ch := c.Chunks.At(i)
	return Piece{unique.Make(Chunk{ch.Min, ch.Max, ch.Shard}), rows}
}

// ProjectOfBound is the project of a bound, if the key begins with the project.
func ProjectOfBound(t *topology.Table, p *profile.Profile, c *topology.Collection, bound shardkey.Key) (bson.ObjectID, bool) {
	of := targetOf(t, p, c.NS)
	if !c.Key.LeadsWith(of.project) {
		return bson.ObjectID{}, false
	}
	values, err := c.Key.Values(bound)
	if err != nil {
		return bson.ObjectID{}, false
	}
	id, _, ok := placement.IDOf(values[0])
	return id, ok
}
