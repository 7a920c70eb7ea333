package simcluster

import (
	"context"
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

func TestCommandsThatATransactionMayNotRun(t *testing.T) {
	client := connect(t, emptyCluster(t))
	store := client.Database("store")
	insert(t, t.Context(), store.Collection("full"), d("_id", 1))
	for name, run := range map[string]func(context.Context) error{
		"write to config": func(ctx context.Context) error {
			_, err := client.Database("config").Collection("settings").InsertOne(ctx, d("_id", "mine"))
			return err
		},
		"count":   func(ctx context.Context) error { return store.RunCommand(ctx, d("count", "full")).Err() },
		"drop":    func(ctx context.Context) error { return store.RunCommand(ctx, d("drop", "full")).Err() },
		"explain": func(ctx context.Context) error { return store.RunCommand(ctx, d("explain", d("find", "full"))).Err() },
		"index of a full collection": func(ctx context.Context) error {
			_, err := store.Collection("full").Indexes().CreateOne(ctx, mongo.IndexModel{Keys: d("n", 1)})
			return err
		},
	} {
		ctx, s := begin(t, client)
		wantCode(t, run(ctx), int(status.OperationNotSupportedInTransaction), "")
		_ = s.AbortTransaction(ctx)
		must.That(t, !t.Failed(), "%v", name)
	}
}

// Two transactions that are each right alone must not make a duplicate key together.
func TestUniqueKeysHoldBetweenTransactions(t *testing.T) {
	coll := connect(t, emptyCluster(t)).Database("store").Collection("things")
	if _, err := coll.Indexes().CreateOne(t.Context(),
		mongo.IndexModel{Keys: d("a", 1, "b", 1), Options: options.Index().SetUnique(true)}); err != nil {
		t.Fatal(err)
	}
	insert(t, t.Context(), coll, d("_id", 1, "a", 1, "b", 1), d("_id", 2, "a", 1, "b", 2))
	client := coll.Database().Client()
	first, s1 := begin(t, client)
	second, s2 := begin(t, client)
	late, _ := begin(t, client)
	numberIn(t, late, coll, 1, "a")
	insert(t, first, coll, d("_id", 3, "a", 1, "b", 3))
	_, err := coll.InsertOne(second, d("_id", 4, "a", 1, "b", 3))
	wantTransient(t, err, 112)
	_ = s2.AbortTransaction(second)
	// The two documents exchange their keys by way of a third.
	for id, b := range map[int]int{1: 9} {
		must.Do(t, must.Err(coll.UpdateByID(first, id, d("$set", d("b", b)))))
	}
	for _, step := range [][2]int{{2, 1}, {1, 2}} {
		must.Do(t, must.Err(coll.UpdateByID(first, step[0], d("$set", d("b", step[1])))))
	}
	must.Do(t, s1.CommitTransaction(first))
	_, err = coll.InsertOne(late, d("_id", 5, "a", 1, "b", 3))
	wantTransient(t, err, 112)
	for id, b := range map[int]int{1: 2, 2: 1, 3: 3} {
		expect.Equal(t, numberIn(t, t.Context(), coll, id, "b"), b, "b of %d", id)
	}
}

// A write whose answer got lost is sent again with its number.
func TestRetriedWriteIsAppliedOnce(t *testing.T) {
	c := emptyCluster(t)
	mustRun(t, c, "db", d("insert", "c", "documents", bson.A{d("_id", 1, "n", 0), d("_id", 2, "n", 0)}))
	lsid := d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})
	for number, cmd := range []bson.D{
		d("insert", "c", "documents", bson.A{d("n", 0)}),
		d("update", "c", "updates", bson.A{d("q", d("_id", 1), "u", d("$inc", d("n", 1)))}),
		d("delete", "c", "deletes", bson.A{d("q", d("n", 0), "limit", 1)}),
		d("findAndModify", "c", "query", d("_id", 1), "update", d("$inc", d("n", 1)), "new", true),
	} {
		cmd = append(cmd, d("lsid", lsid, "txnNumber", int64(number+1))...)
		for range 3 {
			mustRun(t, c, "db", cmd)
		}
	}
	reply := mustRun(t, c, "db", d("find", "c", "sort", d("_id", 1))).Lookup("cursor", "firstBatch").Array()
	docs, _ := reply.Values()
	if len(docs) != 2 || docs[0].Document().Lookup("n").Int32() != 2 {
		t.Errorf("%s, want two documents, the first with n: 2", reply)
	}
}

