package actions

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// byKey is the pattern {project_id: 1, key: 1}.
func byKey(t testing.TB) bson.Raw {
	return doc(bson.D{{Key: "project_id", Value: int32(1)}, {Key: "key", Value: int32(1)}})
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
		lo, hi := doc(bson.D{{Key: "project_id", Value: bson.MinKey{}}}), doc(bson.D{{Key: "project_id", Value: oid(20)}})
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
			a.Zones[0].Min = doc(bson.D{{Key: "doc_id", Value: oid(1)}})
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
			_, _, err := PlanChange(s, ReshardKind, x.args())
			expect.Contains(t, fault.Text(err), x.want, "%v", err)
		})
	}
}

// zoned are arguments with one zone range of the new key.
func zoned(t testing.TB, zone string, lo, hi bson.ObjectID) Args {
	end := func(id bson.ObjectID) bson.Raw { return doc(bson.D{{Key: "project_id", Value: id}}) }
	return Args{NS: documents, Key: byKey(t), Zones: []operation.KeyZone{{Min: end(lo), Max: end(hi), Zone: zone}}}
}

func TestChecksOfAResharding(t *testing.T) {
	same := doc(bson.D{{Key: "project_id", Value: int32(1)}})
	hashed := doc(bson.D{{Key: "project_id", Value: int32(1)}, {Key: "_id", Value: "hashed"}})
	key := fixed(Args{NS: documents, Key: byKey(t)})
	runChecks(t, "0.4", []checkCase{
		caseOf("the key that it has", ReshardKind, fixed(Args{NS: documents, Key: same}), Block, "key.same"),
		caseOf("the key that it has, from 8.0 on", ReshardKind, fixed(Args{NS: documents, Key: same}), Pass, "zones.replaced",
			version("8.0.4"), withZoneRange(t)),
		caseOf("another resharding", ReshardKind, key, Block, "resharding.other", activity(running(clients, "cloning"))),
		caseOf("no other resharding", ReshardKind, key, Pass, "resharding.free"),
		caseOf("an index build", ReshardKind, key, Block, "index-build.running",
			activity(operation.Activity{IndexBuilds: []operation.Running{{NS: documents, What: "createIndexes"}}})),
		caseOf("zones that are not given", ReshardKind, key, Block, "zones.needed", withZoneRange(t)),
		caseOf("zones that are removed", ReshardKind, fixed(Args{NS: documents, Key: byKey(t), Zones: []operation.KeyZone{}}), Warn,
			"zones.removed",
			withZoneRange(t)),
		caseOf("zones that are replaced", ReshardKind, fixed(zoned(t, "eu", oid(1), oid(2))), Pass, "zones.replaced", withZoneRange(t)),
		caseOf("a unique key", ReshardKind, key, Block, "unique.ofKey",
			func(s *Situation) { s.Table.Collection(documents).Unique = true }),
		caseOf("a unique index that begins with the key", ReshardKind, key, Pass, "unique.fits", withIndexes(yorkieIndexes()...)),
		caseOf("a unique index of other fields", ReshardKind, fixed(Args{NS: documents, Key: hashed}), Block, "unique.reshard",
			withIndexes(yorkieIndexes()...)),
		caseOf("a unique index of _id", ReshardKind, key, Pass, "unique.fits", withIndexes(yorkieIndexes()[:1]...)),
		caseOf("indexes that were not read", ReshardKind, key, Warn, "unique.unread"),
		caseOf("full disks", ReshardKind, key, Block, "reshard-disk.full", func(s *Situation) {
			for shard, d := range s.Table.Disks {
				d.Used.Value = d.Total.Value
				s.Table.Disks[shard] = d
			}
		}),
		caseOf("unknown disks", ReshardKind, key, Warn, "reshard-disk.unknown", func(s *Situation) { s.Table.Disks = nil }),
		caseOf("unknown sizes", ReshardKind, key, Warn, "reshard-disk.sizeUnknown", func(s *Situation) { s.Table.Sizes = nil }),
		caseOf("enough space", ReshardKind, key, Pass, "reshard-disk.fits"),
		caseOf("blocked writes", ReshardKind, key, Warn, "blocked-writes.reshard"),
		caseOf("a key of another layout", ReshardKind, fixed(Args{NS: clients, Key: hashed}), Warn, "layout.other"),
		caseOf("a key of no layout", ReshardKind, fixed(Args{NS: clients, Key: keyPattern("status", int32(1))}), Warn, "layout.none"),
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
			d, _, err := PlanChange(cluster(t, "0.4", "5.0.7", activity(x.running)), x.kind, Args{NS: documents})
			if err != nil || len(d.Steps) != x.steps || d.Blocked() != (x.steps == 0) || checkOf(d, "resharding").Text.Code != x.code {
				t.Errorf("%v: %d steps, %+v", err, len(d.Steps), d.Checks)
			}
		})
	}
}

// refined is the key of documents with the field by which Yorkie tells them apart.
var refined = keyPattern("project_id", 1, "key", 1)

func keyPattern(pairs ...any) bson.Raw {
	var d bson.D
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // names with 1 or "hashed"
	}
	return raw
}

func withIndexes(all ...operation.Index) func(*Situation) {
	return func(s *Situation) { s.Indexes = Indexes{All: all, At: now} }
}

