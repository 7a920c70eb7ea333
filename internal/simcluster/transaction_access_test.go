package simcluster

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/engine/status"
)

// A session id belongs to a user: nobody ends the transaction of another one.
func TestTransactionsBelongToTheirUser(t *testing.T) {
	c := emptyCluster(t, func(o *Options) {
		o.Users = []access.User{{Name: "jo", Password: "pw", Roles: []string{"readWrite@store"}},
			{Name: "eve", Password: "pw", Roles: []string{"readWrite@store"}}}
	})
	as := func(user string) *mongo.Client {
		return connect(t, c, func(o *options.ClientOptions) { o.SetAuth(options.Credential{Username: user, Password: "pw"}) })
	}
	jo, eve := as("jo"), as("eve")
	coll := jo.Database("store").Collection("things")
	write := func() (context.Context, *mongo.Session) {
		ctx, s := begin(t, jo)
		must.Do(t, must.Err(coll.InsertOne(ctx, bson.D{})))
		return ctx, s
	}
	ctx, s := write()
	must.Do(t, eve.Database("admin").RunCommand(t.Context(), d("endSessions", bson.A{s.ID()})).Err())
	expect.NoError(t, s.CommitTransaction(ctx), "another user ended the transaction")
	ctx, s = write()
	must.Do(t, jo.Database("admin").RunCommand(t.Context(), d("killSessions", bson.A{})).Err())
	wantTransient(t, s.CommitTransaction(ctx), 251)
}

// Cursors belong to the user of their session: another one ends them only by a pattern, which needs killAnySession.
func TestSessionsOfOthersEndByAPatternOnly(t *testing.T) {
	c := emptyCluster(t, func(o *Options) {
		o.Users = []access.User{{Name: "jo", Password: "pw", Roles: []string{"readWrite@store"}},
			{Name: "eve", Password: "pw", Roles: []string{"readWrite@store"}}, {Name: "root", Password: "pw", Roles: []string{"root@admin"}}}
	})
	as := func(user string) *mongo.Database {
		client := connect(t, c, func(o *options.ClientOptions) { o.SetAuth(options.Credential{Username: user, Password: "pw"}) })
		return client.Database("admin")
	}
	jo, eve, root := as("jo"), as("eve"), as("root")
	coll := jo.Client().Database("store").Collection("things")
	must.Do(t, must.Err(coll.InsertMany(t.Context(), []any{bson.D{}, bson.D{}, bson.D{}})))
	must.Do(t, must.Err(coll.Find(t.Context(), bson.D{}, options.Find().SetBatchSize(1))))
	standing := func() (lsids bson.A) {
		cur, err := root.Aggregate(t.Context(), bson.A{
			d("$currentOp", d("allUsers", true, "idleCursors", true)), d("$match", d("type", "idleCursor"))})
		must.Do(t, err)
		for cur.Next(t.Context()) {
			lsids = append(lsids, cur.Current.Lookup("lsid"))
		}
		return lsids
	}
	lsids := standing()
	must.That(t, len(lsids) == 1, "%d cursors stand, want 1", len(lsids))
	pattern := d("killAllSessionsByPattern", bson.A{d("lsid", lsids[0])})
	for _, who := range []*mongo.Database{eve, root} {
		id := bson.A{d("id", lsids[0].(bson.RawValue).Document().Lookup("id"))}
		if err := who.RunCommand(t.Context(), d("killSessions", id)).Err(); err != nil || len(standing()) != 1 {
			t.Errorf("killSessions of another user: %v, %d cursors left", err, len(standing()))
		}
	}
	if err := eve.RunCommand(t.Context(), pattern).Err(); codeOf(err) != status.Unauthorized || len(standing()) != 1 {
		t.Errorf("without killAnySession: %v, %d cursors left", err, len(standing()))
	}
	if err := root.RunCommand(t.Context(), pattern).Err(); err != nil || len(standing()) != 0 {
		t.Errorf("with it: %v, %d cursors left", err, len(standing()))
	}
}
