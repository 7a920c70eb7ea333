package actions

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// UndoConflictError says that an undo, or the rest of a plan, has become impossible,
// because something else has changed what the run did. Differences say what. Its kind
// is fault.Conflict.
type UndoConflictError struct {
	Differences []operation.Difference
	Err         *fault.Error
}

func (e *UndoConflictError) Error() string { return e.Err.Error() }

// Unwrap gives the classification.
func (e *UndoConflictError) Unwrap() error { return e.Err }

// undoConflict makes the error. The clause says in words what has changed.
func undoConflict(clause string, d ...operation.Difference) error {
	return &UndoConflictError{Differences: d, Err: fault.New(fault.Conflict, "This can no longer be undone: %s.", clause)}
}

// differences lists how the table differs from a fact.
func (d *plannedCluster) differences(f operation.Fact) []operation.Difference {
	return f.Against(operation.Fields(d.now, f))
}

func collectionGone(ns topology.Namespace) error {
	return undoConflict("the collection no longer exists",
		operation.Difference{Fact: operation.Fact{Kind: operation.FactCollection, NS: ns}, Field: "exists", Want: "true", Got: "false"})
}

func keyChanged(c *topology.Collection, doc bson.Raw) error {
	var names []string
	if fields, err := doc.Elements(); err == nil {
		for _, f := range fields {
			names = append(names, f.Key())
		}
	}
	return undoConflict("the collection now has another shard key",
		operation.Difference{Fact: operation.Fact{Kind: operation.FactCollection, NS: c.NS}, Field: "key",
			Want: strings.Join(names, ", "), Got: c.Key.String()})
}

// chunksChanged is the conflict of a range whose chunks should be on one shard, with
// bounds at its ends, but are not after the steps planned so far.
func (d *draftBuilder) chunksChanged(clause string, k *futureChunks, lo, hi shardkey.Key, parts []futureChunk) error {
	var shards []string
	for _, p := range parts {
		shards = append(shards, p.Shard)
	}
	f := coveredBy(k.c.NS, d.doc(k.c, lo), d.doc(k.c, hi), parts[0].Shard)
	edges := parts[0].Min.Compare(lo) == 0 && parts[len(parts)-1].Max.Compare(hi) == 0
	return undoConflict(
		clause,
		f.Against(map[string]string{"shards": strings.Join(natural.Unique(shards), ","), "edges": strconv.FormatBool(edges)})...)
}
