// Package demodata fills an empty database of a real sharded cluster with the data that the demo shows: projects,
// documents, clients and changes as Yorkie stores them. It is for trying things out. It never writes to a
// database that has documents, and changes nothing outside of the database.
package demodata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/mongoclient"
	"shardboard/internal/sanitize"
	"shardboard/internal/simcluster/workload"
)

// Options say where the data goes and how much it is. Every field but Log is needed.
type Options struct {
	URI       string // of a mongos, as a user who may read config, shard, split, move and write
	Database  string
	Seed      int64
	Projects  int
	Documents int
	Log       *slog.Logger
}

// Load writes the data. Collections that are sharded already keep their keys if these are Yorkie's.
func Load(ctx context.Context, o Options) error {
	opts := mongoclient.Complete(options.Client().ApplyURI(o.URI), "shardboard demo-data", 10*time.Second, nil)
	if err := opts.Validate(); err != nil {
		return fault.New(fault.Invalid, "The MongoDB address is not valid; check its options.") // err may quote its password
	}
	client, err := mongo.Connect(opts)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The cluster cannot be reached.")
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	if err := checkMongos(ctx, client); err != nil {
		return err
	}
	if err := checkEmpty(ctx, client.Database(o.Database)); err != nil {
		return err
	}
	shards, err := shardsOf(ctx, client, o.Database)
	if err != nil {
		return failed(err, "The shards cannot be read")
	}
	_, err = workload.Load(ctx, &target{ctx, client}, workload.Options{
		Seed: o.Seed, Epoch: time.Now(), Layout: "yorkie-head", Database: o.Database, Projects: o.Projects, Documents: o.Documents,
		Shards: shards, KeepChunkSize: true, Now: time.Now, Log: o.Log,
	})
	if err != nil {
		return failed(err, "The data could not be loaded completely; drop the database "+sanitize.Line(o.Database)+" before another try")
	}
	return nil
}

// failed names the server's reason.
func failed(err error, what string) error {
	kind := fault.Unavailable
	var refused mongo.CommandError
	if errors.As(err, &refused) && refused.Code == 13 { // Unauthorized
		kind = fault.Forbidden
	}
	return fault.Wrap(kind, err, "%s: %s.", what, sanitize.Line(err.Error()))
}

func checkMongos(ctx context.Context, client *mongo.Client) error {
	var hello struct{ Msg string }
	if err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello); err != nil {
		return failed(err, "The cluster does not answer")
	}
	if hello.Msg != "isdbgrid" {
		return fault.New(fault.Invalid, "This is no mongos, so there are no shards that the data could be spread over.")
	}
	return nil
}

// checkEmpty refuses a database that has any document: it may be somebody's.
func checkEmpty(ctx context.Context, db *mongo.Database) error {
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return failed(err, "The database cannot be read")
	}
	for _, name := range names {
		err := db.Collection(name).FindOne(ctx, bson.D{}, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
		switch {
		case errors.Is(err, mongo.ErrNoDocuments):
		case err != nil:
			return failed(err, "The collection "+sanitize.Line(name)+" cannot be read")
		default:
			return fault.New(fault.Conflict, "The database %s is not empty (collection %s). Demo data is only written to an empty database.",
				sanitize.Line(db.Name()), sanitize.Line(name))
		}
	}
	return nil
}

// shardsOf are the names of the shards: first the primary shard of the database, if it exists, because what is not
// sharded is there.
func shardsOf(ctx context.Context, client *mongo.Client, database string) ([]string, error) {
	config := client.Database("config")
	var home struct{ Primary string }
	err := config.Collection("databases").FindOne(ctx, bson.D{{Key: "_id", Value: database}}).Decode(&home)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return nil, err
	}
	cur, err := config.Collection("shards").Find(ctx, bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID string `bson:"_id"`
	}
	if err := cur.All(ctx, &rows); err != nil {
		return nil, err
	}
	var names []string
	for _, r := range rows {
		if r.ID == home.Primary {
			names = append([]string{r.ID}, names...)
		} else {
			names = append(names, r.ID)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the cluster has none")
	}
	return names, nil
}

// target sends what the workload writes to the cluster. It lives as long as one Load.
type target struct {
	ctx    context.Context // of Load: BulkInsert has none
	client *mongo.Client
}

func (t *target) Command(ctx context.Context, db string, cmd any) (bson.Raw, error) {
	return t.client.Database(db).RunCommand(ctx, cmd).Raw()
}

// insertAtOnce limits the documents of one command. The driver splits by bytes itself.
const insertAtOnce = 1000

func (t *target) BulkInsert(ns string, docs []bson.Raw) error {
	database, name, ok := strings.Cut(ns, ".")
	if !ok {
		return fmt.Errorf("%q is not a namespace", ns)
	}
	coll := t.client.Database(database).Collection(name)
	for len(docs) > 0 {
		n := min(len(docs), insertAtOnce)
		if _, err := coll.InsertMany(t.ctx, docs[:n], options.InsertMany().SetOrdered(false)); err != nil {
			return err
		}
		docs = docs[n:]
	}
	return nil
}
