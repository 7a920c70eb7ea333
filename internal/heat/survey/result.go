package survey

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// How figures were had (catalogue codes).
const (
	MethodSample  = "sample"  // random rows, weighted by what the shards hold
	MethodCounted = "counted" // every row was read, or summed up by its shard
)

// Estimate is a number that was counted, or estimated with the interval that
// holds the truth in 95 of 100 cases.
type Estimate struct {
	Value, Low, High int64
	Exact            bool
	AtLeast          bool // counting ended before the last row
}

// Figure is the estimate in the form of every other figure.
func (e Estimate) Figure(at time.Time) topology.Figure {
	f := topology.Figure{Known: true, Value: e.Value, Exact: e.Exact, At: at, Method: MethodSample}
	switch {
	case e.AtLeast:
		f.Method, f.Exact = "atLeast", false
	case e.Exact:
		f.Method = MethodCounted
	default:
		f.PlusMinus = max(e.High-e.Value, e.Value-e.Low)
	}
	return f
}

// Weight is rows and the bytes of their BSON.
type Weight struct{ Rows, Bytes Estimate }

// Part is what one shard has of a line.
type Part struct {
	Shard string // "" when the routing table does not tell
	Weight
}

// Line is what a project or a Yorkie document has of a collection.
type Line struct {
	Project  bson.ObjectID // zero: not known, or the first project's
	Document bson.ObjectID // zero: the line is a project's
	Weight
	Dead   *Weight // of it, what nothing uses any more; nil: not looked at
	Shards []Part
}

// Collection is what a survey found in one collection.
type Collection struct {
	NS        topology.Namespace
	Method    string
	At        time.Time // when its last row was read
	Read      int64     // rows that were read for it
	Complete  bool      // as many as were meant to be
	Reason    string    // why nothing could be read (catalogue code); "" = it could
	Problem   string    // that in a sentence
	Rows      topology.Figure
	Bytes     topology.Figure
	Orphans   topology.Figure
	Projects  []Line  // largest first
	Documents []Line  // largest first, not all
	Unseen    *Weight // the most that a project which is not listed has; nil: nothing
	Checked   int     // Yorkie documents that were looked for, to find rows without one
}

// Result is what a survey found.
type Result struct{ Collections []Collection }

// Finding is the newest that is known of a project in one collection.
type Finding struct {
	Survey     string // id
	Kind       Kind
	Collection *Collection
	Line       *Line // nil: no row of it was seen; Collection.Unseen bounds what there may be
}
