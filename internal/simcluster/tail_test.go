package simcluster

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
)

// Cursors at the end of a capped collection behave as the server's: what is asked for wrongly is refused, one that
// awaits data is woken by it and otherwise answers with nothing, a killed one and one whose position is gone fail.
func TestTailableCursors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Empty: true, Still: true, ServerVersion: "8.0"})
		must.Do(t, err)
		defer func() { _ = c.Close() }()
		c.Start(t.Context())
		run := func(db string, cmd ...bson.E) (bson.Raw, error) { return c.Command(t.Context(), db, bson.D(cmd)) }
		e := func(name string, v any) bson.E { return bson.E{Key: name, Value: v} }
		insert := func(id int) {
			if _, err := run("config", e("insert", "changelog"), e("documents", bson.A{bson.D{e("_id", id), e("what", "x")}})); err != nil {
				t.Fatal(err)
			}
		}
		for _, wrong := range []struct {
			code int32
			cmd  bson.D
		}{
			{status.BadValue, bson.D{e("find", "chunks"), e("tailable", true)}},
			{status.FailedToParse, bson.D{e("find", "changelog"), e("awaitData", true)}},
			{status.FailedToParse, bson.D{e("find", "changelog"), e("tailable", true), e("singleBatch", true)}},
			{status.FailedToParse, bson.D{e("find", "changelog"), e("tailable", true), e("sort", bson.D{e("$natural", -1)})}},
		} {
			if _, err := run("config", wrong.cmd...); status.Of(err).Code != wrong.code {
				t.Errorf("%v: %v, want %d", wrong.cmd, err, wrong.code)
			}
		}
		open := func() int64 {
			reply, err := run("config", e("find", "changelog"), e("tailable", true), e("awaitData", true))
			must.Do(t, err)
			return reply.Lookup("cursor", "id").AsInt64()
		}
		if _, err := run("config", e("delete", "changelog"), e("deletes", bson.A{bson.D{e("q", bson.D{}), e("limit", 0)}})); err != nil {
			t.Fatal(err)
		}
		expect.Equal(t, open(), 0, "a cursor on an empty log is open")
		insert(1)
		id := open()
		more := func() (int, time.Duration, error) {
			began := time.Now()
			reply, err := run("config", e("getMore", id), e("collection", "changelog"), e("maxTimeMS", 10_000))
			if err != nil {
				return 0, time.Since(began), err
			}
			batch, _ := reply.Lookup("cursor", "nextBatch").Array().Values()
			return len(batch), time.Since(began), nil
		}
		if n, took, err := more(); n != 0 || err != nil || took != 10*time.Second {
			t.Errorf("nothing new: %d documents after %s, %v", n, took, err)
		}
		go func() { time.Sleep(3 * time.Second); insert(2) }()
		if n, took, err := more(); n != 1 || err != nil || took != 3*time.Second {
			t.Errorf("one new: %d documents after %s, %v", n, took, err)
		}
		go func() {
			time.Sleep(time.Second)
			_, _ = run("config", e("killCursors", "changelog"), e("cursors", bson.A{id}))
		}()
		if _, took, err := more(); status.Of(err).Code != status.CursorKilled || took != time.Second {
			t.Errorf("killed: %v after %s", err, took)
		}
		if _, _, err := more(); status.Of(err).Code != status.CursorNotFound {
			t.Errorf("after it was killed: %v", err)
		}
		id = open()
		if _, err := run("config", e("delete", "changelog"), e("deletes", bson.A{bson.D{e("q", bson.D{}), e("limit", 0)}})); err != nil {
			t.Fatal(err)
		}
		insert(3)
		if _, _, err := more(); status.Of(err).Code != status.CappedPositionLost {
			t.Errorf("overwritten: %v", err)
		}
		expect.Equal(t, c.cursors.len(), 0, "cursors stay")
	})
}
