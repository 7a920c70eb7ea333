// Package rowsample reads some rows of a collection, with the fields that shard keys could be made of and nothing else.
// It reads within the budget that all measurements share, and stops when nobody waits for the rows any more.
package rowsample

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Limits of a reading.
const (
	LeastRows   = 100
	MostRows    = 50_000
	DefaultRows = 2000
	MostFields  = 24
)

// Query says what is read.
type Query struct {
	NS     topology.Namespace
	Fields []string // dotted paths; _id is read too
	Rows   int
	Keys   []shardkey.Pattern // that the server analyzes, where it can
}

// Check refuses a query: one sentence, with the field and its limit.
func (q Query) Check() error {
	switch {
	case q.Rows < LeastRows || q.Rows > MostRows:
		return fault.New(fault.Invalid, "rows must be a number from %d to %d, not %d.", LeastRows, MostRows, q.Rows)
	case len(q.Fields) > MostFields:
		return fault.New(fault.Invalid, "The keys have %d fields together; at most %d can be read.", len(q.Fields), MostFields)
	}
	return nil
}

// id is the same for queries that are answered by the same reading.
func (q Query) id() string {
	fields := slices.Clone(q.Fields)
	slices.Sort(fields)
	out := []string{string(q.NS), time.Duration(q.Rows).String(), strings.Join(slices.Compact(fields), "\x00")}
	for _, k := range q.Keys {
		out = append(out, k.String())
	}
	return strings.Join(out, "\x01")
}

// Row is a row of a collection.
type Row struct {
	Doc   bson.Raw // _id and the fields
	Bytes int64    // of the whole row in the collection
}

// Analysis is what the server's analyzeShardKey says of a key.
type Analysis struct {
	Key       shardkey.Pattern
	Reason    string // why there is none; "" if there is one
	Rows      int64  // that it looked at
	Values    int64  // different values among them
	Common    int64  // rows of the most common one
	Unique    bool
	Monotonic string // monotonic, not monotonic or unknown

	Queries *Queries // where sampled queries would go; nil: none are sampled
}

// Queries are shares of the queries that the server sampled, by where a key would send them.
type Queries struct {
	Reason        string // why nothing is said of them; "" if something is
	Reads, Writes Targets
}

// Targets are how many of some queries go to one shard, to several and to all.
type Targets struct {
	Sampled           int64
	One, Several, All float64 // shares, 0 to 1; 0 without queries
}

// Source is what is read of a cluster. Errors are classified with fault.
type Source interface {
	// RandomRows draws rows at random and calls each for every one, until it fails. The document belongs to each.
	RandomRows(ctx context.Context, ns topology.Namespace, fields []string, rows int, each func(Row) error) error
	// AllRows reads all rows, but at most so many.
	AllRows(ctx context.Context, ns topology.Namespace, fields []string, most int, each func(Row) error) error
	// UniqueIndexes are the fields of the unique indexes but that of _id.
	UniqueIndexes(ctx context.Context, ns topology.Namespace) ([][]string, error)
	// AnalyzeKey lets the server look at so many rows. Releases before 7.0 cannot; some users may not. Without an index
	// that begins with the key, the analysis has the reason.
	AnalyzeKey(ctx context.Context, ns topology.Namespace, key shardkey.Pattern, rows int) (Analysis, error)
}
