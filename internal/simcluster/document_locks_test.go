package simcluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
)

// bubble runs a test in virtual time with a connected cluster.
func bubble(t *testing.T, test func(t *testing.T, c *Cluster, coll *mongo.Collection)) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Empty: true, Still: true})
		must.Do(t, err)
		client := must.Get(mongo.Connect(options.Client().ApplyURI(URI()).SetDialer(c).SetServerMonitoringMode("poll")))
		coll := client.Database("store").Collection("things")
		insert(t, t.Context(), coll, d("_id", 1, "n", 0))
		test(t, c, coll)
		_ = client.Disconnect(t.Context())
		_ = c.Close()
	})
}

func TestPlainWriteWaitsForTheTransactionThatLocksItsDocument(t *testing.T) {
	bubble(t, func(t *testing.T, c *Cluster, coll *mongo.Collection) {
		ctx, s := begin(t, coll.Database().Client())
		set(t, ctx, coll, 1, 10)
		insert(t, ctx, coll, d("_id", 2))
		var waited, inserted error
		var wait sync.WaitGroup
		wait.Go(func() { _, waited = coll.UpdateByID(t.Context(), 1, d("$inc", d("n", 1))) })
		wait.Go(func() { _, inserted = coll.InsertOne(t.Context(), d("_id", 2)) })
		synctest.Wait()
		if n := numberIn(t, t.Context(), coll, 1, "n"); n != 0 {
			t.Errorf("n is %d before the commit", n)
		}
		must.Do(t, s.CommitTransaction(ctx))
		wait.Wait()
		if n := numberIn(t, t.Context(), coll, 1, "n"); n != 11 || waited != nil {
			t.Errorf("n is %d (%v), want the commit's 10 and 1", n, waited)
		}
		wantCode(t, inserted, 11000, "E11000")
	})
}

func TestPlainWriteWaitsNoLongerThanItsMaxTime(t *testing.T) {
	bubble(t, func(t *testing.T, c *Cluster, coll *mongo.Collection) {
		ctx, _ := begin(t, coll.Database().Client())
		set(t, ctx, coll, 1, 10)
		start := time.Now()
		_, err := c.Command(t.Context(), "store", d("delete", "things", "maxTimeMS", 700, "deletes", bson.A{d("q", d("_id", 1), "limit", 1)}))
		if e := status.Of(err); e == nil || e.Code != status.MaxTimeMSExpired || time.Since(start) != 700*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// A client that was stopped in the middle of its transaction blocks others only until
// the transaction's lifetime is over.
func TestTransactionOfAStoppedClientIsAbortedAfterItsLifetime(t *testing.T) {
	bubble(t, func(t *testing.T, c *Cluster, coll *mongo.Collection) {
		ctx, s := begin(t, coll.Database().Client())
		set(t, ctx, coll, 1, 10)
		start := time.Now()
		must.Do(t, must.Err(coll.UpdateByID(t.Context(), 1, d("$inc", d("n", 1)))))
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("the write waited %s, want a minute", waited)
		}
		_, err := coll.UpdateByID(ctx, 1, d("$inc", d("n", 1)))
		wantTransient(t, err, 251)
		wantTransient(t, s.CommitTransaction(ctx), 251)
		expect.Equal(t, numberIn(t, t.Context(), coll, 1, "n"), 1, "n")
	})
}

func TestEndOfASessionAbortsItsTransaction(t *testing.T) {
	for _, command := range []string{"endSessions", "killSessions"} {
		bubble(t, func(t *testing.T, c *Cluster, coll *mongo.Collection) {
			ctx, s := begin(t, coll.Database().Client())
			set(t, ctx, coll, 1, 10)
			start := time.Now()
			mustRun(t, c, "admin", d(command, bson.A{s.ID()}))
			set(t, t.Context(), coll, 1, 5)
			expect.That(t, time.Since(start) <= 0, "%s: the document was locked for %s", command, time.Since(start))
			wantTransient(t, s.CommitTransaction(ctx), 251)
		})
	}
}

// A commit that is repeated, because its answer was lost, tells that it was done: that is stored, and outlives the
// session.
func TestACommitIsKnownAfterTheEndOfItsSession(t *testing.T) {
	for _, command := range []string{"endSessions", "killSessions"} {
		bubble(t, func(t *testing.T, c *Cluster, coll *mongo.Collection) {
			ctx, s := begin(t, coll.Database().Client())
			set(t, ctx, coll, 1, 10)
			must.Do(t, s.CommitTransaction(ctx))
			for range 2 {
				mustRun(t, c, "admin", d(command, bson.A{s.ID()}))
				expect.NoError(t, s.CommitTransaction(ctx), "%s", command)
			}
			must.Do(t, s.StartTransaction(snapshotMajority()))
			set(t, ctx, coll, 1, 20)
			must.Do(t, s.CommitTransaction(ctx))
			expect.Equal(t, numberIn(t, t.Context(), coll, 1, "n"), 20, "n")
		})
	}
}

func TestWriteOfAClientThatLeftIsNotAppliedLater(t *testing.T) {
	bubble(t, func(t *testing.T, c *Cluster, coll *mongo.Collection) {
		ctx, s := begin(t, coll.Database().Client())
		set(t, ctx, coll, 1, 10)
		leaving, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if _, err := coll.UpdateByID(leaving, 1, d("$inc", d("n", 1))); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want a cancelled write", err)
		}
		synctest.Wait()
		must.Do(t, s.CommitTransaction(ctx))
		time.Sleep(time.Minute)
		expect.Equal(t, numberIn(t, t.Context(), coll, 1, "n"), 10, "n")
	})
}

// A commit whose outcome the client does not learn in time can be sent again.
func TestCommitWaitsForAFrozenShard(t *testing.T) {
	bubble(t, func(t *testing.T, c *Cluster, coll *mongo.Collection) {
		ctx, s := begin(t, coll.Database().Client())
		set(t, ctx, coll, 1, 10)
		_, shard := c.homeOfColl("store", "things")
		c.Faults().Freeze(shard)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		var labels mongo.LabeledError
		if err := s.CommitTransaction(short); !errors.As(err, &labels) || !labels.HasErrorLabel("UnknownTransactionCommitResult") {
			t.Errorf("%v, want the label UnknownTransactionCommitResult", err)
		}
		c.Faults().Thaw(shard)
		expect.NoError(t, s.CommitTransaction(ctx), "CommitTransaction")
		expect.Equal(t, numberIn(t, t.Context(), coll, 1, "n"), 10, "n")
	})
}
