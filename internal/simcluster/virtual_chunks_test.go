package simcluster

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Chunks that are made when they are read are found by their bounds and versions like
// stored ones.
func TestVirtualChunksReadLikeStoredOnes(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion, o.ManyChunks = version, 1000 })
		uuid := mustRun(t, c, "config", d("find", "collections", "filter", d("_id", ManyNS))).Lookup("cursor", "firstBatch", "0", "uuid")
		read := func(filter bson.D, sort string) []bson.RawValue {
			reply := mustRun(t, c, "config",
				d("find", "chunks", "filter", append(d("uuid", uuid), filter...), "sort", d(sort, 1), "batchSize", 2000))
			rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
			return rows
		}
		all := read(nil, "min")
		if len(all) != 1000 {
			t.Fatalf("%s: %d chunks", version, len(all))
		}
		bound := func(i int) bson.RawValue { return all[i].Document().Lookup("min") }
		for what, rows := range map[string][]bson.RawValue{
			"by version":   read(nil, "lastmod")[700:],
			"from one on":  read(d("min", d("$gte", bound(700))), "min"),
			"of a version": read(d("lastmod", d("$gte", all[700].Document().Lookup("lastmod"))), "lastmod"),
			"by bounds":    append(read(d("min", d("$in", bson.A{bound(700), bound(900), d("k", int64(5))})), "min"), all[702:]...),
		} {
			if len(rows) != 300 || !rows[0].Equal(all[700]) {
				t.Errorf("%s %s: %d rows", version, what, len(rows))
			}
		}
	}
}
