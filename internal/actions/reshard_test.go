package actions

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// byKey is the pattern {project_id: 1, key: 1}.
func byKey(t testing.TB) bson.Raw {
	return doc(t, bson.D{{Key: "project_id", Value: int32(1)}, {Key: "key", Value: int32(1)}})
}

func checkOf(d Draft, id string) Check {
	i := slices.IndexFunc(d.Checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		return Check{}
	}
	return d.Checks[i]
}

func activity(a operation.Activity) func(*Situation) {
	return func(s *Situation) {
		a.Known, a.At = true, now
		s.Activity = a
	}
}

func running(ns topology.Namespace, state string) operation.Activity {
	return operation.Activity{Reshardings: []operation.Resharding{{ID: "0a", NS: ns, Command: operation.OfReshardCollection,
		Key: "{project_id: 1, key: 1}", State: state}}}
}

func withZoneRange(t testing.TB) func(*Situation) {
	return func(s *Situation) {
		s.Table.Shards[0].Zones = []string{"eu"}
		lo, hi := doc(t, bson.D{{Key: "project_id", Value: bson.MinKey{}}}), doc(t, bson.D{{Key: "project_id", Value: oid(20)}})
		c := s.Table.Collection(documents)
		s.Table.Zones = topology.CompleteZones([]topology.ZoneRange{{NS: documents, Zone: "eu", RawMin: lo, RawMax: hi}}, c)
	}
}

