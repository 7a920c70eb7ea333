package holdings

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// placed is a sample by project and shard, as one table places its rows.
type placed struct {
	of      *sample
	chunks  *topology.ChunkMap // that placed them; nil: not sharded
	primary string             // that has all of them when not sharded
	cells   map[bson.ObjectID]map[string]*cell
	shards  map[string]*cell // all projects
	largest int64            // bytes of the largest row
	oldest  time.Time
	newest  time.Time
	read    int64
}

// cell is the rows read of one project on one shard.
type cell struct {
	rows    int64
	bytes   float64
	squares float64 // sum of the squares of the rows' bytes
	moved   bool    // rows were elsewhere when they were read
}

func (c *cell) add(r row, moved bool) {
	bytes := float64(r.Bytes)
	c.rows += int64(r.Rows)
	c.bytes += bytes
	c.squares += bytes * bytes / float64(r.Rows) // as if rows with one key were of one size
	c.moved = c.moved || moved
}

// place places the rows of a sample.
func place(t *topology.Table, ns topology.Namespace, s *sample) *placed {
	c := t.Collection(ns)
	out := &placed{of: s, cells: map[bson.ObjectID]map[string]*cell{}, shards: map[string]*cell{}, primary: t.Primary(ns.Database())}
	if c != nil {
		out.chunks = c.Chunks
	}
	for _, b := range s.Batches {
		if out.oldest.IsZero() {
			out.oldest = b.Begun
		}
		out.newest = b.At
		for _, r := range b.Rows {
			shard := shardOf(t, c, ns, r.Key)
			out.cell(r.Project, shard).add(r, shard != r.Shard)
			if out.shards[shard] == nil {
				out.shards[shard] = &cell{}
			}
			out.shards[shard].add(r, false)
			out.largest = max(out.largest, r.Bytes/int64(r.Rows))
			out.read += int64(r.Rows)
			if shard != r.Shard { // the shard that it left is uncertain too
				out.cell(r.Project, r.Shard).moved = true
			}
		}
	}
	return out
}

// current reports whether a table places the rows in the same way.
func (p *placed) current(t *topology.Table, ns topology.Namespace, s *sample) bool {
	if p == nil || p.of != s {
		return false
	}
	if c := t.Collection(ns); c != nil {
		return c.Chunks == p.chunks
	}
	return p.chunks == nil && p.primary == t.Primary(ns.Database())
}

func (p *placed) cell(project bson.ObjectID, shard string) *cell {
	of := p.cells[project]
	if of == nil {
		of = map[string]*cell{}
		p.cells[project] = of
	}
	if of[shard] == nil {
		of[shard] = &cell{}
	}
	return of[shard]
}
