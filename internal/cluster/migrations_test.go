package cluster

import (
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/replay"
	"shardboard/internal/topology"
)

// seenInFlight replays what a real 5.0.7 returned during migrations: alternately the
// rows of $currentOp and the documents of config.migrations.
func seenInFlight(t *testing.T, each func(saw string, rows []bson.Raw)) {
	t.Helper()
	for line, err := range replay.Lines(filepath.Join("testdata", "inflight.jsonl.gz")) {
		var l struct {
			Saw       string
			Ops, Docs []bson.Raw
		}
		if err == nil {
			err = bson.Unmarshal(line, &l)
		}
		must.Do(t, err)
		each(l.Saw, append(l.Ops, l.Docs...))
	}
}

func TestMigrationsOfARealServerAreDecoded(t *testing.T) {
	seen := 0
	seenInFlight(t, func(saw string, rows []bson.Raw) {
		if saw != "config.migrations" {
			return
		}
		for _, doc := range rows {
			m := decodeMigration(doc)
			seen++
			if m.NS.Collection() == "" || m.From == "" || m.To == "" || m.From == m.To || len(m.Min) == 0 || len(m.Max) == 0 || m.Wait {
				t.Errorf("%s reads as %+v", doc, m)
			}
			expect.Equal(t, m.Begun.Year(), 2026, "begun %s", m.Begun)
		}
	})
	expect.That(t, seen >= 10, "%d documents", seen)
}

func TestOperationsOfARealServerAreDecoded(t *testing.T) {
	var byHand, byBalancer, donorSteps, recipientSteps, primaries int
	seenInFlight(t, func(saw string, rows []bson.Raw) {
		if saw != "currentOp" {
			return
		}
		for _, row := range rows {
			o, ok := decodeMoveOperation(row)
			desc, _ := row.Lookup("desc").StringValueOK()
			if _, err := row.LookupErr("command", "_shardsvrMovePrimary"); err == nil {
				primaries++
				expect.That(t, !ok, "movePrimary is taken for a migration: %+v", o)
				continue
			}
			switch {
			case o.Command && (o.NS.Collection() == "" || o.From != o.Shard || o.To == "" || len(o.Min) == 0 ||
				o.Running <= 0 || o.Running > time.Minute):
				t.Errorf("%s reads as %+v", row, o)
			case o.Command && o.App == "mongosh 2.12.0":
				byHand++
			case o.Command && o.App == "":
				byBalancer++
			case desc == "MoveChunk" && ok && o.Steps == 6:
				donorSteps++
			case desc == "migrateThread" && ok && o.Steps == 7:
				recipientSteps++
			case ok:
				t.Errorf("%s reads as %+v", row, o)
			}
		}
	})
	if byHand == 0 || byBalancer == 0 || donorSteps == 0 || recipientSteps == 0 || primaries == 0 {
		t.Errorf("by hand %d, by the balancer %d, steps of donors %d, of recipients %d, movePrimary %d", byHand,
			byBalancer, donorSteps, recipientSteps, primaries)
	}
}

// Documents of an unknown form are left out, never an error: the list is only for
// display.
func TestMalformedDocumentsAreNotMigrationsInFlight(t *testing.T) {
	raw := func(d bson.D) bson.Raw {
		return must.Get(bson.Marshal(d))
	}
	old := decodeMigration(raw(bson.D{{Key: "_id", Value: "db.c-p_1"}, {Key: "ns", Value: "db.c"},
		{Key: "min", Value: bson.D{{Key: "p", Value: 1}}}, {Key: "fromShard", Value: "a"}, {Key: "toShard", Value: "b"}}))
	expect.That(t, old.Begun.IsZero() && old.NS == "db.c" && old.Max == nil, "%+v", old)
	if m := decodeMigration(raw(bson.D{{Key: "ns", Value: 5}, {Key: "min", Value: "x"}})); m.NS != "" || m.Min != nil {
		t.Errorf("%+v", m)
	}
	for _, row := range []bson.D{
		{},
		{{Key: "shard", Value: "a"}, {Key: "msg", Value: "Index Build: scanning collection"}},
		{{Key: "shard", Value: "a"}, {Key: "msg", Value: "step 9 of 6"}},
		{{Key: "shard", Value: "a"}, {Key: "msg", Value: "step 1 of 9999999"}},
		{{Key: "shard", Value: "a"}, {Key: "command", Value: bson.D{{Key: "moveChunk", Value: "db.c"}, {Key: "to", Value: "b"}}}},
		{{Key: "shard", Value: "a"}, {Key: "command", Value: bson.D{{Key: "moveChunk", Value: 7}, {Key: "fromShard", Value: "b"}}}},
	} {
		if o, ok := decodeMoveOperation(raw(row)); ok {
			t.Errorf("%v reads as %+v", row, o)
		}
	}
}

var _ topology.MoveSource = (*Client)(nil)
