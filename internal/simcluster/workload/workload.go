// Package workload fills a simulated cluster with Yorkie-shaped data and keeps
// it alive: collections, fields, types, indexes and shard keys as Yorkie
// writes them, projects of Zipf-skewed size, and, once Run, writers, hot
// documents that drift, compaction and an operator who splits and moves.
// The same seed and epoch give the same bytes.
package workload

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Cluster is what the workload acts on: commands as any driver sends them, and
// a fast path for the first load.
type Cluster interface {
	// Command runs one command and gives its reply, or the server's error.
	Command(ctx context.Context, db string, cmd any) (bson.Raw, error)
	// BulkInsert routes and inserts documents as an unordered insert would.
	BulkInsert(ns string, docs []bson.Raw) error
}

// Options say what to generate. Every field but KeepChunkSize is needed.
type Options struct {
	Seed      int64
	Epoch     time.Time // the data's newest moment
	Layout    string    // yorkie-head, or an older one: see layouts
	Database  string
	Projects  int
	Documents int // Yorkie documents in all
	Shards    []string

	KeepChunkSize bool // do not set the cluster's chunk size: it is not ours

	Now func() time.Time // the cluster's clock, for live writers
	Log *slog.Logger
}

// Workload is a loaded data set. Run it for live writers; not safe for
// concurrent use otherwise.
type Workload struct {
	o           Options
	c           Cluster
	layout      layout
	projects    []*project
	heat        *heat
	busy        *busy       // nil: none
	ids         *value.IDs  // of the Yorkie server process
	mongod      *value.IDs  // of a mongod: documents, changes and version vectors get their ids there
	docs        []*document // that may be edited, newest first
	compactions uint64
	opened      int // Yorkie documents made since the load
	revised     int // revisions made since the load
	changes     int // rows in changes, as far as the workload wrote and compacted them
}

// project is a tenant with its relative weight.
type project struct {
	id            bson.ObjectID
	name          string
	owner         bson.ObjectID
	created       time.Time
	docs          int   // Yorkie documents at load
	snapshotEvery int64 // changes of a document from one snapshot to the next
	clients       []bson.ObjectID
	nextKey       int
}

// document is a Yorkie document that live writers may edit.
type document struct {
	project *project
	id      bson.ObjectID
	seq     int64
	actors  []bson.ObjectID
	rows    int  // of changes
	typed   bool // its edits are single letters
}

// Load creates the collections, shards them, spreads the ranged ones, and
// inserts the data. It takes about a second for the default sizes.
func Load(ctx context.Context, c Cluster, o Options) (*Workload, error) {
	l, err := layoutOf(o.Layout)
	if err != nil {
		return nil, err
	}
	w := &Workload{o: o, c: c, layout: l}
	r := w.rng(0)
	w.ids, w.mongod = value.NewIDs(r, 0xffffff), value.NewIDs(r, 0xffffff)
	w.makeProjects(r)
	d := w.generate(r)
	if err := w.prepare(ctx, d); err != nil {
		return nil, fmt.Errorf("prepare collections: %w", err)
	}
	if err := w.fill(d); err != nil {
		return nil, fmt.Errorf("load data: %w", err)
	}
	w.heat = newHeat(w.docs, w.rng(1))
	return w, nil
}

// rng is the random source of one stream: 0 and 1 belong to the load, live
// ticks count from streamLive on.
func (w *Workload) rng(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(w.o.Seed), stream))
}

// command runs a command on the workload's database.
func (w *Workload) command(ctx context.Context, cmd bson.D) (bson.Raw, error) {
	return w.c.Command(ctx, w.o.Database, cmd)
}

// admin runs a command on the admin database.
func (w *Workload) admin(ctx context.Context, cmd bson.D) (bson.Raw, error) {
	return w.c.Command(ctx, "admin", cmd)
}

func (w *Workload) ns(coll string) string { return w.o.Database + "." + coll }
