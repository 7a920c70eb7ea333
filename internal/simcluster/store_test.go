package simcluster

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// What an application that keeps its own data in the cluster uses, through the official
// driver: each row starts with {_id: 1, n: 1, name: "one", at: 2026-01-01, log: [1, 2]}
// and says what the document is afterwards.
func TestWritesOfAStore(t *testing.T) {
	coll := connect(t, emptyCluster(t)).Database("store").Collection("things")
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := fixedEpoch()
	update := func(change any, filter ...any) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := coll.UpdateOne(ctx, d(append([]any{"_id", 1}, filter...)...), change)
			return err
		}
	}
	for name, c := range map[string]struct {
		run  func(context.Context) error
		want func(doc bson.M) bool
	}{
		"$inc": {update(d("$inc", d("n", 4))), func(doc bson.M) bool { return doc["n"] == int32(5) }},
		"$currentDate": {update(d("$currentDate", d("at", true))),
			func(doc bson.M) bool { return !doc["at"].(bson.DateTime).Time().Before(now) }},
		"$currentDate as a timestamp": {update(d("$currentDate", d("at", d("$type", "timestamp")))), func(doc bson.M) bool {
			return doc["at"].(bson.Timestamp).T >= uint32(now.Unix())
		}},
		"$setOnInsert of an existing document": {func(ctx context.Context) error {
			_, err := coll.UpdateOne(ctx, d("_id", 1), d("$setOnInsert", d("n", 9), "$set", d("x", 1)), options.UpdateOne().SetUpsert(true))
			return err
		}, func(doc bson.M) bool { return doc["n"] == int32(1) && doc["x"] == int32(1) }},
		"$push with $each and $slice": {update(d("$push", d("log", d("$each", bson.A{3, 4}, "$slice", -3)))), func(doc bson.M) bool {
			return len(doc["log"].(bson.A)) == 3 && doc["log"].(bson.A)[2] == int32(4)
		}},
		"$push with $position and $sort": {update(d("$push", d("log", d("$each", bson.A{0}, "$sort", 1)))), func(doc bson.M) bool {
			return doc["log"].(bson.A)[0] == int32(0)
		}},
		"$pull, $addToSet and $unset": {func(ctx context.Context) error {
			_, err := coll.BulkWrite(ctx, []mongo.WriteModel{
				mongo.NewUpdateOneModel().SetFilter(d("_id", 1)).SetUpdate(d("$pull", d("log", 1), "$unset", d("name", ""))),
				mongo.NewUpdateOneModel().SetFilter(d("_id", 1)).SetUpdate(d("$addToSet", d("log", 2))),
			})
			return err
		}, func(doc bson.M) bool { return len(doc["log"].(bson.A)) == 1 && doc["name"] == nil }},
		"$min and $max": {update(d("$max", d("n", 7), "$min", d("at", first.Add(-time.Hour)))), func(doc bson.M) bool {
			return doc["n"] == int32(7) && doc["at"].(bson.DateTime).Time().Equal(first.Add(-time.Hour))
		}},
		"pipeline with $$NOW": {update(mongo.Pipeline{d("$set", d("at", "$$NOW", "n", d("$add", bson.A{"$n", 1})))}), func(doc bson.M) bool {
			return !doc["at"].(bson.DateTime).Time().Before(now) && doc["n"] == int32(2)
		}},
		"pipeline with $dateAdd and $cond": {update(mongo.Pipeline{d("$set", d("at", d("$cond", bson.A{d("$lt", bson.A{"$at", "$$NOW"}),
			d("$dateAdd", d("startDate", "$$NOW", "unit", "second", "amount", 30)), "$at"})))}), func(doc bson.M) bool {
			return !doc["at"].(bson.DateTime).Time().Before(now.Add(30 * time.Second))
		}},
		"$expr with $$NOW that matches": {update(d("$set", d("n", 3)), "$expr", d("$lt", bson.A{"$at", "$$NOW"})),
			func(doc bson.M) bool { return doc["n"] == int32(3) }},
		"$expr with $$NOW that does not match": {update(d("$set", d("n", 3)), "$expr", d("$gt", bson.A{"$at", "$$NOW"})),
			func(doc bson.M) bool { return doc["n"] == int32(1) }},
		"replacement": {func(ctx context.Context) error {
			_, err := coll.ReplaceOne(ctx, d("_id", 1), d("other", true))
			return err
		}, func(doc bson.M) bool { return len(doc) == 2 && doc["other"] == true }},
		"ordered bulk write stops at its first error": {func(ctx context.Context) error {
			_, err := coll.BulkWrite(ctx, []mongo.WriteModel{
				mongo.NewUpdateOneModel().SetFilter(d("_id", 1)).SetUpdate(d("$set", d("n", 2))),
				mongo.NewInsertOneModel().SetDocument(d("_id", 1)),
				mongo.NewUpdateOneModel().SetFilter(d("_id", 1)).SetUpdate(d("$set", d("n", 3))),
			})
			if !mongo.IsDuplicateKeyError(err) {
				return err
			}
			return nil
		}, func(doc bson.M) bool { return doc["n"] == int32(2) }},
		"unordered bulk write continues": {func(ctx context.Context) error {
			_, err := coll.BulkWrite(ctx, []mongo.WriteModel{
				mongo.NewInsertOneModel().SetDocument(d("_id", 1)),
				mongo.NewUpdateManyModel().SetFilter(d("_id", d("$lt", 5))).SetUpdate(d("$set", d("n", 3))),
				mongo.NewDeleteManyModel().SetFilter(d("_id", d("$gt", 1))),
			}, options.BulkWrite().SetOrdered(false))
			if !mongo.IsDuplicateKeyError(err) {
				return err
			}
			return nil
		}, func(doc bson.M) bool { return doc["n"] == int32(3) }},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := coll.DeleteMany(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
			insert(t, t.Context(), coll, d("_id", 1, "n", 1, "name", "one", "at", first, "log", bson.A{1, 2}))
			if err := c.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			var doc bson.M
			if err := coll.FindOne(t.Context(), d("_id", 1)).Decode(&doc); err != nil || !c.want(doc) {
				t.Errorf("%v %v", doc, err)
			}
		})
	}
}

