package simcluster

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/simcluster/access"
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
		if _, err := coll.InsertOne(ctx, bson.D{}); err != nil {
			t.Fatal(err)
		}
		return ctx, s
	}
	ctx, s := write()
	if err := eve.Database("admin").RunCommand(t.Context(), d("endSessions", bson.A{s.ID()})).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.CommitTransaction(ctx); err != nil {
		t.Errorf("another user ended the transaction: %v", err)
	}
	ctx, s = write()
	if err := jo.Database("admin").RunCommand(t.Context(), d("killSessions", bson.A{})).Err(); err != nil {
		t.Fatal(err)
	}
	wantTransient(t, s.CommitTransaction(ctx), 251)
}
