package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

// The lease and the fence are two documents of one collection. The lease says who leads until when,
// by the server's clock. It has a token that grows with every new leader. The fence has the token
// alone, and is written in every transaction of the leader; a new leader changes both at once.
const (
	leadership = "leadership"
	leaseID    = "lease"
	fenceID    = "fence"
)

type leaseDoc struct {
	ID      string    `bson:"_id"`
	Holder  string    `bson:"holder"` // id of an opening; "" when given up
	Name    string    `bson:"name"`
	Token   int64     `bson:"token"`
	Since   time.Time `bson:"since"`
	Until   time.Time `bson:"until"`
	Schema  int       `bson:"schema"`  // of the leader
	Overdue int64     `bson:"overdue"` // milliseconds since until, computed by the server when it is read; negative before
}

// readLease returns the lease as it is stored now.
func (db *DB) readLease(ctx context.Context) (leaseDoc, error) {
	var docs []leaseDoc
	cur, err := db.collection(leadership).Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: leaseID}}}},
		bson.D{{Key: "$addFields", Value: bson.D{{Key: "overdue", Value: bson.D{{Key: "$subtract", Value: bson.A{"$$NOW", "$until"}}}}}}},
	})
	if err == nil {
		err = cur.All(ctx, &docs)
	}
	if err != nil {
		return leaseDoc{}, db.failed(ctx, err)
	}
	db.state.worked()
	if len(docs) == 0 {
		return leaseDoc{}, errors.New("the lease is missing from " + db.address.String())
	}
	return docs[0], nil
}

// free reports whether a lease may be taken. Its end is by the clock of the server that renewed it;
// the one that is asked now, another mongos or the next primary, may have another time. So a lease
// counts as over when the server says so and this process itself saw no renewal for as long as a
// holder trusts its own; or when it saw none for longer than a lease, whatever the server's clock
// says. A process that has just started need not wait for so long if the lease ended long ago: it
// waits for the time of one renewal.
func (db *DB) free(l leaseDoc) bool {
	unchanged, moved := db.lease.watch(l)
	overdue := time.Duration(l.Overdue) * time.Millisecond
	switch {
	case l.Holder == "" || l.Holder == db.id:
		return true
	case overdue >= db.o.Lease && !moved:
		return unchanged >= db.o.Lease*2/5
	case overdue >= 0 && unchanged >= db.lease.own:
		return true
	}
	return unchanged >= db.o.Lease+db.o.Lease/5
}

// until is the end of a lease that is taken or renewed now.
func (db *DB) until() bson.D {
	return bson.D{{Key: "$add", Value: bson.A{"$$NOW", db.o.Lease.Milliseconds()}}}
}

// take takes a lease that is free, as it was read, and changes the fence in the same transaction. It
// reports false when somebody else was faster, or the holder has renewed it.
func (db *DB) take(ctx context.Context, was leaseDoc, schema int) (bool, error) {
	sent, name := db.o.now(), store.ProcessName()
	var got leaseDoc
	err := db.change(ctx, func(ctx context.Context) error {
		got = leaseDoc{}
		err := db.collection(leadership).FindOneAndUpdate(ctx,
			eq("_id", leaseID, "holder", was.Holder, "token", was.Token, "until", was.Until),
			bson.A{bson.D{{Key: "$set", Value: bson.D{
				{Key: "holder", Value: literal(db.id)}, {Key: "name", Value: literal(name)}, {Key: "schema", Value: literal(schema)},
				{Key: "token", Value: bson.D{{Key: "$add", Value: bson.A{"$token", int64(1)}}}},
				{Key: "since", Value: "$$NOW"}, {Key: "until", Value: db.until()},
			}}}},
			options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&got)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = db.collection(leadership).UpdateOne(ctx, bson.D{{Key: "_id", Value: fenceID}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "token", Value: got.Token}}}})
		return err
	})
	if err != nil || got.Token == 0 {
		return false, err
	}
	db.lease.begin(got.Token, sent, store.Leader{Here: true, Name: name, Since: got.Since.UTC(), Term: got.Token, Shared: true})
	return true, nil
}

// renew extends the lease of this process. It reports false when somebody else has it.
func (db *DB) renew(ctx context.Context, token int64) (bool, error) {
	sent := db.o.now()
	var got leaseDoc
	err := db.collection(leadership).FindOneAndUpdate(ctx,
		bson.D{{Key: "_id", Value: leaseID}, {Key: "holder", Value: db.id}, {Key: "token", Value: token}},
		bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: db.until()}}}}},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&got)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		db.state.worked()
		return false, nil
	case err != nil:
		return false, db.failed(ctx, err)
	}
	db.state.worked()
	db.lease.begin(token, sent, store.Leader{Here: true, Name: got.Name, Since: got.Since.UTC(), Term: got.Token, Shared: true})
	return true, nil
}

// literal keeps a text that begins with $ from being read as an expression.
func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }
