package holdings

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/survey"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// MaxProjects is how many projects a snapshot lists; the others are one sum.
const MaxProjects = 10_000

// Snapshot is what every project holds on every shard, by one routing table. Immutable.
type Snapshot struct {
	Seq         uint64 // increases with every measurement
	State       State
	Collections []Collection // by name
	Projects    []Project    // of which rows were seen, most bytes first; at most MaxProjects
	Others      Others       // further projects of which rows were seen
	Totals      []Total      // by shard name

	table *topology.Table
	parts []*part // of Collections, in their order
}

// FromRows is a snapshot of rows that were read at one time, for tests of pages. Rows are a random
// sample of their collections.
func FromRows(t *topology.Table, p *profile.Profile, at time.Time, rows map[topology.Namespace][]survey.SizedRow) *Snapshot {
	s := &Snapshot{Seq: 1, State: Measuring, table: t}
	targets := targetsOf(t, p)
	s.Collections = make([]Collection, len(targets))
	for i, one := range targets {
		s.Collections[i].NS = one.NS
		var from *placed
		if read, ok := rows[one.NS]; ok {
			b := batch{Begun: at, At: at, Rows: rowsOf(t, one.NS, read)}
			from = place(t, one.NS, &sample{Life: lifeOf(t, one.NS), Batches: []batch{b}})
		}
		s.parts = append(s.parts, newPart(t, one, &s.Collections[i], from))
	}
	s.build()
	return s
}

// Collection is how a collection was measured.
type Collection struct {
	NS      topology.Namespace
	Method  string    // survey.MethodSample or survey.MethodCounted; "" = no figures yet
	Oldest  time.Time // when the first of its rows was read
	At      time.Time // when the last of its rows was read
	Read    int64     // rows
	Reason  string    // why there are no figures or no newer ones (catalogue code); "" = no problem
	Problem string    // Reason as a sentence; "" for codes with a text of their own
	Rows    topology.Figure
	Bytes   topology.Figure
}

// Measured reports whether there are figures of the collection.
func (c Collection) Measured() bool { return c.Method != "" }

// Project is a project of which rows were seen. Its figures are for sorting and sums; Snapshot.Project
// has them with their intervals.
type Project struct {
	DB          string
	ID          bson.ObjectID // zero: the first project, or rows without a project
	Rows, Bytes int64
	Shards      []Cell // where rows were seen, by name
}

// Cell is the estimated rows and bytes on one shard.
type Cell struct {
	Shard       string // "" if unknown
	Rows, Bytes int64
}

// Others is the sum of the projects that are not listed.
type Others struct {
	Projects    int
	Rows, Bytes int64
	Shards      []Cell
}

// ShardFigure is what a project holds on one shard. An estimate with Value 0 that is not Exact
// means that no row was seen, and there are at most High. AtLeast: a collection that is not measured
// may have further rows, so High is no bound.
type ShardFigure struct {
	Shard string // "" if unknown
	survey.Weight
	Oldest, At time.Time // when the rows of its collections were read; zero: known by routing alone
	Unknown    bool      // AtLeast, and no row was seen: nothing is known
	Moved      bool      // chunks with its rows moved since; the figures moved with them
}

// Total is what one shard has of the measured collections, by the statistics and without orphans.
type Total struct {
	Shard       string
	Rows, Bytes topology.Figure
}
