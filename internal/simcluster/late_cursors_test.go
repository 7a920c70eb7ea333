package simcluster

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine"
)

// A read that mongos gave up while a shard was frozen opens its cursor when the shard goes on. It holds what leaves
// the shard from then on, until its session is killed or ten minutes have passed.
func TestCursorOfAReadThatWasGivenUpHoldsWhatLeavesItsShardLater(t *testing.T) {
	c := &Cluster{}
	l := &c.late
	now := time.Now()
	body := func(session string) bson.Raw {
		return encode(bson.D{{Key: "find", Value: "changes"}, {Key: "lsid", Value: bson.D{{Key: "id", Value: session}}}})
	}
	for _, session := range []string{"a", "b"} {
		c.giveUp("s1", &engine.Request{DB: "db", Name: "find", Body: body(session)})
	}
	c.giveUp("s1", &engine.Request{DB: "db", Name: "count", Body: body("c")})
	session := func(name string) string { return string(encode(bson.D{{Key: "id", Value: name}}).Lookup("id").Value) }
	hold := func(ns, shard string, left, now time.Time) bool {
		return slices.ContainsFunc(l.opened(now), func(k shardCursor) bool { return k.holds(ns, shard, left) })
	}
	if l.closeSession(session("a"), userDigest("")); hold("db.changes", "s1", now.Add(time.Hour), now) {
		t.Error("the cursors stand while the shard is frozen")
	}
	l.thaw("s1", now)
	if got := len(l.opened(now)); got != 2 {
		t.Fatalf("%d cursors, want 2: a session that is killed while the shard is frozen gets its cursor all the same", got)
	}
	for _, x := range []struct {
		ns, shard string
		left      time.Time
		want      bool
	}{
		{"db.changes", "s1", now.Add(time.Second), true}, {"db.changes", "s1", now.Add(-time.Second), false},
		{"db.changes", "s2", now.Add(time.Second), false}, {"db.other", "s1", now.Add(time.Second), false},
	} {
		expect.Equal(t, hold(x.ns, x.shard, x.left, now), x.want, "%s on %s: held", x.ns, x.shard)
	}
	l.closeSession(session("b"), userDigest("somebody else"))
	l.closeSession(session("a"), userDigest(""))
	if left := l.opened(now); len(left) != 1 || !strings.Contains(left[0].lsid.String(), "b") {
		t.Errorf("after killing a session: %v", left)
	}
	if late := now.Add(cursorLife + time.Second); hold("db.changes", "s1", late, late) {
		t.Error("it holds after cursorTimeoutMillis")
	}
}

// A cursor that a client has not read to its end stands on the shards that its query needs, with the client's name, and
// holds the deletion of what leaves them meanwhile.
func TestOpenCursorOfAClientHoldsADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := emptyCluster(t, func(o *Options) { o.OrphanDelay = time.Second })
		c.Start(t.Context())
		shardIntoThree(t, c)
		for i := range 300 {
			mustRun(t, c, "db", d("insert", "coll", "documents", bson.A{d("k", i)}))
		}
		time.Sleep(time.Minute) // until what left shard-rs-1 is deleted
		client := connect(t, c, func(o *options.ClientOptions) { o.SetAppName("report-job") })
		cur, err := client.Database("db").Collection("coll").Find(t.Context(), d("k", d("$gte", 100)), options.Find().SetBatchSize(2))
		must.That(t, err == nil && cur.Next(t.Context()), "%v", err)
		reply := mustRun(t, c, "admin", d("aggregate", 1, "cursor", bson.D{}, "pipeline", bson.A{
			d("$currentOp", d("allUsers", true, "idleCursors", true)), d("$match", d("type", "idleCursor"))}))
		rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
		if len(rows) != 2 {
			t.Fatalf("%d idle cursors, want one on each of the two shards that have a part: %v", len(rows), rows)
		}
		row := rows[0].Document()
		if app := row.Lookup("cursor", "originatingCommand", "$client", "application", "name").StringValue(); app != "report-job" ||
			row.Lookup("ns").StringValue() != "db.coll" {
			t.Errorf("row %s", row)
		}
		mustRun(t, c, "admin", d("moveChunk", "db.coll", "find", d("k", 100), "to", "shard-rs-1"))
		there := func() int {
			c.catalog.Mu.RLock()
			defer c.catalog.Mu.RUnlock()
			return c.catalog.Orphans("db.coll", "shard-rs-2")
		}
		if time.Sleep(time.Minute); there() == 0 {
			t.Fatal("the range was deleted, and an older cursor is open")
		}
		mustRun(t, c, "admin", d("killSessions", bson.A{d("id", row.Lookup("lsid", "id"))}))
		if time.Sleep(time.Minute); there() != 0 {
			t.Error("the range is still there after the session was killed")
		}
	})
}
