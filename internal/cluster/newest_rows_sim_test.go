package cluster_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/simcluster"
)

// The newest rows are read newest first, within the time limit and the leading field's
// bounds, with only the requested fields, in one bounded command that prefers
// secondaries.
func TestNewestRowsAreReadInOneBoundedCommand(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, line *counter) {
		begun := time.Now().Truncate(time.Second)
		rows := bson.A{}
		for i := range 50 {
			at := begun.Add(-time.Duration(i) * time.Minute)
			rows = append(rows, bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(at)},
				{Key: "k", Value: bson.D{{Key: "a", Value: int32(i % 10)}}},
				{Key: "changed", Value: at}, {Key: "secret", Value: "x"}})
		}
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "app"}}))
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "shardCollection", Value: "app.rows"}, {Key: "key", Value: bson.D{{Key: "k.a", Value: 1}}}}))
		must.Do(t, run(t, sim, "app", bson.D{{Key: "insert", Value: "rows"}, {Key: "documents", Value: rows}}))
		_, err := c.Server(t.Context())
		must.Do(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		for _, date := range []string{"", "changed"} {
			line.commands()
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
			sent := line.of("find")
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
