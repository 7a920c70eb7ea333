package holdings

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/survey"
	"shardboard/internal/topology"
)

// MaxProjects is how many projects a snapshot lists; the others are one sum.
const MaxProjects = 10_000

// State is whether the measuring continues.
type State string

// The states.
const (
	Off       State = "off"       // switched off
	Waiting   State = "waiting"   // the routing table or the stored samples are not loaded yet
	Measuring State = "measuring" // rows are read
	Paced     State = "paced"     // paused because the cluster has become slower
	Standby   State = "standby"   // another process measures; its stored samples are shown
	Nothing   State = "nothing"   // no collection here belongs to the profile
	Denied    State = "denied"    // no collection may be read
)

// Snapshot is what every project holds on every shard, by one routing table. Immutable.
type Snapshot struct {
	Seq         uint64 // increases with every measurement
	State       State
	Collections []Collection // by name
	Projects    []Project    // of which rows were seen, most bytes first; at most MaxProjects
	Others      Others       // further projects of which rows were seen
	Totals      []Total      // by shard name; of all measured collections

	table    *topology.Table
	projects map[projectKey]int
	parts    []*part // by collection
}

// Collection is how a collection was measured.
type Collection struct {
	NS      topology.Namespace
	Method  string    // survey.MethodSample or survey.MethodCounted; "" = not measured yet
	Oldest  time.Time // when the first of its rows was read
	At      time.Time // when the last of its rows was read
	Read    int64     // rows
	Reason  string    // why there are no figures or no newer ones (catalogue code); "" = no problem
	Problem string    // Reason as a sentence
	Rows    topology.Figure
	Bytes   topology.Figure
}

// Measured reports whether there are figures of the collection.
func (c Collection) Measured() bool { return c.Method != "" }

// Project is a project of which rows were seen.
type Project struct {
	DB string
	ID bson.ObjectID // zero: the first project, or rows without a project
	survey.Weight
	Oldest, At time.Time
	Shards     []ShardFigure // where rows were seen, by name
}

// ShardFigure is what a project holds on one shard. An estimate with Value 0 that is not Exact
// means that no row was seen, and there are at most High. AtLeast: some collections could not be
// measured.
type ShardFigure struct {
	Shard string // "" if unknown
	survey.Weight
	Oldest, At time.Time // when the rows were read; zero: by routing alone
	Moved      bool      // chunks with its rows moved since; the figures moved with them
}

// Others is the sum of the projects that are not listed.
type Others struct {
	Projects int
	survey.Weight
	Shards []ShardFigure
}

// Total is the statistics of one shard, without orphans: all measured collections.
type Total struct {
	Shard       string
	Rows, Bytes topology.Figure
}

type projectKey struct {
	db string
	id bson.ObjectID
}
