package survey

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// How figures were measured (catalogue codes).
const (
	MethodSample  = "sample"  // random rows, weighted by the shards' totals: estimates, and stored surveys
	MethodCounted = "counted" // every row was read, or summed up by its shard
)

// Estimate is an exact count, or an estimate with its 95 % interval.
type Estimate struct {
	Value, Low, High int64
	Exact            bool
	AtLeast          bool // a lower bound: counting ended before the last row
}

// Figure converts the estimate.
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

// Weight is rows and their BSON bytes.
type Weight struct{ Rows, Bytes Estimate }

// Part is one shard's part of a line.
type Part struct {
	Shard string // "" when unknown
	Weight
}

// Line is what a project or Yorkie document has in a collection.
type Line struct {
	Project  bson.ObjectID // zero: unknown, or the first project
	Document bson.ObjectID // zero: the line is of a whole project
	Stored   []byte        `json:",omitempty"` // the document's id as it is stored, where that is no ObjectID
	Weight
	Dead   *Weight // part that nothing uses any more; nil: not examined
	Shards []Part
}

// Collection is the result for one collection.
type Collection struct {
	NS        topology.Namespace
	Method    string
	At        time.Time // when its last row was read
	Read      int64     // rows read
	Complete  bool      // all intended rows were read
	Reason    string    // why reading failed (catalogue code); "" if it did not
	Problem   string    // Reason as a sentence
	Rows      topology.Figure
	Bytes     topology.Figure
	Orphans   topology.Figure
	Projects  []Line  // largest first
	Documents []Line  // the largest ones, largest first
	Unseen    *Weight // upper bound for a project that is not listed; nil: it has nothing
	Checked   int     // Yorkie documents looked up to find rows of deleted ones
}

// Result is the result of a survey.
type Result struct{ Collections []Collection }

// Finding is the best known measurement of a project in one collection.
type Finding struct {
	Survey     string // id
	Collection *Collection
	Line       *Line // nil: no row was seen; Collection.Unseen is the upper bound
}
