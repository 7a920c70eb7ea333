package actions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// tracked makes users an unsharded collection that is tracked on a shard.
func tracked(t *testing.T, shard string) func(*Situation) {
	return func(s *Situation) {
		versioned(s)
		id := pattern(t, bson.E{Key: "_id", Value: int32(1)})
		c := collection(t, db+".users", id, nil, shard)
		c.Unsplittable = true
		s.Table.Collections = append(s.Table.Collections, c)
		s.Table.Unsharded = []topology.Namespace{db + ".projects"}
		setSizes(s.Table, c.NS, 0, 50)
	}
}

func TestMoveCollectionRequiresThePlaceAndIsUndone(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(*Situation)
		from, to string
	}{
		"on the primary": {versioned, "a", "b"},
		"tracked":        {tracked(t, "b"), "b", "c"},
	} {
		d, a := plan(t, cluster(t, "0.6.38", "8.0.4", tc.change), MoveCollection, Args{NS: db + ".users", To: tc.to})
		if len(d.Steps) != 1 || d.Blocked() || d.Risk != High || d.Confirm != db+".users" || d.Steps[0].Needs[0].Want["shard"] != tc.from {
			t.Fatalf("%s: %+v %s %q", name, d.Steps, d.Risk, d.Confirm)
		}
		if m := d.Effect.Moves; len(m) != 1 || m[0].From != tc.from || m[0].Bytes.Value != 50*megabyte {
			t.Errorf("%s: %+v", name, m)
		}
		moved := cluster(t, "0.6.38", "8.0.4", tracked(t, tc.to))
		undo, err := PlanUndo(moved, MoveCollection, a, d.Summary, d.Steps, d.Effect)
		expect.That(t, err == nil && len(undo.Steps) == 1 && undo.Steps[0].Shard == tc.from,
			"%s: undone by %v %+v", name, err, undo.Steps)
	}
}

func TestMoveCollectionIsRefusedAndBlocked(t *testing.T) {
	for _, tc := range []struct {
		name, version string
		ns            topology.Namespace
		kind          fault.Kind
		text          string
	}{
		{"before 8.0", "7.0.14", db + ".users", fault.Invalid, "needs MongoDB 8.0 or later; this cluster runs 7.0.14"},
		{"sharded", "8.0.4", db + ".documents", fault.Invalid, "unshard-collection"},
		{"missing", "8.0.4", db + ".none", fault.NotFound, "none"},
		{"of the server", "8.0.4", "config.settings", fault.Invalid, "belongs to the server"},
		{"no collection", "8.0.4", db, fault.Invalid, "database.collection"},
	} {
		_, _, err := PlanChange(cluster(t, "0.6.38", tc.version, versioned), MoveCollection, Args{NS: tc.ns, To: "b"})
		expect.That(t, fault.Of(err) == tc.kind && strings.Contains(err.Error(), tc.text), "%s: %v", tc.name, err)
	}
	d, _ := plan(t, cluster(t, "0.6.38", "8.0.4", versioned), MoveCollection, Args{NS: db + ".users", To: "a"})
	if v, code := worstVerdict(d, "recipient"); v != Block || code != "recipient.sameWhole" {
		t.Errorf("%s %s", v, code)
	}
	busy := cluster(t, "0.6.38", "8.0.4", versioned, func(s *Situation) {
		s.Activity.Reshardings = []operation.Resharding{{NS: db + ".documents", Command: operation.OfReshardCollection, State: "cloning"}}
	})
	d, _ = plan(t, busy, MoveCollection, Args{NS: db + ".users", To: "b"})
	if v, code := worstVerdict(d, "resharding"); v != Block || code != "resharding.other" {
		t.Errorf("%s %s", v, code)
	}
}

// An 8.0.10 moved a collection onto a draining shard, and its balancer left it there.
func TestACollectionMayMoveToADrainingShardWithAWarning(t *testing.T) {
	d, _ := plan(t, cluster(t, "0.6.38", "8.0.4", versioned, draining("b")), MoveCollection, Args{NS: db + ".users", To: "b"})
	if v, code := worstVerdict(d, "recipient"); v != Warn || code != "recipient.drainingCollection" || d.Blocked() || len(d.Steps) != 1 {
		t.Fatalf("%s %s, blocked %v, %+v", v, code, d.Blocked(), d.Steps)
	}
	for is, want := range map[string]int{"true": 0, "false": 1} { // the draining was stopped after the plan
		s := cluster(t, "0.6.38", "8.0.4", versioned, func(s *Situation) { s.Table.Shard("b").Draining = is == "true" })
		got := 0
		for _, f := range d.Steps[0].Needs {
			if f.Kind == operation.FactShard {
				got += len(f.Against(operation.Fields(s.Table, f)))
			}
		}
		expect.That(t, got == want, "draining %s: %d differences, want %d", is, got, want)
	}
	d, _ = plan(t, cluster(t, "0.6.38", "8.0.4", versioned, draining("b")), Unshard, Args{NS: db + ".documents", To: "b"})
	if v, code := worstVerdict(d, "recipient"); v != Block || code != "recipient.drainingWhole" {
		t.Errorf("unsharding: %s %s", v, code)
	}
}

