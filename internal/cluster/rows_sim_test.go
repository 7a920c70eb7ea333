package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
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
		expect.That(t, err == nil && len(seen) == 2 && seen[0].ID == tenant, "tenants of the orders: %+v, %v", seen, err)
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
			expect.That(t, read == len(want), "limit %d: %d rows, want %d", limit, read, len(want))
		}
	})
}

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
		must.Do(t, must.Err(c.Server(t.Context())))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		for _, date := range []string{"", "changed"} {
			line.commands()
			got, err := c.NewestRows(ctx,
				heat.NewestQuery{NS: "app.rows", Key: []string{"k.a"}, Date: date, From: begun.Add(-40 * time.Minute), Field: "k.a",
					Least: bson.RawValue{Type: bson.TypeInt32, Value: []byte{3, 0, 0, 0}},
					Most:  bson.RawValue{Type: bson.TypeInt32, Value: []byte{5, 0, 0, 0}}, Limit: 7})
			must.That(t, err == nil && len(got) == 7, "%q: %d rows, %v", date, len(got), err)
			for i, row := range got {
				a, _ := row.Doc.Lookup("k", "a").AsInt64OK()
				if a < 3 || a > 5 || row.Doc.Lookup("secret").Type != 0 || i > 0 &&
					row.ID.Timestamp().After(got[i-1].ID.Timestamp()) || begun.Sub(row.ID.Timestamp()) > 40*time.Minute {
					t.Errorf("%q: %s", date, row.Doc)
				}
				expect.That(t, date == "" || row.Doc.Lookup(date).Type == bson.TypeDateTime, "no date in %s", row.Doc)
			}
			sent := line.of("find")
			must.That(t, len(sent) == 1, "%d commands", len(sent))
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

func TestOwnersAreReadNewestFirstAndARowThatCannotBeReadCostsItself(t *testing.T) {
	const ns = "yorkie-meta.documents"
	at := func(n int) bson.Timestamp { return bson.Timestamp{T: uint32(4_000_000_000 + n), I: 1} }
	insert := func(t *testing.T, sim *simcluster.Cluster, n int, shards any) {
		t.Helper()
		must.Do(t, run(t, sim, "config", bson.D{{Key: "insert", Value: "placementHistory"}, {Key: "documents", Value: bson.A{bson.D{
			{Key: "_id", Value: fmt.Sprint(n)}, {Key: "nss", Value: ns}, {Key: "timestamp", Value: at(n)}, {Key: "shards", Value: shards}}}}}))
	}
	o := simcluster.Options{Projects: 4, Documents: 40, Still: true, ServerVersion: "8.0"}
	onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter) {
		first, more, err := c.Owners(t.Context(), ns)
		if err != nil || more || len(first) == 0 || first[len(first)-1].UUID == ([16]byte{}) || len(first[0].Shards) == 0 {
			t.Fatalf("%+v, more %v, %v", first, more, err)
		}
		insert(t, sim, 1, bson.A{"shard-rs-2", "shard-rs-1"})
		insert(t, sim, 2, "no list")
		insert(t, sim, 3, bson.A{"shard-rs-1", 7})
		insert(t, sim, 4, bson.A{})
		rows, _, err := c.Owners(t.Context(), ns)
		var skipped *topology.SkippedError
		expect.That(t, errors.As(err, &skipped) && skipped.Count == 2, "two odd rows: %v", err)
		if len(rows) != len(first)+2 || rows[0].Since != at(4) || len(rows[0].Shards) != 0 || rows[1].Since != at(1) ||
			!slices.Equal(rows[1].Shards, []string{"shard-rs-2", "shard-rs-1"}) || rows[2].Since != first[0].Since {
			t.Errorf("%+v", rows)
		}
		for n := range 60 {
			insert(t, sim, 10+n, bson.A{"shard-rs-3"})
		}
		rows, more, err = c.Owners(t.Context(), ns)
		if err != nil || !more || len(rows) != 50 || rows[0].Since != at(69) || rows[49].Since != at(20) {
			t.Errorf("%d rows, more %v, %v", len(rows), more, err)
		}
		sent.take()
		_, _, err = c.Owners(t.Context(), ns)
		if got := sent.take(); err != nil || !slices.Equal(got, []string{"config.find"}) {
			t.Errorf("it sent %v, %v", got, err)
		}
	})
}

// Where nobody samples queries, nothing is said of them; else the server's shares are those of the lab.
func TestSampledQueriesAreAskedOfWhereTheyExist(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true, ServerVersion: "8.0"},
		func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			var docs bson.A
			for i := range 1200 {
				docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i}})
			}
			must.Do(t, run(t, sim, "admin", bson.D{{Key: "shardCollection", Value: "app.t"}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}}))
			must.Do(t, run(t, sim, "app", bson.D{{Key: "insert", Value: "t"}, {Key: "documents", Value: docs}}))
			key := must.Get(shardkey.ParsePattern(document(bson.D{{Key: "p", Value: 1}})))
			if a, err := c.AnalyzeKey(t.Context(), "app.t", key, 100); err != nil || a.Queries != nil {
				t.Errorf("%v, queries %+v, want none", err, a.Queries)
			}
			must.Do(t, run(t, sim, "admin", bson.D{{Key: "configureQueryAnalyzer", Value: "app.t"}, {Key: "mode", Value: "full"},
				{Key: "samplesPerSecond", Value: 50}}))
			for _, filter := range []bson.D{{{Key: "p", Value: 7}}, {{Key: "p", Value: 8}}, {{Key: "other", Value: 1}},
				{{Key: "p", Value: bson.D{{Key: "$lt", Value: 5}}}}} {
				must.Do(t, run(t, sim, "app", bson.D{{Key: "find", Value: "t"}, {Key: "filter", Value: filter}}))
			}
			a, err := c.AnalyzeKey(t.Context(), "app.t", key, 100)
			must.Do(t, err)
			if q := a.Queries; q == nil || q.Reason != "" || q.Reads.Sampled != 4 || q.Reads.One != 0.5 || q.Reads.Several != 0.25 ||
				q.Reads.All != 0.25 || q.Writes.Sampled != 0 {
				t.Errorf("queries %+v", a.Queries)
			}
			// A key with too few values for the server's ranges has a reason, and still its own figures.
			must.Do(t, run(t, sim, "app", bson.D{{Key: "createIndexes", Value: "t"}, {Key: "indexes", Value: bson.A{
				bson.D{{Key: "key", Value: bson.D{{Key: "few", Value: 1}}}, {Key: "name", Value: "few_1"}}}}}))
			few := must.Get(shardkey.ParsePattern(document(bson.D{{Key: "few", Value: 1}})))
			if a, err = c.AnalyzeKey(t.Context(), "app.t", few, 100); err != nil || a.Rows == 0 || a.Queries == nil || a.Queries.Reason == "" {
				t.Errorf("%v %+v", err, a)
			}
		})
}
