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

// GoneError is an undo that cannot be made any more, since what the run made has
// been changed, and in what. Its kind is fault.Conflict.
type GoneError struct {
	Differences []Difference
	Err         *fault.Error
}

func (e *GoneError) Error() string { return e.Err.Error() }

// Unwrap gives the classification.
func (e *GoneError) Unwrap() error { return e.Err }

// gone says in a clause what was changed, and as facts.
func gone(clause string, d ...Difference) error {
	return &GoneError{Differences: d, Err: fault.New(fault.Conflict, "This cannot be undone any more: %s.", clause)}
}

// notAs is a fact of a table that is not as the run left it.
func (d *drafting) notAs(f Fact) []Difference { return f.Against(Fields(d.s.Table, f)) }

func collectionGone(ns topology.Namespace) error {
	return gone("the collection is not there any more", Difference{Fact: Fact{Kind: FactCollection, NS: ns}, Field: "exists", Want: "true", Got: "false"})
}

func keyChanged(c *topology.Collection, doc bson.Raw) error {
	var names []string
	if fields, err := doc.Elements(); err == nil {
		for _, f := range fields {
			names = append(names, f.Key())
		}
	}
	return gone("the collection has another shard key now",
		Difference{Fact: Fact{Kind: FactCollection, NS: c.NS}, Field: "key", Want: strings.Join(names, ", "), Got: c.Key.String()})
}

// apart tells in what pieces are not one range on one shard; the sketch has them,
// with what the undo does before.
func (d *drafting) apart(clause string, k *sketch, lo, hi shardkey.Key, parts []piece) error {
	var shards []string
	for _, p := range parts {
		shards = append(shards, p.Shard)
	}
	slices.Sort(shards)
	f := coveredBy(k.c.NS, d.doc(k.c, lo), d.doc(k.c, hi), parts[0].Shard)
	edges := parts[0].Min.Compare(lo) == 0 && parts[len(parts)-1].Max.Compare(hi) == 0
	return gone(clause, f.Against(map[string]string{"shards": strings.Join(slices.Compact(shards), ","), "edges": strconv.FormatBool(edges)})...)
}
