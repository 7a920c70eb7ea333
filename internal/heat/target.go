package heat

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// target is a collection whose writes can be counted by the time in its ids.
type target struct {
	ns                topology.Namespace
	project, document string
}

// targets are the collections of the profile's databases to which every write
// adds a row: its _id tells when. Rows that are changed in place tell no such
// thing.
func targets(t *topology.Table, p *profile.Profile) []target {
	var out []target
	for _, db := range p.Match(t) {
		layout := p.Nearest(t, db)
		for _, c := range layout.Collections {
			ns := topology.Namespace(db + "." + c.Name)
			if c.Appended && t.Collection(ns) != nil {
				out = append(out, target{ns: ns, project: c.ProjectField, document: c.DocumentField})
			}
		}
	}
	return out
}

// position is the chunk of a row by what is counted of it; false when the key
// has a field that is neither.
func position(c *topology.Collection, t target, project, document bson.ObjectID) (int, bool) {
	key, ok := keyOf(c, t, project, document)
	if !ok {
		return 0, false
	}
	i, _ := c.Chunks.Find(key)
	return i, i >= 0
}

// keyOf is the shard key of a row by what is counted of it.
func keyOf(c *topology.Collection, t target, project, document bson.ObjectID) (shardkey.Key, bool) {
	values := make([]bson.RawValue, 0, c.Key.Len())
	for _, f := range c.Key.Fields() {
		switch f.Name {
		case t.project:
			values = append(values, placement.ObjectIDValue(project))
		case t.document:
			values = append(values, placement.ObjectIDValue(document))
		default:
			return shardkey.Key{}, false
		}
	}
	key, err := c.Key.KeyOf(values...)
	return key, err == nil
}

// growing is the one chunk that rows of a span of time went to when the shard
// key is their _id, which begins with the time; false when that is not the key,
// or a bound lies within the span.
func growing(c *topology.Collection, from, to time.Time) (int, bool) {
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

// place attributes a slot's rows to the chunks of a table.
func place(s *Slot, c *topology.Collection, t target) {
	s.Life = c.Incarnation
	rows := map[int]int64{}
	if i, ok := growing(c, s.From, s.To); ok {
		if all := s.Rows(); all > 0 {
			s.Pieces = []Piece{{Min: c.Chunks.At(i).Min, Rows: all}}
		}
		return
	}
	for _, n := range s.Counts {
		if i, ok := position(c, t, n.Project, n.Document); ok {
			rows[i] += n.Rows
			continue
		}
		s.Astray += n.Rows
	}
	for i := range sortedKeys(rows) {
		s.Pieces = append(s.Pieces, Piece{Min: c.Chunks.At(i).Min, Rows: rows[i]})
	}
}

// ProjectOfBound is the project that a bound begins with, where the key's first
// field is the project.
func ProjectOfBound(t *topology.Table, p *profile.Profile, c *topology.Collection, bound shardkey.Key) (bson.ObjectID, bool) {
	of := targetOf(t, p, c.NS)
	if !c.Key.LeadsWith(of.project) {
		return bson.ObjectID{}, false
	}
	values, err := c.Key.Values(bound)
	if err != nil {
		return bson.ObjectID{}, false
	}
	return values[0].ObjectIDOK()
}

// Counted are the collections whose writes can be counted, by name.
func Counted(t *topology.Table, p *profile.Profile) []topology.Namespace {
	var out []topology.Namespace
	for _, of := range targets(t, p) {
		out = append(out, of.ns)
	}
	slices.Sort(out)
	return out
}
