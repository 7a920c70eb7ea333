package cluster_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/heat"
	"shardboard/internal/simcluster"
)

// The newest rows are read newest first, within the time limit and the leading field's
// bounds, with only the requested fields, in one bounded command that prefers
// secondaries.
func TestNewestRowsAreReadInOneBoundedCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		begun := time.Now().Truncate(time.Second)
		rows := bson.A{}
		for i := range 50 {
			at := begun.Add(-time.Duration(i) * time.Minute)
			rows = append(rows, bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(at)},
				{Key: "k", Value: bson.D{{Key: "a", Value: int32(i % 10)}}},
				{Key: "changed", Value: at}, {Key: "secret", Value: "x"}})
		}
		for _, cmd := range []struct {
			db  string
			cmd bson.D
		}{
			{"admin", bson.D{{Key: "enableSharding", Value: "app"}}},
			{"admin", bson.D{{Key: "shardCollection", Value: "app.rows"}, {Key: "key", Value: bson.D{{Key: "k.a", Value: 1}}}}},
			{"app", bson.D{{Key: "insert", Value: "rows"}, {Key: "documents", Value: rows}}},
		} {
			if _, err := sim.Command(t.Context(), cmd.db, cmd.cmd); err != nil {
				t.Fatal(err)
			}
		}
		uri, err := cluster.ParseURI(simcluster.URI())
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var sent []bson.Raw
		monitor := &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			mu.Lock()
			defer mu.Unlock()
			if e.DatabaseName == "app" {
				sent = append(sent, append(bson.Raw{}, e.Command...))
			}
		}}
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: monitor})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		for _, date := range []string{"", "changed"} {
			sent = nil
			got, err := c.NewestRows(ctx,
				heat.NewestQuery{NS: "app.rows", Key: []string{"k.a"}, Date: date, From: begun.Add(-40 * time.Minute), Field: "k.a",
					Least: bson.RawValue{Type: bson.TypeInt32, Value: []byte{3, 0, 0, 0}},
					Most:  bson.RawValue{Type: bson.TypeInt32, Value: []byte{5, 0, 0, 0}}, Limit: 7})
			if err != nil || len(got) != 7 {
				t.Fatalf("%q: %d rows, %v", date, len(got), err)
			}
			for i, row := range got {
				a, _ := row.Doc.Lookup("k", "a").AsInt64OK()
				if a < 3 || a > 5 || row.Doc.Lookup("secret").Type != 0 || i > 0 &&
					row.ID.Timestamp().After(got[i-1].ID.Timestamp()) || begun.Sub(row.ID.Timestamp()) > 40*time.Minute {
					t.Errorf("%q: %s", date, row.Doc)
				}
				if date != "" && row.Doc.Lookup(date).Type != bson.TypeDateTime {
					t.Errorf("no date in %s", row.Doc)
				}
			}
			if len(sent) != 1 {
				t.Fatalf("%d commands", len(sent))
			}
			mode, _ := sent[0].Lookup("$readPreference", "mode").StringValueOK()
			limit, _ := sent[0].Lookup("limit").AsInt64OK()
			if most, _ := sent[0].Lookup("maxTimeMS").AsInt64OK(); mode != "secondaryPreferred" || limit != 7 || most <= 0 ||
				most > 2000 || !sent[0].Lookup("singleBatch").Boolean() {
				t.Errorf("%s", sent[0])
			}
		}
		if all, err := c.NewestRows(ctx,
			heat.NewestQuery{NS: "app.rows", Key: []string{"k.a"}, From: begun.Add(-9 * time.Minute), Limit: 100}); err != nil || len(all) != 10 {
			t.Errorf("%d rows of all, %v", len(all), err)
		}
		if _, err := c.NewestRows(ctx,
			heat.NewestQuery{NS: "app.rows", Key: []string{"k", "k.a", "_id.x"}, Also: []string{"k.a"}, From: begun, Limit: 1}); err != nil {
			t.Errorf("fields inside others: %v", err)
		}
	})
}
