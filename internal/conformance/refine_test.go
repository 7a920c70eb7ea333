package conformance_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

func pattern(fields ...string) bson.Raw {
	var d bson.D
	for _, f := range fields {
		d = append(d, bson.E{Key: f, Value: int32(1)})
	}
	return marshal(d)
}

// The plan's checks and the proof rely on all of this.
func TestRefiningRewritesBoundsAndZonesAndGivesANewIncarnation(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ctx := w.Context()
		ns := w.shardCollection("refined", bson.D{{Key: "p", Value: 1}})
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(10))}))
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpAddZone, Shard: w.shards[0], Zone: w.db}))
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpSetRange, NS: ns, Min: keyDoc(int32(0)), Max: keyDoc(int32(10)), Zone: w.db}))
		before := w.head(ns)
		// From 8.0 on the coordinator stops migrations of the collection meanwhile, which raises its newest chunk's version.
		sameVersion := func(is topology.Version) bool {
			return is == before.Highest || w.atLeast(8, 0) && before.Highest.Less(is)
		}

		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpRefineKey, NS: ns, Key: pattern("p")})) // its own key: nothing happens
		w.expectRefusal(fault.Invalid, w.send(ctx, operation.Step{Op: operation.OpRefineKey, NS: ns, Key: pattern("q", "p")}),
			"refine to a key that does not extend it")
		w.expectRefusal(fault.Invalid, w.send(ctx, operation.Step{Op: operation.OpRefineKey, NS: ns, Key: pattern("p", "q")}),
			"refine without an index")
		if h := w.head(ns); h.Incarnation != before.Incarnation || !sameVersion(h.Highest) {
			t.Fatalf("%+v became %+v without a change", before, h)
		}

		indexes := w.data.Database(w.db).RunCommand(ctx, bson.D{{Key: "createIndexes", Value: ns.Collection()}, {Key: "indexes", Value: bson.A{
			bson.D{{Key: "key", Value: bson.D{{Key: "p", Value: 1}, {Key: "q", Value: 1}, {Key: "r", Value: 1}}}, {Key: "name", Value: "longer"},
				{Key: "unique", Value: true}},
			bson.D{{Key: "key", Value: bson.D{{Key: "s", Value: 1}}}, {Key: "name", Value: "sparse"}, {Key: "sparse", Value: true}},
		}}})
		must.Do(t, indexes.Err())
		all, err := w.client.Indexes(ctx, ns)
		must.Do(t, err)
		found := map[string]operation.Index{}
		for _, i := range all {
			found[i.Name] = i
		}
		if i := found["longer"]; !i.Unique || i.Sparse || i.Partial || i.Hidden || i.Collated || i.Key.Lookup("r").Type == 0 {
			t.Errorf("the index is %+v", i)
		}
		if i := found["sparse"]; !i.Sparse || i.Unique {
			t.Errorf("the sparse index is %+v", i)
		}
		w.expectRefusal(fault.Invalid, w.send(ctx, operation.Step{Op: operation.OpRefineKey, NS: ns, Key: pattern("p", "s")}),
			"refine past a unique index")

		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpRefineKey, NS: ns, Key: pattern("p", "q")}))
		after := w.head(ns)
		if after.Key.String() != "{p: 1, q: 1}" || after.Incarnation.UUID != before.Incarnation.UUID ||
			after.Incarnation == before.Incarnation || !sameVersion(after.Highest) {
			t.Errorf("%+v became %+v", before, after)
		}
		fact := operation.Fact{Kind: operation.FactCollection, NS: ns}
		got, err := w.client.ReadFact(ctx, fact)
		must.Do(t, err)
		expect.Equal(t, got["key"], "{p: 1, q: 1}", "the fact is %v", got)
		middle := marshal(bson.D{{Key: "p", Value: int32(10)}, {Key: "q", Value: bson.MinKey{}}})
		edge, err := w.client.ReadFact(ctx, operation.Fact{Kind: operation.FactEdge, NS: ns, Min: middle})
		must.Do(t, err)
		expect.Equal(t, edge["exists"], "true", "no chunk begins at %s", middle)
		zones, err := w.source.Zones(ctx)
		must.Do(t, err)
		for _, z := range zones {
			expect.That(t, z.NS != ns || string(z.RawMax) == string(middle), "the zone range ends at %s", z.RawMax)
		}
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpRefineKey, NS: ns, Key: pattern("p", "q")})) // again
		expect.Equal(t, w.head(ns).Incarnation, after.Incarnation, "refining to the same key changed the collection")
	})
}
