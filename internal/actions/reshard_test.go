package actions

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

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

func activity(a Activity) func(*Situation) {
	return func(s *Situation) {
		a.Known, a.At = true, now
		s.Activity = a
	}
}

func running(ns topology.Namespace, state string) Activity {
	return Activity{Reshardings: []Resharding{{ID: "0a", NS: ns, Command: OfReshardCollection, Key: "{project_id: 1, key: 1}", State: state}}}
}

func withZoneRange(t testing.TB) func(*Situation) {
	return func(s *Situation) {
		s.Table.Shards[0].Zones = []string{"eu"}
		lo, hi := doc(t, bson.D{{Key: "project_id", Value: bson.MinKey{}}}), doc(t, bson.D{{Key: "project_id", Value: oid(20)}})
		c := s.Table.Collection(documents)
		s.Table.Zones = topology.CompleteZones([]topology.ZoneRange{{NS: documents, Zone: "eu", RawMin: lo, RawMax: hi}}, c)
	}
}

func TestAReshardingIsOneStepThatIsProvenByKeyAndUUID(t *testing.T) {
	s := cluster(t, "0.4", "5.0.7", activity(Activity{}))
	d, a, err := ReshardKind.Describe().Draft(s, Args{NS: documents, Key: byKey(t), InitialChunks: 12})
	if err != nil || d.Blocked() || len(d.Steps) != 1 {
		t.Fatalf("%v %+v", err, d.Checks)
	}
	step := d.Steps[0]
	proof := step.Proof[0]
	if proof.Want["key"] != "{project_id: 1, key: 1}" || proof.Want["replaced"] != "true" || proof.Want["resharding"] != "false" ||
		proof.Was != UUIDText(s.Table.Collection(documents).Incarnation.UUID) {
		t.Errorf("proof %+v", proof)
	}
	if d.Risk != High || d.Confirm != string(documents) || !d.Undo.Possible || a.InitialChunks != 12 || step.Reshard.Chunks != 12 {
		t.Errorf("risk %s, confirm %q, undo %+v, %+v", d.Risk, d.Confirm, d.Undo, step.Reshard)
	}
	if KeyText(step.Reshard.WasKey) != "{project_id: 1}" || !slices.ContainsFunc(step.Needs, func(f Fact) bool {
		return f.Kind == FactCollection && f.Want["resharding"] == "false" && f.Want["uuid"] != ""
	}) {
		t.Errorf("%+v needs %+v", step.Reshard, step.Needs)
	}
	if d.Effect.Bytes.Value != 70*megabyte || d.Effect.Duration.Value < leastResharding.Milliseconds() {
		t.Errorf("effect %+v", d.Effect)
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
			s := cluster(t, "0.4", x.version, activity(Activity{}), withZoneRange(t))
			_, _, err := ReshardKind.Describe().Draft(s, x.args())
			if !strings.Contains(fault.Text(err), x.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// zoned are arguments with one zone range of the new key.
func zoned(t testing.TB, zone string, lo, hi bson.ObjectID) Args {
	end := func(id bson.ObjectID) bson.Raw { return doc(t, bson.D{{Key: "project_id", Value: id}}) }
	return Args{NS: documents, Key: byKey(t), Zones: []KeyZone{{Min: end(lo), Max: end(hi), Zone: zone}}}
}

func TestChecksOfAResharding(t *testing.T) {
	same := doc(t, bson.D{{Key: "project_id", Value: int32(1)}})
	hashed := doc(t, bson.D{{Key: "project_id", Value: int32(1)}, {Key: "_id", Value: "hashed"}})
	for name, x := range map[string]struct {
		version string
		change  []func(*Situation)
		args    Args
		check   string
		code    string
		verdict Verdict
	}{
		"the key that it has": {args: Args{NS: documents, Key: same}, check: "key", code: "key.same", verdict: Block},
		"the key that it has, from 8.0 on": {version: "8.0.4", args: Args{NS: documents, Key: same}, check: "key",
			code: "key.sameRedistribute", verdict: Block},
		"another resharding": {change: []func(*Situation){activity(running(clients, "cloning"))}, check: "resharding",
			code: "resharding.other", verdict: Block},
		"no other resharding": {check: "resharding", code: "resharding.free", verdict: Pass},
		"an index build": {change: []func(*Situation){activity(Activity{IndexBuilds: []Operation{{NS: documents, What: "createIndexes"}}})},
			check: "index-build", code: "index-build.running", verdict: Block},
		"zones that are not given": {change: []func(*Situation){withZoneRange(t)}, check: "zones", code: "zones.needed", verdict: Block},
		"zones that are removed": {change: []func(*Situation){withZoneRange(t)}, args: Args{NS: documents, Key: byKey(t), Zones: []KeyZone{}},
			check: "zones", code: "zones.removed", verdict: Warn},
		"zones that are replaced": {change: []func(*Situation){withZoneRange(t)}, args: zoned(t, "eu", oid(1), oid(2)), check: "zones",
			code: "zones.replaced", verdict: Pass},
		"a unique key": {change: []func(*Situation){func(s *Situation) { s.Table.Collection(documents).Unique = true }}, check: "unique",
			code: "unique.ofKey", verdict: Block},
		"a unique index that begins with the key": {change: []func(*Situation){withIndexes(yorkieIndexes()...)}, check: "unique",
			code: "unique.fits", verdict: Pass},
		"a unique index of other fields": {change: []func(*Situation){withIndexes(yorkieIndexes()...)},
			args: Args{NS: documents, Key: hashed}, check: "unique", code: "unique.reshard", verdict: Block},
		"a unique index of _id": {change: []func(*Situation){withIndexes(yorkieIndexes()[:1]...)}, check: "unique",
			code: "unique.fits", verdict: Pass},
		"indexes that were not read": {check: "unique", code: "unique.unread", verdict: Warn},
		"full disks": {change: []func(*Situation){func(s *Situation) {
			for shard, d := range s.Table.Disks {
				d.Used.Value = d.Total.Value
				s.Table.Disks[shard] = d
			}
		}}, check: "disk", code: "reshard-disk.full", verdict: Block},
		"unknown disks": {change: []func(*Situation){func(s *Situation) { s.Table.Disks = nil }}, check: "disk",
			code: "reshard-disk.unknown", verdict: Warn},
		"unknown sizes": {change: []func(*Situation){func(s *Situation) { s.Table.Sizes = nil }}, check: "disk",
			code: "reshard-disk.sizeUnknown", verdict: Warn},
		"enough space": {check: "disk", code: "reshard-disk.fits", verdict: Pass},
		"blocked writes": {check: "blocked-writes", code: "blocked-writes.reshard",
			verdict: Warn},
		"a key of another layout": {args: Args{NS: clients, Key: hashed},
			check: "layout", code: "layout.other", verdict: Warn},
		"a key of no layout": {args: Args{NS: clients, Key: doc(t, bson.D{{Key: "status", Value: int32(1)}})}, check: "layout",
			code: "layout.none", verdict: Warn},
	} {
		t.Run(name, func(t *testing.T) {
			if x.version == "" {
				x.version = "5.0.7"
			}
			if x.args.NS == "" {
				x.args = Args{NS: documents, Key: byKey(t)}
			}
			s := cluster(t, "0.4", x.version, append([]func(*Situation){activity(Activity{})}, x.change...)...)
			d, _, err := ReshardKind.Describe().Draft(s, x.args)
			if err != nil {
				t.Fatal(err)
			}
			if c := checkOf(d, x.check); c.Text.Code != x.code || c.Verdict != x.verdict {
				t.Errorf("%s %s: %s", c.Verdict, c.Text.Code, c.Text)
			}
		})
	}
}

func TestOnlyARunningReshardingCanBeCommittedOrAborted(t *testing.T) {
	for name, x := range map[string]struct {
		kind    Kind
		running Activity
		code    string
		steps   int
	}{
		"abort":                       {ReshardAbort, running(documents, "cloning"), "resharding.abortable", 1},
		"abort while it commits":      {ReshardAbort, running(documents, "committing"), "resharding.committing", 0},
		"abort of nothing":            {ReshardAbort, Activity{}, "resharding.none", 0},
		"abort of another collection": {ReshardAbort, running(clients, "cloning"), "resharding.none", 0},
		"abort of what is not known":  {ReshardAbort, Activity{ReshardingsReason: "notPermitted"}, "resharding.unknown", 0},
		"commit":                      {ReshardCommit, running(documents, "cloning"), "resharding.blocksUnknown", 1},
		"commit of nothing":           {ReshardCommit, Activity{}, "resharding.none", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, _, err := x.kind.Describe().Draft(cluster(t, "0.4", "5.0.7", activity(x.running)), Args{NS: documents})
			if err != nil || len(d.Steps) != x.steps || d.Blocked() != (x.steps == 0) || checkOf(d, "resharding").Text.Code != x.code {
				t.Errorf("%v: %d steps, %+v", err, len(d.Steps), d.Checks)
			}
		})
	}
}

func TestTheProgressOfAReshardingIsToldAsTheServerEstimatesIt(t *testing.T) {
	// Recorded on 5.0.7: one recipient has copied more than its even part.
	r := Resharding{Shards: []ReshardingShard{
		{Shard: "a", Donor: "donating-initial-data", Recipient: "cloning", Documents: 135, DocumentsEstimate: 82, Bytes: 14354,
			BytesEstimate: 8714},
		{Shard: "b", Recipient: "cloning", Documents: 21, DocumentsEstimate: 82, Bytes: 2226, BytesEstimate: 8714, Left: 2},
		{Shard: "c", Donor: "donating-initial-data", Left: -1},
	}}
	if n, of, bytes, ofBytes := r.Copied(); n != 156 || of != 164 || bytes != 16580 || ofBytes != 17428 || r.Left() != 2 {
		t.Errorf("%d of %d, %d of %d, %d s left", n, of, bytes, ofBytes, r.Left())
	}
	r.Shards[0].Left = -1
	if r.Left() != -1 {
		t.Error("a time that one recipient does not know is known")
	}
}
