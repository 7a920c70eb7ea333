package simcluster

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// BenchmarkInsert inserts batches of 100 through the driver into a sharded
// collection; documents/s is what counts.
func BenchmarkInsert(b *testing.B) {
	c := emptyCluster(b)
	shardIntoThree(b, c)
	coll := connect(b, c).Database("db").Collection("coll")
	const batch = 100
	n := 0
	for b.Loop() {
		docs := make([]any, batch)
		for i := range docs {
			docs[i] = d("_id", n, "k", n%300, "text", "some text of the length that documents have")
			n++
		}
		if _, err := coll.InsertMany(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "documents/s")
}

func BenchmarkTargetedFind(b *testing.B) {
	c := emptyCluster(b)
	shardIntoThree(b, c)
	var docs []bson.Raw
	for i := range 30_000 {
		docs = append(docs, encode(d("_id", i, "k", i%300, "text", "some text of the length that documents have")))
	}
	if err := c.BulkInsert("db.coll", docs); err != nil {
		b.Fatal(err)
	}
	client := connect(b, c)
	coll := client.Database("db").Collection("coll")
	b.Run("driver", func(b *testing.B) { findMany(b, coll) })
	b.Run("in process", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			if _, err := c.Command(b.Context(), "db", d("find", "coll", "filter", d("k", n%300), "limit", 1)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "finds/s")
	})
}

func findMany(b *testing.B, coll *mongo.Collection) {
	n := 0
	for b.Loop() {
		n++
		if err := coll.FindOne(b.Context(), d("k", n%300)).Err(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "finds/s")
}

// BenchmarkTransaction is one write, plain and in a transaction, beside 20,000 documents.
func BenchmarkTransaction(b *testing.B) {
	c, err := New(b.Context(), Options{Still: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	write := d("update", "leases", "updates", bson.A{d("q", d("_id", 1), "u", d("$inc", d("n", 1)), "upsert", true)})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			mustRun(b, c, "store", write)
		}
	})
	number := int64(0)
	b.Run("in a transaction", func(b *testing.B) {
		for b.Loop() {
			number++
			tx := d("lsid", d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)}), "txnNumber", number, "autocommit", false)
			mustRun(b, c, "store", append(append(write[:len(write):len(write)], bson.E{Key: "startTransaction", Value: true}), tx...))
			mustRun(b, c, "admin", append(d("commitTransaction", 1), tx...))
		}
	})
}
