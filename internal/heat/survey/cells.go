package survey

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// cell is the sums of the rows of one project, or of one of its Yorkie documents, on one shard.
type cell struct {
	Project   bson.ObjectID `json:"p"`
	Document  bson.ObjectID `json:"d"`
	Shard     string        `json:"s"`
	Rows      int64         `json:"n"`
	Bytes     float64       `json:"b"`
	Squares   float64       `json:"q"` // sum of the squares of the rows' bytes
	DeadRows  int64         `json:"dn,omitempty"`
	DeadBytes float64       `json:"db,omitempty"`
}

type cellKey struct {
	project, document bson.ObjectID
	shard             string
}

// cells are a collection's partial sums, in the order of first occurrence. The index is rebuilt
// after a restart.
type cells struct {
	All   []cell `json:"all"`
	Top   int64  `json:"top"` // bytes of the largest row
	Read  int64  `json:"read"`
	index map[cellKey]int
}

// of returns the cell of a key and creates it if needed.
func (c *cells) of(k cellKey) *cell {
	if c.index == nil {
		c.index = make(map[cellKey]int, len(c.All))
		for i, one := range c.All {
			c.index[cellKey{one.Project, one.Document, one.Shard}] = i
		}
	}
	i, ok := c.index[k]
	if !ok {
		i = len(c.All)
		c.index[k] = i
		c.All = append(c.All, cell{Project: k.project, Document: k.document, Shard: k.shard})
	}
	return &c.All[i]
}

// add adds a row; byDocument keeps separate sums for each document.
func (c *cells) add(t *topology.Table, ns topology.Namespace, row SizedRow, byDocument bool) {
	k := cellKey{project: row.Project, shard: shardOf(t, ns, row.Key)}
	if byDocument {
		k.document = row.Document
	}
	one := c.of(k)
	bytes := float64(row.Bytes)
	one.Rows++
	one.Bytes += bytes
	one.Squares += bytes * bytes
	if row.Dead {
		one.DeadRows++
		one.DeadBytes += bytes
	}
	c.Read++
	c.Top = max(c.Top, row.Bytes)
}