// yorkieIndexes are those that Yorkie makes of documents.
func yorkieIndexes() []operation.Index {
	return []operation.Index{
		{Name: "_id_", Key: keyPattern("_id", 1)},
		{Name: "project_id_1", Key: keyPattern("project_id", 1)},
		{Name: "project_id_1_key_1_removed_at_1", Key: keyPattern("project_id", 1, "key", 1, "removed_at", 1), Unique: true},
	}
}

func TestRefineKeyRefusesKeysThatDoNotExtend(t *testing.T) {
	s := cluster(t, "0.6.38", "7.0.12")
	for _, x := range []struct {
		ns   topology.Namespace
		key  bson.Raw
		says string
	}{
		{documents, keyPattern("key", 1), `field 1 is "key", not "project_id"`},
		{documents, keyPattern("key", 1, "project_id", 1), `"project_id" is not in its place`},
		{documents, keyPattern("project_id", "hashed"), `"project_id" is hashed`},
		{clients, keyPattern("project_id", 1), `lacks the field "_id"`},
		{clients, keyPattern("project_id", 1, "_id", 1), `"_id" is not hashed, and is hashed now`},
		{clients, keyPattern("project_id", 1, "_id", "hashed", "key", "hashed"), `one hashed field only`},
		{documents, keyPattern("project_id", 1, "key", -1), `must be 1 or`},
		{documents, keyPattern("project_id", 1, "key", 1, "key", 1), `"key" twice`},
		{documents, nil, `"key"`},
	} {
		_, _, err := PlanChange(s, RefineKey, Args{NS: x.ns, Key: x.key})
		expect.That(t, fault.Of(err) == fault.Invalid && strings.Contains(fault.Text(err), x.says),
			"%s: %v, want %s", x.key, err, x.says)
	}
}

func TestRefineKeyChecks(t *testing.T) {
	index := func(change func(*operation.Index)) func(*Situation) {
		i := operation.Index{Name: "k", Key: refined}
		change(&i)
		return withIndexes(i)
	}
	good := withIndexes(yorkieIndexes()...)
	unread := func(s *Situation) { s.Indexes = Indexes{Reason: "notPermitted"} }
	manyZones := func(s *Situation) {
		for range manyRewritten {
			s.Table.Zones = append(s.Table.Zones, topology.ZoneRange{NS: documents})
		}
	}
	foreign := func(s *Situation) { s.Profile = &profile.Profile{Name: "other"} }
	refine := func(ns topology.Namespace, key bson.Raw) func(Situation) Args { return fixed(Args{NS: ns, Key: key}) }
	runChecks(t, "0.6.38", []checkCase{
		caseOf("same key", RefineKey, refine(documents, keyPattern("project_id", 1)), Block, "refine.already", version("7.0.12")),
		caseOf("an index", RefineKey, refine(documents, refined), Pass, "index.found", version("7.0.12"), good),
		caseOf("no index", RefineKey, refine(documents, refined), Block, "index.missing",
			version("7.0.12"), withIndexes(yorkieIndexes()[:2]...)),
		caseOf("indexes not permitted", RefineKey, refine(documents, refined), Warn, "index.unknown", version("7.0.12"), unread),
		caseOf("partial", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Partial = true })),
		caseOf("sparse", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Sparse = true })),
		caseOf("hidden", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Hidden = true })),
		caseOf("collated", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Collated = true })),
		caseOf("descending", RefineKey, refine(documents, refined), Block, "index.missing",
			version("7.0.12"), index(func(i *operation.Index) { i.Key = keyPattern("project_id", 1, "key", -1) })),
		caseOf("hashed index for a ranged field", RefineKey, refine(documents, refined), Block, "index.missing",
			version("7.0.12"), index(func(i *operation.Index) { i.Key = keyPattern("project_id", 1, "key", "hashed") })),
		caseOf("a unique index without the key", RefineKey, refine(documents, keyPattern("project_id", 1, "_id", 1)), Block, "unique.conflict",
			version("7.0.12"), good),
		caseOf("a unique key without a unique index", RefineKey, refine(documents, refined), Block, "unique.key",
			version("7.0.12"), good, func(s *Situation) { collectionIn(s, documents).Unique = true }),

		caseOf("Yorkie before 7.0", RefineKey, refine(documents, refined), Block, "application.refused", version("6.0.20"), good),
		caseOf("Yorkie on 4.4", RefineKey, refine(documents, refined), Block, "application.refused", version("4.4.29"), good),
		caseOf("Yorkie on 7.0", RefineKey, refine(documents, refined), Warn, "application.slowerUntried", version("7.0.12"), good),
		caseOf("Yorkie on 8.0", RefineKey, refine(documents, refined), Warn, "application.slower", version("8.0.13"), good),
		caseOf("Yorkie, version unknown", RefineKey, refine(documents, refined), Block, "application.release", version("?"), good),
		caseOf("another program", RefineKey, refine(documents, refined), Warn, "application.unknown", version("5.0.7"), good, foreign),

		caseOf("many chunks", RefineKey, refine(documents, refined), Warn, "rewrite.many", version("8.0.13"), good, manyZones),
		caseOf("few chunks", RefineKey, refine(documents, refined), Pass, "rewrite", version("8.0.13"), good),
	})
	runChecks(t, "0.4", []checkCase{
		caseOf("Yorkie's clients have the whole key", RefineKey, refine(clients, keyPattern("project_id", 1, "_id", "hashed")), Pass,
			"application.whole",
			version("5.0.7")),
	})
}
