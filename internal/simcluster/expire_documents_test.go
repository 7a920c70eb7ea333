package simcluster

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestDocumentsExpireByTTLIndexes(t *testing.T) {
	c := emptyCluster(t)
	at := func(ago time.Duration) bson.DateTime { return bson.NewDateTimeFromTime(c.catalog.Now().Add(-ago)) }
	mustRun(t, c, "store", d("createIndexes", "c", "indexes", bson.A{
		d("key", d("at", 1), "name", "at_1", "expireAfterSeconds", 60),
		d("key", d("until", 1), "name", "until_1", "expireAfterSeconds", 0, "partialFilterExpression", d("kind", "lease")),
		d("key", d("a", 1, "b", 1), "name", "a_1_b_1", "expireAfterSeconds", 0),
	}))
	mustRun(t, c, "store", d("insert", "c", "documents", bson.A{
		d("_id", "old", "at", at(61*time.Second)),
		d("_id", "young", "at", at(10*time.Second)),
		d("_id", "text", "at", "2001-01-01"),
		d("_id", "array", "at", bson.A{at(0), at(2 * time.Minute)}),
		d("_id", "lease", "until", at(time.Second), "kind", "lease"),
		d("_id", "not a lease", "until", at(time.Second)),
		d("_id", "compound", "a", at(time.Second), "b", at(time.Second)),
	}))
	if n := c.ExpireDocuments(); n != 3 {
		t.Errorf("%d documents expired, want old, array and lease", n)
	}
	c.catalog.AdvanceTo(c.catalog.Now().Add(51 * time.Second))
	if n := c.ExpireDocuments(); n != 1 {
		t.Errorf("%d documents expired after another 51 s, want young", n)
	}
}

func TestRunningClusterExpiresDocumentsEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Projects: 2, Documents: 10, Layout: "yorkie-head"})
		must(t, err)
		defer func() { _ = c.Close() }()
		c.Start(t.Context())
		mustRun(t, c, "store", d("createIndexes", "c", "indexes", bson.A{d("key", d("at", 1), "name", "at_1", "expireAfterSeconds", 5)}))
		mustRun(t, c, "store", d("insert", "c", "documents", bson.A{d("at", bson.NewDateTimeFromTime(c.catalog.Now()))}))
		time.Sleep(61 * time.Second)
		if n := mustRun(t, c, "store", d("count", "c")).Lookup("n").Int32(); n != 0 {
			t.Errorf("%d documents after a minute", n)
		}
		// A Yorkie server that runs keeps its own document alive.
		if n := mustRun(t, c, "yorkie-meta", d("count", "clusternodes")).Lookup("n").Int32(); n != 1 {
			t.Errorf("%d nodes of Yorkie", n)
		}
	})
}
