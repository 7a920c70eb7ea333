package cluster_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
)

// Every read takes fields inside of other fields, also where one that it names has another one in it.
func TestFieldsInsideOfFieldsAreRead(t *testing.T) {
	tenant, other := bson.ObjectID{0x65, 11: 1}, bson.ObjectID{0x65, 11: 2}
	made := bson.DateTime(86_400_000)
	var ids []bson.ObjectID
	schema := madeup.Schema{DB: "shop", Keys: map[string]bson.D{"orders": madeup.Row("of.tenant", 1, "of.number", 1)},
		Rows: func(insert func(string, bson.D)) {
			for i, id := range []bson.ObjectID{tenant, other} {
				insert("tenants", madeup.Row("of", madeup.Row("tenant", id),
					"info", madeup.Row("name", "Tenant", "made", made, "orders", i, "hidden", "never")))
				for k := range 3 {
					ids = append(ids, bson.NewObjectIDFromTimestamp(time.Now()))
					insert("orders", madeup.Row("_id", ids[len(ids)-1], "of", madeup.Row("tenant", id, "number", k, "hidden", "never"),
						"at", madeup.Row("made", made)))
				}
			}
			insert("orders", madeup.Row("of", "text"))
			insert("orders", madeup.Row("of.tenant", tenant))
		}}
	simulated.Run(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, c *simulated.Cluster) {
		schema.Fill(func(db string, cmd bson.D) { must.Get(c.Command(t.Context(), db, cmd)) })
		ctx := t.Context()
		projects, err := c.Client.Projects(ctx, "shop", profile.ProjectFields{Collection: "tenants", ID: "of.tenant", Name: "info.name",
			CreatedAt: "info.made", Documents: "info.orders"}, bson.ObjectID{}, true)
		if err != nil || len(projects) != 2 || projects[1].ID != other || projects[1].Name != "Tenant" || *projects[1].Documents != 1 ||
			!projects[1].CreatedAt.Equal(made.Time()) {
			t.Errorf("tenants: %+v, %v", projects, err)
		}
		f := profile.DocumentFields{Collection: "orders", Project: "of.tenant", Key: "of.number", AnyType: true, CreatedAt: "at.made"}
		seen, _, err := c.Client.ProjectsInDocuments(ctx, "shop", f, true)
		if err != nil || len(seen) != 2 || seen[0].ID != tenant {
			t.Errorf("tenants of the orders: %+v, %v", seen, err)
		}
		id := placement.ObjectIDValue(other)
		byKey := must.Get(c.Client.DocumentsByKey(ctx, "shop", f, id, "2", 5))
		page := must.Get(c.Client.DocumentsOf(ctx, "shop", f, id, placement.DocumentPage{From: "1", Limit: 5}))
		if len(byKey) != 1 || byKey[0].ID != ids[5] || byKey[0].Project != other || byKey[0].Key != "2" ||
			!byKey[0].CreatedAt.Equal(made.Time()) || len(page) != 2 || page[1].Key != "2" {
			t.Errorf("by key: %+v, page %+v", byKey, page)
		}
		rows := profile.RowFields{Collection: "orders", Project: "of.tenant", Document: "of", Key: "of.number"}
		if got := must.Get(c.Client.ByReference(ctx, "shop", rows, other, ids[3], 5)); len(got) != 1 || got[0].Project != other {
			t.Errorf("by reference: %+v", got)
		}
		names := []string{"of.tenant", "of.number", "_id.x", "of.tenant"}
		newest := heat.NewestQuery{NS: "shop.orders", Key: names, Field: "of.tenant", Least: id, Most: id, Limit: 9,
			From: time.Now().Add(-time.Hour)}
		sizes := survey.SizeQuery{NS: "shop.orders", Project: "of.tenant", Key: names, Limit: 9}
		for what, doc := range map[string]bson.Raw{
			"by id":    must.Get(c.Client.RowsByID(ctx, "shop.orders", names, []bson.RawValue{placement.ObjectIDValue(ids[3])}, 5))[0],
			"ids":      must.Get(c.Client.IDs(ctx, "shop.orders", names, placement.ObjectIDValue(ids[3]), 1))[0].Doc,
			"newest":   must.Get(c.Client.NewestRows(ctx, newest))[2].Doc,
			"surveyed": must.Get(c.Client.RowSizes(ctx, sizes, &id, survey.Position{}))[0].Key,
		} {
			if got := shardkey.FieldOf(doc, "of.tenant"); !got.Equal(id) || shardkey.FieldOf(doc, "of.hidden").Type != 0 {
				t.Errorf("%s: %s", what, doc)
			}
		}
		counts := must.Get(c.Client.Writes(ctx, heat.WriteQuery{NS: "shop.orders", Project: "of.tenant", Document: "of.number",
			From: newest.From, Limit: 9}))
		byProject, byNumber := map[bson.ObjectID]int64{}, map[string]int64{}
		for _, n := range counts.Counts {
			byProject[n.Project] += n.Rows
			byNumber[counts.Stored.Text(n.Document)] += n.Rows
		}
		if byProject[tenant] != 3 || byProject[other] != 3 || byNumber["0"] != 2 || byNumber["2"] != 2 {
			t.Errorf("writes: %+v, by number %v", counts, byNumber)
		}
	})
}

// IDs of every type are read in the server's order, wherever a batch ends.
func TestIDsOfEveryTypeAreReadInBatches(t *testing.T) {
	want := []any{nil, 1, 2.5, int64(3), "a", "b", bson.D{{Key: "region", Value: "eu"}}, bson.Binary{Subtype: 4, Data: make([]byte, 16)},
		bson.ObjectID{1}, bson.ObjectID{2}, false, true, bson.DateTime(5), bson.Timestamp{T: 1}}
	schema := madeup.Schema{DB: "shop", Keys: map[string]bson.D{"orders": madeup.Row("tenant", 1)},
		Rows: func(insert func(string, bson.D)) {
			for i := range want {
				insert("orders", madeup.Row("_id", want[len(want)-1-i], "tenant", i))
			}
		}}
	simulated.Run(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, c *simulated.Cluster) {
		schema.Fill(func(db string, cmd bson.D) { must.Get(c.Command(t.Context(), db, cmd)) })
		for limit := 2; limit < 16; limit++ {
			var next bson.RawValue
			read := 0
			for last := false; !last; {
				rows := must.Get(c.Client.IDs(t.Context(), "shop.orders", []string{"tenant"}, next, limit))
				last = len(rows) < limit
				for _, row := range rows {
					next = row.Doc.Lookup("_id")
					if got := row.Doc.Lookup("tenant").Int32(); int(got) != len(want)-1-read {
						t.Fatalf("limit %d: row %d is %s, want the id %v", limit, read, row.Doc, want[read])
					}
					read++
				}
				if !last {
					read-- // the next batch begins with it
				}
			}
			if read != len(want) {
				t.Errorf("limit %d: %d rows, want %d", limit, read, len(want))
			}
		}
	})
}