// An 8.0.10 answers each of them with NamespaceNotSharded or ends without a change, so none is sent.
func TestNoChunkOfATrackedUnshardedCollectionIsChanged(t *testing.T) {
	s, ns := cluster(t, "0.6.38", "8.0.4", tracked(t, "b")), topology.Namespace(db+".users")
	key := func(v any) bson.Raw { return must.Get(bson.Marshal(bson.D{{Key: "_id", Value: v}})) }
	whole := [2]bson.Raw{key(bson.MinKey{}), key(bson.MaxKey{})}
	for kind, args := range map[Kind]Args{
		Split:     {NS: ns, At: key(int32(5))},
		Merge:     {NS: ns, Bounds: whole},
		MoveChunk: {NS: ns, Bounds: whole, To: "c"},
	} {
		_, _, err := PlanChange(s, kind, args)
		if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "is not sharded: it is kept as one piece on one shard") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestUnshardingNeedsASpaceAndNoZones(t *testing.T) {
	ns := topology.Namespace(db + ".documents")
	d, a := plan(t, cluster(t, "0.6.38", "8.0.4", versioned), Unshard, Args{NS: ns})
	if a.To != "c" || len(d.Steps) != 1 || d.Blocked() || d.Undo.Possible || d.Risk != High || d.Steps[0].Invertible() {
		t.Fatalf("to %q, %+v, undo %v, risk %s", a.To, d.Steps, d.Undo.Possible, d.Risk)
	}
	if b := d.Effect.Bytes; b.Value != 70*megabyte {
		t.Errorf("moves %+v", b)
	}
	for id, want := range map[string]string{"shard-key": "{project_id: 1}", "layout": "{project_id: 1}", "blocked-writes": "2 seconds"} {
		if got := textOf(d, id); !strings.Contains(got, want) {
			t.Errorf("the check %s says %q, want %q in it", id, got, want)
		}
	}
	for version, want := range map[string]Verdict{"8.0.4": Block, "8.1.0": Warn} {
		zoned := cluster(t, "0.6.38", version, versioned, zone(t, "eu", "a", ns, from(t, 20), from(t, 30)))
		d, _ := plan(t, zoned, Unshard, Args{NS: ns, To: "b"})
		if v, code := worstVerdict(d, "zones"); v != want {
			t.Errorf("%s: %s %s", version, v, code)
		}
	}
	full := cluster(t, "0.6.38", "8.0.4", versioned, func(s *Situation) { setDisks(s.Table, 1000, 9990, 1000) })
	d, _ = plan(t, full, Unshard, Args{NS: ns, To: "b"})
	if v, code := worstVerdict(d, "disk"); v != Block {
		t.Errorf("%s %s", v, code)
	}
	unmeasured := cluster(t, "0.6.38", "8.0.4", versioned, func(s *Situation) { delete(s.Table.Sizes, ns) })
	if _, _, err := PlanChange(unmeasured, Unshard, Args{NS: ns}); fault.Of(err) != fault.Invalid {
		t.Errorf("a shard was chosen without sizes: %v", err)
	}
}

func TestOnlyARunningOperationOfItsKindIsAborted(t *testing.T) {
	running := func(command, state string) func(*Situation) {
		return func(s *Situation) {
			tracked(t, "a")(s)
			s.Activity.Reshardings = []operation.Resharding{{ID: "id", NS: db + ".users", Command: command, State: state}}
		}
	}
	for _, tc := range []struct {
		command, state string
		blocked        bool
	}{{"moveCollection", "cloning", false}, {"moveCollection", "committing", true}, {operation.OfReshardCollection, "cloning", true}} {
		d, _ := plan(t, cluster(t, "0.6.38", "8.0.4", running(tc.command, tc.state)), MoveCollectionAbort, Args{NS: db + ".users"})
		expect.That(t, d.Blocked() == tc.blocked && len(d.Steps) == 1 != tc.blocked,
			"%s in %s: %+v", tc.command, tc.state, d.Checks)
	}
}

// versioned gives the database a version, and the table what a plan of move-primary reads.
func versioned(s *Situation) {
	s.Table.Databases[0].Version = topology.DatabaseVersion{UUID: [16]byte{7}, LastMod: 3}
	s.Table.Health[topology.PartCollections] = topology.Health{At: now}
	s.Table.Health[topology.PartDatabases] = topology.Health{At: now}
	s.Table.Health[topology.PartRouters] = topology.Health{At: now}
	s.Table.Routers = []topology.Router{{Host: "r1:27017", Ping: now}, {Host: "r2:27017", Ping: now.Add(-time.Hour)}}
	setSizes(s.Table, db+".projects", 30)
	setSizes(s.Table, db+".users", 50)
}

func textOf(d Draft, id string) (out string) {
	for _, c := range d.Checks {
		if c.ID == id {
			out += c.Text.String() + "\n"
		}
	}
	return out
}

func TestMovePrimarySaysWhatTheReleaseDoesWithWrites(t *testing.T) {
	for version, want := range map[string]string{
		"4.4.29": "writes-lost.unguarded", "5.0.7": "writes-lost.refused", "6.0.19": "writes-lost.refused",
		"7.0.14": "writes-lost.blocked", "8.0.4": "writes-lost.blocked",
	} {
		d, _ := plan(t, cluster(t, "0.6.38", version, versioned), MovePrimary, Args{DB: db, To: "b"})
		if v, code := worstVerdict(d, "writes-lost"); v != Warn || code != want {
			t.Errorf("%s: %s %s", version, v, code)
		}
	}
}

func TestMovePrimarySaysWhatIsNotKnown(t *testing.T) {
	unlisted := cluster(t, "0.6.38", "5.0.7", versioned, func(s *Situation) { s.Table.Unsharded = nil })
	d, _ := plan(t, unlisted, MovePrimary, Args{DB: db, To: "b"})
	if v, code := worstVerdict(d, "unsharded"); v != Warn || code != "unsharded.unlisted" || d.Risk != High {
		t.Errorf("%s %s %s", v, code, d.Risk)
	}
	unmeasured := cluster(t, "0.6.38", "5.0.7", versioned, func(s *Situation) { delete(s.Table.Sizes, db+".users") })
	d, _ = plan(t, unmeasured, MovePrimary, Args{DB: db, To: "b"})
	if v, code := worstVerdict(d, "unsharded"); v != Warn || code != "unsharded.unknown" || d.Effect.Bytes.Known {
		t.Errorf("%s %s %+v", v, code, d.Effect.Bytes)
	}
	if m := d.Effect.Moves; m[0].NS != db+".users" || m[0].Bytes.Known || !m[1].Bytes.Known {
		t.Errorf("%+v", m)
	}
}

func TestMovePrimaryIsRefusedAndBlocked(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7", versioned)
	for name, kind := range map[string]fault.Kind{"config": fault.Invalid, "admin": fault.Invalid, "none": fault.NotFound} {
		if _, _, err := PlanChange(s, MovePrimary, Args{DB: name, To: "b"}); fault.Of(err) != kind || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, tc := range []struct {
		name, check string
		to          string
		change      func(*Situation)
	}{
		{"it is the primary", "recipient", "a", versioned},
		{"the recipient is draining", "recipient", "b", draining("b")},
		{"the disk is full", "disk", "b", func(s *Situation) { versioned(s); setDisks(s.Table, 1000, 9990, 1000) }},
		{"a collection is dropped", "competing", "b", func(s *Situation) {
			s.Activity.DDL = []operation.Running{{NS: db + ".users", What: "drop"}}
		}},
		{"its primary is moved already", "competing", "b", func(s *Situation) {
			s.Activity.DDL = []operation.Running{{NS: db, What: "movePrimary"}}
		}},
	} {
		d, _ := plan(t, cluster(t, "0.6.38", "5.0.7", tc.change), MovePrimary, Args{DB: db, To: tc.to})
		if v, code := worstVerdict(d, tc.check); v != Block {
			t.Errorf("%s: %s %s", tc.name, v, code)
		}
	}
}

func TestMovePrimaryIsUndoneUnlessItMovedAgain(t *testing.T) {
	s := cluster(t, "0.6.38", "7.0.14", versioned)
	d, a := plan(t, s, MovePrimary, Args{DB: db, To: "b"})
	after := cluster(t, "0.6.38", "7.0.14", versioned, func(s *Situation) { s.Table.Databases[0].Primary = "b" })
	undo, err := PlanUndo(after, MovePrimary, a, d.Summary, d.Steps, d.Effect)
	if err != nil || len(undo.Steps) != 1 || undo.Steps[0].Shard != "a" || undo.Risk != High || undo.Confirm != db || undo.Blocked() {
		t.Fatalf("%v %+v %s %q", err, undo.Steps, undo.Risk, undo.Confirm)
	}
	if v, _ := worstVerdict(undo, "writes-lost"); v != Warn {
		t.Errorf("an undo moves the collections too, and does not warn: %s", v)
	}
	elsewhere := cluster(t, "0.6.38", "7.0.14", versioned, func(s *Situation) { s.Table.Databases[0].Primary = "c" })
	var conflict *UndoConflictError
	_, err = PlanUndo(elsewhere, MovePrimary, a, d.Summary, d.Steps, d.Effect)
	expect.That(t, errors.As(err, &conflict) && len(conflict.Differences) == 1, "%v", err)
}