func TestFindAndModifyOfAStore(t *testing.T) {
	coll := connect(t, emptyCluster(t)).Database("store").Collection("things")
	insert(t, t.Context(), coll, d("_id", 1, "n", 1, "big", "x"), d("_id", 2, "n", 2, "big", "x"))
	for name, c := range map[string]struct {
		result *mongo.SingleResult
		want   bson.D
	}{
		"sort and fields, before": {coll.FindOneAndUpdate(t.Context(), bson.D{}, d("$inc", d("n", 10)),
			options.FindOneAndUpdate().SetSort(d("n", -1)).SetProjection(d("big", 0))), d("_id", int32(2), "n", int32(2))},
		"upsert, after": {coll.FindOneAndUpdate(t.Context(), d("_id", "lease", "holder", d("$exists", false)),
			mongo.Pipeline{d("$set", d("holder", "a", "token", d("$add", bson.A{d("$ifNull", bson.A{"$token", 0}), 1})))},
			options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)), d("_id", "lease", "holder", "a", "token", int32(1))},
		"$setOnInsert": {coll.FindOneAndUpdate(t.Context(), d("_id", "counter"), d("$inc", d("n", 1), "$setOnInsert", d("made", true)),
			options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)), d("_id", "counter", "made", true, "n", int32(1))},
		"delete": {coll.FindOneAndDelete(t.Context(), d("_id", 1)), d("_id", int32(1), "n", int32(1), "big", "x")},
		"replace": {coll.FindOneAndReplace(t.Context(), d("_id", 2), d("n", 0),
			options.FindOneAndReplace().SetReturnDocument(options.After)), d("_id", int32(2), "n", int32(0))},
	} {
		var doc bson.D
		if err := c.result.Decode(&doc); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got, want := encode(doc).String(), encode(c.want).String(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestUniqueIndexesOfAStore(t *testing.T) {
	coll := connect(t, emptyCluster(t)).Database("store").Collection("things")
	unique := options.Index().SetUnique(true)
	if _, err := coll.Indexes().CreateMany(t.Context(), []mongo.IndexModel{
		{Keys: d("a", 1, "b", -1), Options: unique},
		{Keys: d("mail", 1), Options: options.Index().SetUnique(true).SetSparse(true)},
		{Keys: d("name", 1), Options: options.Index().SetUnique(true).SetPartialFilterExpression(d("active", true))},
	}); err != nil {
		t.Fatal(err)
	}
	insert(t, t.Context(), coll, d("_id", 1, "a", 1, "b", 1, "mail", "x", "name", "n", "active", true))
	for name, c := range map[string]struct {
		doc bson.D
		ok  bool
	}{
		"same compound key":            {d("a", 1, "b", 1), false},
		"half of the compound key":     {d("a", 1, "b", 2), true},
		"no value in a sparse index":   {d("a", 1, "b", 3), true},
		"same value in a sparse one":   {d("a", 1, "b", 4, "mail", "x"), false},
		"same name, but not active":    {d("a", 1, "b", 5, "name", "n"), true},
		"same name, active":            {d("a", 1, "b", 6, "name", "n", "active", true), false},
		"another name, active, no ids": {d("a", 1, "b", 7, "name", "m", "active", true), true},
	} {
		_, err := coll.InsertOne(t.Context(), c.doc)
		if mongo.IsDuplicateKeyError(err) == c.ok || c.ok && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	specs, err := coll.Indexes().ListSpecifications(t.Context())
	if err != nil || len(specs) != 4 || specs[1].Name != "a_1_b_-1" || specs[1].Unique == nil || !*specs[1].Unique {
		t.Errorf("%+v %v", specs, err)
	}
}

func TestReadsAndCollectionsOfAStore(t *testing.T) {
	client := connect(t, emptyCluster(t))
	store := client.Database("store")
	coll := store.Collection("things")
	for i := range 30 {
		insert(t, t.Context(), coll, d("_id", i, "kind", []string{"a", "b", "c"}[i%3], "n", i))
	}
	var rows []struct {
		ID  string `bson:"_id"`
		Sum int
	}
	cur, err := coll.Aggregate(t.Context(), bson.A{d("$match", d("n", d("$gte", 3))),
		d("$group", d("_id", "$kind", "sum", d("$sum", "$n"))), d("$sort", d("sum", -1)), d("$limit", 2)})
	if err == nil {
		err = cur.All(t.Context(), &rows)
	}
	if err != nil || len(rows) != 2 || rows[0].ID != "c" || rows[0].Sum != 153 {
		t.Errorf("%+v %v", rows, err)
	}
	if n, err := coll.CountDocuments(t.Context(), d("kind", "a")); err != nil || n != 10 {
		t.Errorf("%d documents, %v", n, err)
	}
	if n, err := coll.EstimatedDocumentCount(t.Context()); err != nil || n != 30 {
		t.Errorf("%d documents estimated, %v", n, err)
	}
	cur, err = coll.Find(t.Context(), d("kind", d("$in", bson.A{"a", "b"})),
		options.Find().SetSort(d("n", -1)).SetLimit(7).SetBatchSize(2).SetSkip(1))
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.M
	if err := cur.All(t.Context(), &docs); err != nil || len(docs) != 7 || docs[0]["n"] != int32(27) {
		t.Errorf("%v %v", docs, err)
	}
	if err := client.Database("admin").RunCommand(t.Context(), d("renameCollection", "store.things", "to", "store.other")).Err(); err != nil {
		t.Error(err)
	}
	if names, err := store.ListCollectionNames(t.Context(), bson.D{}); err != nil || len(names) != 1 || names[0] != "other" {
		t.Errorf("%v %v", names, err)
	}
	if err := store.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	if names, err := client.ListDatabaseNames(t.Context(), d("name", "store")); err != nil || len(names) != 0 {
		t.Errorf("%v %v", names, err)
	}
}
