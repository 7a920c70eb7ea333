package actions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

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
		if _, _, err := Planners()[MovePrimary](s, Args{DB: name, To: "b"}); fault.Of(err) != kind || !strings.Contains(err.Error(), name) {
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
	if !errors.As(err, &conflict) || len(conflict.Differences) != 1 {
		t.Errorf("%v", err)
	}
}
