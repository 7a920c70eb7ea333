package simcluster

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The documents that are made when they are read look like a real collection's: they
// cover the key space once, and every kind of read gives the same of them.
func TestVirtualChunksReadLikeStoredOnes(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion, o.ManyChunks = version, 1000 })
		db := connect(t, c).Database("config")
		var meta struct{ UUID bson.Binary }
		if err := db.Collection("collections").FindOne(t.Context(), d("_id", ManyNS)).Decode(&meta); err != nil {
			t.Fatal(err)
		}
		read := func(filter bson.D, sort string, limit int64) (rows []bson.Raw) {
			cmd := d("find", "chunks", "filter", append(d("uuid", meta.UUID), filter...), "sort", d(sort, 1), "batchSize", 300,
				"limit", limit)
			cur, err := db.RunCommandCursor(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			if err := cur.All(t.Context(), &rows); err != nil {
				t.Fatal(err)
			}
			return rows
		}
		all := read(nil, "min", 0)
		if len(all) != 1000 {
			t.Fatalf("%s: %d chunks", version, len(all))
		}
		if all[0].Lookup("min", "k").Type != bson.TypeMinKey || all[999].Lookup("max", "k").Type != bson.TypeMaxKey {
			t.Error("the chunks do not cover the key space")
		}
		for i := 1; i < len(all); i++ {
			if !all[i].Lookup("min").Equal(all[i-1].Lookup("max")) {
				t.Fatalf("chunk %d does not begin where the one before it ends", i)
			}
		}
		for what, rows := range map[string][]bson.Raw{
			"by version":   read(nil, "lastmod", 0)[700:],
			"from one on":  read(d("min", d("$gte", all[700].Lookup("min"))), "min", 0),
			"of a version": read(d("lastmod", d("$gte", all[700].Lookup("lastmod"))), "lastmod", 0),
		} {
			if len(rows) != 300 || rows[0].String() != all[700].String() {
				t.Errorf("%s %s: %d rows", version, what, len(rows))
			}
		}
		some := read(d("min", d("$in", bson.A{all[3].Lookup("min"), all[900].Lookup("min"), d("k", int64(5))})), "min", 0)
		if len(some) != 2 || some[1].String() != all[900].String() {
			t.Errorf("%s: %d rows by their bounds", version, len(some))
		}
		before, _ := c.Examined()
		if n := len(read(d("min", d("$gte", all[10].Lookup("min"))), "min", 7)); n != 7 {
			t.Errorf("%d rows, limit 7", n)
		}
		if now, _ := c.Examined(); now-before < 7 || now-before > 8 {
			t.Errorf("a read of 7 chunks examined %d keys", now-before)
		}
	}
}
