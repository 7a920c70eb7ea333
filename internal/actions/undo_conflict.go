package actions

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// UndoConflictError says that an undo, or the rest of a plan, cannot be made any
// more, because what the run did has been changed since, and in what. Its kind is
// fault.Conflict.
type UndoConflictError struct {
	Differences []Difference
	Err         *fault.Error
}

func (e *UndoConflictError) Error() string { return e.Err.Error() }

// Unwrap gives the classification.
func (e *UndoConflictError) Unwrap() error { return e.Err }

// undoConflict says in a clause what was changed; the differences say it as facts.
func undoConflict(clause string, d ...Difference) error {
	return &UndoConflictError{Differences: d, Err: fault.New(fault.Conflict, "This cannot be undone any more: %s.", clause)}
}

// differences says in what the table is not as the run left it.
func (d *draftBuilder) differences(f Fact) []Difference { return f.Against(Fields(d.s.Table, f)) }

func collectionGone(ns topology.Namespace) error {
	return undoConflict(
		"the collection is not there any more",
		Difference{Fact: Fact{Kind: FactCollection, NS: ns}, Field: "exists", Want: "true", Got: "false"},
	)
}

func keyChanged(c *topology.Collection, doc bson.Raw) error {
	var names []string
	if fields, err := doc.Elements(); err == nil {
		for _, f := range fields {
			names = append(names, f.Key())
		}
	}
	return undoConflict("the collection has another shard key now",
		Difference{Fact: Fact{Kind: FactCollection, NS: c.NS}, Field: "key", Want: strings.Join(names, ", "), Got: c.Key.String()})
}

// scattered is the conflict of chunks that should fill one range on one shard and,
// after the steps planned so far, do not.
func (d *draftBuilder) scattered(clause string, k *futureChunks, lo, hi shardkey.Key, parts []futureChunk) error {
	var shards []string
	for _, p := range parts {
		shards = append(shards, p.Shard)
	}
	slices.Sort(shards)
	f := coveredBy(k.c.NS, d.doc(k.c, lo), d.doc(k.c, hi), parts[0].Shard)
	edges := parts[0].Min.Compare(lo) == 0 && parts[len(parts)-1].Max.Compare(hi) == 0
	return undoConflict(
		clause,
		f.Against(map[string]string{"shards": strings.Join(slices.Compact(shards), ","), "edges": strconv.FormatBool(edges)})...)
}
