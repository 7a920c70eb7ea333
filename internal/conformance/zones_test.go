package conformance_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// zoneRanges returns the zone ranges of this test.
func (w *world) zoneRanges() (out []topology.ZoneRange) {
	w.Helper()
	all, err := w.source.Zones(w.Context())
	must.Do(w, err)
	for _, z := range all {
		if z.NS.Database() == w.db {
			out = append(out, z)
		}
	}
	return out
}

// zonesOfShard lists the zones of a shard.
func (w *world) zonesOfShard(name string) []string {
	w.Helper()
	shards, err := w.source.Shards(w.Context())
	must.Do(w, err)
	for _, s := range shards {
		if s.Name == name {
			return s.Zones
		}
	}
	w.Fatalf("no shard %s", name)
	return nil
}

func TestZonesAreAssignedAndRemoved(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("zoned", bson.D{{Key: "p", Value: 1}, {Key: "k", Value: 1}})
		ctx, shard := w.Context(), w.shards[0]
		before := w.head(ns).Highest
		for range 2 { // repeating it changes nothing
			must.Do(t, w.send(ctx, operation.Step{Op: operation.OpAddZone, Shard: shard, Zone: w.db}))
			// A bound may omit the last fields.
			must.Do(t, w.send(ctx, operation.Step{Op: operation.OpSetRange, NS: ns, Min: keyDoc(int32(0)), Max: keyDoc(int32(10)), Zone: w.db}))
		}
		if got := w.zonesOfShard(shard); !slices.Contains(got, w.db) {
			t.Errorf("zones of %s: %v", shard, got)
		}
		zones := w.zoneRanges()
		if len(zones) != 1 || zones[0].Zone != w.db || zones[0].NS != ns {
			t.Fatalf("got %v, want len 1, [0].Zone %v, [0].NS %v", zones, w.db, ns)
		}
		pattern := w.head(ns).Key
		for _, bound := range []bson.Raw{zones[0].RawMin, zones[0].RawMax} {
			expect.NoError(t, must.Err(pattern.PrefixBound(bound)), "the bound %v is not one of %s", bound, pattern)
		}
		if now := w.head(ns).Highest; now != before {
			t.Errorf("zones took the version from %s to %s", before, now)
		}
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpRemoveRange, NS: ns, Min: keyDoc(int32(0)), Max: keyDoc(int32(10))}))
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpRemoveRange, NS: ns, Min: keyDoc(int32(0)), Max: keyDoc(int32(10))}))
		if left := w.zoneRanges(); len(left) != 0 {
			t.Errorf("left: %v, want len 0", left)
		}
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpRemoveZone, Shard: shard, Zone: w.db}))
		if got := w.zonesOfShard(shard); slices.Contains(got, w.db) {
			t.Errorf("zones of %s: %v", shard, got)
		}
	})
}

func TestInvalidZonesAreRefused(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("zoned", bson.D{{Key: "p", Value: 1}})
		hashed := w.shardCollection("hashed", bson.D{{Key: "k", Value: "hashed"}})
		ctx, other := w.Context(), w.db+"_other"
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpAddZone, Shard: "shardboard-none", Zone: w.db}),
			"give no shard a zone")
		set := func(ns topology.Namespace, lower, upper bson.Raw, zone string) error {
			return w.send(ctx, operation.Step{Op: operation.OpSetRange, NS: ns, Min: lower, Max: upper, Zone: zone})
		}
		w.expectRefusal(fault.NotFound, set(ns, keyDoc(int32(0)), keyDoc(int32(10)), w.db), "give a range to no zone")
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpAddZone, Shard: w.shards[0], Zone: w.db}))
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpAddZone, Shard: w.shards[0], Zone: other}))
		must.Do(t, set(ns, keyDoc(int32(0)), keyDoc(int32(10)), w.db))
		w.expectRefusal(fault.Conflict, set(ns, keyDoc(int32(5)), keyDoc(int32(15)), w.db), "set a range that overlaps")
		w.expectRefusal(fault.Conflict, set(ns, keyDoc(int32(0)), keyDoc(int32(10)), other), "set a range of another zone")
		w.expectRefusal(fault.Invalid, set(ns, keyDoc(int32(30)), keyDoc(int32(20)), w.db), "set a range from above to below")
		w.expectRefusal(fault.Invalid, set(ns, marshal(bson.D{{Key: "q", Value: 1}}), marshal(bson.D{{Key: "q", Value: 2}}), w.db),
			"set a range of another field")
		w.expectRefusal(fault.Invalid, set(hashed, marshal(bson.D{{Key: "k", Value: "a"}}), marshal(bson.D{{Key: "k", Value: "b"}}), w.db),
			"set a range of values on a hashed key")
		w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: operation.OpRemoveZone, Shard: w.shards[0], Zone: w.db}),
			"take the last shard of a zone that has a range")
		if zones := w.zoneRanges(); len(zones) != 1 || zones[0].Zone != w.db {
			t.Errorf("got %v, want len 1, [0].Zone %v", zones, w.db)
		}
	})
}