func TestWhatAReshardingIsRefusedFor(t *testing.T) {
	for name, x := range map[string]struct {
		version string
		args    func() Args
		want    string
	}{
		"a release without it": {"4.4.29", func() Args { return Args{NS: documents, Key: byKey(t)} },
			"reshard needs MongoDB 5.0 or later; this cluster runs 4.4.29."},
		"a zone that does not exist": {"5.0.7", func() Args { return zoned(t, "nowhere", oid(1), oid(2)) }, "no shard is in the zone"},
		"a range that ends early":    {"5.0.7", func() Args { return zoned(t, "eu", oid(2), oid(1)) }, "ends before it begins"},
		"a range of another key": {"5.0.7", func() Args {
			a := zoned(t, "eu", oid(1), oid(2))
			a.Zones[0].Min = doc(t, bson.D{{Key: "doc_id", Value: oid(1)}})
			return a
		}, "do not fit the new key"},
		"ranges that overlap": {"5.0.7", func() Args {
			a := zoned(t, "eu", oid(1), oid(3))
			a.Zones = append(a.Zones, zoned(t, "eu", oid(2), oid(4)).Zones...)
			return a
		}, "overlap"},
	} {
		t.Run(name, func(t *testing.T) {
			s := cluster(t, "0.4", x.version, activity(operation.Activity{}), withZoneRange(t))
			_, _, err := Describe(ReshardKind).Draft(s, x.args())
			if !strings.Contains(fault.Text(err), x.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// zoned are arguments with one zone range of the new key.
func zoned(t testing.TB, zone string, lo, hi bson.ObjectID) Args {
	end := func(id bson.ObjectID) bson.Raw { return doc(t, bson.D{{Key: "project_id", Value: id}}) }
	return Args{NS: documents, Key: byKey(t), Zones: []operation.KeyZone{{Min: end(lo), Max: end(hi), Zone: zone}}}
}

func TestChecksOfAResharding(t *testing.T) {
	same := doc(t, bson.D{{Key: "project_id", Value: int32(1)}})
	hashed := doc(t, bson.D{{Key: "project_id", Value: int32(1)}, {Key: "_id", Value: "hashed"}})
	key := fixed(Args{NS: documents, Key: byKey(t)})
	runChecks(t, "0.4", []checkCase{
		expect("the key that it has", ReshardKind, fixed(Args{NS: documents, Key: same}), Block, "key.same"),
		expect("the key that it has, from 8.0 on", ReshardKind, fixed(Args{NS: documents, Key: same}), Pass, "zones.replaced",
			version("8.0.4"), withZoneRange(t)),
		expect("another resharding", ReshardKind, key, Block, "resharding.other", activity(running(clients, "cloning"))),
		expect("no other resharding", ReshardKind, key, Pass, "resharding.free"),
		expect("an index build", ReshardKind, key, Block, "index-build.running",
			activity(operation.Activity{IndexBuilds: []operation.Running{{NS: documents, What: "createIndexes"}}})),
		expect("zones that are not given", ReshardKind, key, Block, "zones.needed", withZoneRange(t)),
		expect("zones that are removed", ReshardKind, fixed(Args{NS: documents, Key: byKey(t), Zones: []operation.KeyZone{}}), Warn,
			"zones.removed",
			withZoneRange(t)),
		expect("zones that are replaced", ReshardKind, fixed(zoned(t, "eu", oid(1), oid(2))), Pass, "zones.replaced", withZoneRange(t)),
		expect("a unique key", ReshardKind, key, Block, "unique.ofKey",
			func(s *Situation) { s.Table.Collection(documents).Unique = true }),
		expect("a unique index that begins with the key", ReshardKind, key, Pass, "unique.fits", withIndexes(yorkieIndexes()...)),
		expect("a unique index of other fields", ReshardKind, fixed(Args{NS: documents, Key: hashed}), Block, "unique.reshard",
			withIndexes(yorkieIndexes()...)),
		expect("a unique index of _id", ReshardKind, key, Pass, "unique.fits", withIndexes(yorkieIndexes()[:1]...)),
		expect("indexes that were not read", ReshardKind, key, Warn, "unique.unread"),
		expect("full disks", ReshardKind, key, Block, "reshard-disk.full", func(s *Situation) {
			for shard, d := range s.Table.Disks {
				d.Used.Value = d.Total.Value
				s.Table.Disks[shard] = d
			}
		}),
		expect("unknown disks", ReshardKind, key, Warn, "reshard-disk.unknown", func(s *Situation) { s.Table.Disks = nil }),
		expect("unknown sizes", ReshardKind, key, Warn, "reshard-disk.sizeUnknown", func(s *Situation) { s.Table.Sizes = nil }),
		expect("enough space", ReshardKind, key, Pass, "reshard-disk.fits"),
		expect("blocked writes", ReshardKind, key, Warn, "blocked-writes.reshard"),
		expect("a key of another layout", ReshardKind, fixed(Args{NS: clients, Key: hashed}), Warn, "layout.other"),
		expect("a key of no layout", ReshardKind, fixed(Args{NS: clients, Key: keyPattern("status", int32(1))}), Warn, "layout.none"),
	})
}

func TestOnlyARunningReshardingCanBeCommittedOrAborted(t *testing.T) {
	for name, x := range map[string]struct {
		kind    Kind
		running operation.Activity
		code    string
		steps   int
	}{
		"abort":                       {ReshardAbort, running(documents, "cloning"), "resharding.abortable", 1},
		"abort while it commits":      {ReshardAbort, running(documents, "committing"), "resharding.committing", 0},
		"abort of nothing":            {ReshardAbort, operation.Activity{}, "resharding.none", 0},
		"abort of another collection": {ReshardAbort, running(clients, "cloning"), "resharding.none", 0},
		"abort of what is not known":  {ReshardAbort, operation.Activity{ReshardingsReason: "notPermitted"}, "resharding.unknown", 0},
		"commit":                      {ReshardCommit, running(documents, "cloning"), "resharding.blocksUnknown", 1},
		"commit of nothing":           {ReshardCommit, operation.Activity{}, "resharding.none", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, _, err := Describe(x.kind).Draft(cluster(t, "0.4", "5.0.7", activity(x.running)), Args{NS: documents})
			if err != nil || len(d.Steps) != x.steps || d.Blocked() != (x.steps == 0) || checkOf(d, "resharding").Text.Code != x.code {
				t.Errorf("%v: %d steps, %+v", err, len(d.Steps), d.Checks)
			}
		})
	}
}