func TestTransactionArgumentsAreChecked(t *testing.T) {
	c := emptyCluster(t)
	lsid := d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})
	for _, x := range []struct {
		extra bson.D
		code  int32
	}{
		{d("startTransaction", true), 72},
		{d("autocommit", false, "lsid", lsid), 72},
		{d("autocommit", false, "txnNumber", int64(1)), 72},
		{d("autocommit", true, "startTransaction", true, "txnNumber", int64(1), "lsid", lsid), 72},
		{d("autocommit", false, "startTransaction", true, "txnNumber", int64(1), "lsid", lsid, "writeConcern", d("w", 1)), 72},
		{d("autocommit", false, "startTransaction", true, "txnNumber", int64(1), "lsid", lsid, "readConcern", d("level", "linearizable")), 72},
		{d("autocommit", false, "txnNumber", int64(1), "lsid", lsid), 251},
		{d("autocommit", false, "startTransaction", true, "txnNumber", int64(5), "lsid", lsid), 0},
		{d("autocommit", false, "startTransaction", true, "txnNumber", int64(5), "lsid", lsid), 117},
		{d("autocommit", false, "startTransaction", true, "txnNumber", int64(4), "lsid", lsid), 225},
		{d("autocommit", false, "txnNumber", int64(5), "lsid", lsid, "readConcern", d("level", "snapshot")), 72},
		{d("autocommit", false, "txnNumber", int64(5), "lsid", lsid), 0},
	} {
		_, err := c.Command(t.Context(), "db", append(d("find", "c"), x.extra...))
		if e := status.Of(err); e == nil && x.code != 0 || e != nil && e.Code != x.code {
			t.Errorf("%v: %v, want code %d", x.extra, err, x.code)
		}
	}
}

func TestLifetimeOfTransactionsIsAnOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Empty: true, Still: true, TransactionLifetime: 3 * time.Second})
		must.Do(t, err)
		defer func() { _ = c.Close() }()
		lsid := d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})
		statement := d("insert", "c", "documents", bson.A{d("_id", 1)}, "lsid", lsid, "txnNumber", int64(1), "autocommit", false)
		mustRun(t, c, "db", append(statement, bson.E{Key: "startTransaction", Value: true}))
		time.Sleep(3*time.Second + 1)
		_, err = c.Command(t.Context(), "admin", d("commitTransaction", 1, "lsid", lsid, "txnNumber", int64(1), "autocommit", false))
		if e := status.Of(err); e == nil || e.Code != status.NoSuchTransaction {
			t.Errorf("%v, want code %d", err, status.NoSuchTransaction)
		}
	})
}

func TestTransactionCreatesCollections(t *testing.T) {
	client := connect(t, emptyCluster(t))
	store := client.Database("store")
	for i, want := range []int{0, 1} { // aborted, committed
		ctx, s := begin(t, client)
		insert(t, ctx, store.Collection("implicit"), d("_id", 1))
		must.Do(t, []func(context.Context) error{s.AbortTransaction, s.CommitTransaction}[i](ctx))
		if names, err := store.ListCollectionNames(t.Context(), bson.D{}); err != nil || len(names) != want {
			t.Errorf("collections %v, %v, want %d", names, err, want)
		}
	}
	ctx, _ := begin(t, client)
	wantCode(t, store.CreateCollection(ctx, "explicit"), 263, "Cannot run 'create' in a multi-document transaction.")
	// Somebody else creates it meanwhile.
	ctx, s := begin(t, client)
	insert(t, ctx, store.Collection("third"), d("_id", 1))
	insert(t, t.Context(), store.Collection("third"), d("_id", 2))
	wantTransient(t, s.CommitTransaction(ctx), 251)
}
