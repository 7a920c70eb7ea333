package survey

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// cell is the sums of the rows of one project on one shard.
type cell struct {
	Project   bson.ObjectID `json:"p"`
	Shard     string        `json:"s"`
	Rows      int64         `json:"n"`
	Bytes     float64       `json:"b"`
	DeadRows  int64         `json:"dn,omitempty"`
	DeadBytes float64       `json:"db,omitempty"`
}

type cellKey struct {
	project bson.ObjectID
	shard   string
}

// cells are a collection's partial sums, in the order of first occurrence. The index is rebuilt
// after a restart.
type cells struct {
	All   []cell `json:"all"`
	Read  int64  `json:"read"`
	index map[cellKey]int
}

// of returns the cell of a key and creates it if needed.
func (c *cells) of(k cellKey) *cell {
	if c.index == nil {
		c.index = make(map[cellKey]int, len(c.All))
		for i, one := range c.All {
			c.index[cellKey{one.Project, one.Shard}] = i
		}
	}
	i, ok := c.index[k]
	if !ok {
		i = len(c.All)
		c.index[k] = i
		c.All = append(c.All, cell{Project: k.project, Shard: k.shard})
	}
	return &c.All[i]
}

// add adds a row.
func (c *cells) add(t *topology.Table, ns topology.Namespace, row SizedRow) {
	one := c.of(cellKey{row.Project, shardOf(t, ns, row.Key)})
	one.Rows++
	one.Bytes += float64(row.Bytes)
	if row.Dead {
		one.DeadRows++
		one.DeadBytes += float64(row.Bytes)
	}
	c.Read++
}
