package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

var _ store.Requests = (*DB)(nil)

// requests are what followers ask the leader for.
const requests = "requests"

type requestDoc struct {
	ID      string    `bson:"_id"`
	Cluster string    `bson:"cluster"`
	What    string    `bson:"what"`
	By      []byte    `bson:"by"`
	Body    []byte    `bson:"body"`
	Made    time.Time `bson:"made"`
	Term    int64     `bson:"term"` // of the leader that took it; 0: none
	Answer  []byte    `bson:"answer,omitempty"`
	Seal    []byte    `bson:"seal"`
}

var errNoRequest = fault.New(fault.NotFound, "There is no such request.")

// AddRequest stores a request for the leader.
func (db *DB) AddRequest(ctx context.Context, r store.Request) error {
	if err := fits("The request", r.Body); err != nil {
		return err
	}
	// By the server's clock, because those of the replicas' hosts may differ by more than a request lasts.
	expires := eq("$add", bson.A{"$$NOW", r.Within.Milliseconds()})
	return db.change(ctx, func(ctx context.Context) error {
		_, err := db.collection(requests).UpdateOne(ctx, eq("_id", r.ID, "term", eq("$exists", false)),
			bson.A{bson.D{{Key: "$set", Value: eq("cluster", literal(r.Cluster), "what", literal(r.What), "by", literal(bytesOf(r.By)),
				"body", literal(bytesOf(r.Body)), "made", r.Made, "expires", expires, "term", int64(0),
				"seal", literal(bytesOf(r.Seal)))}}}, options.UpdateOne().SetUpsert(true))
		if mongo.IsDuplicateKeyError(err) {
			return fault.Wrap(fault.Conflict, err, "There is already such a request.")
		}
		return err
	})
}

// waiting is a filter of the requests of a cluster that may be taken.
func waiting(cluster string) bson.D {
	return eq("cluster", cluster, "term", int64(0), "$expr", eq("$gt", bson.A{"$expires", "$$NOW"}))
}

// TakeRequest marks the oldest request as taken. Looking for one is a plain read, so that a leader may
// look several times a second.
func (db *DB) TakeRequest(ctx context.Context, cluster string) (store.Request, error) {
	token, leads := db.lease.token()
	if !leads {
		return store.Request{}, store.ErrNotLeading
	}
	oldest := eq("made", 1)
	d, err := one[requestDoc](ctx, db, requests, waiting(cluster), options.FindOne().SetSort(oldest))
	if err == nil {
		err = db.lead(ctx, func(ctx context.Context) error {
			return db.collection(requests).FindOneAndUpdate(ctx, waiting(cluster), set("term", token),
				options.FindOneAndUpdate().SetSort(oldest).SetReturnDocument(options.After)).Decode(&d)
		})
	}
	if errors.Is(err, mongo.ErrNoDocuments) {
		return store.Request{}, errNoRequest
	}
	return store.Request{ID: d.ID, Cluster: d.Cluster, What: d.What, By: d.By, Body: d.Body, Made: d.Made.UTC(), Seal: d.Seal}, err
}

// AnswerRequest stores the answer of the leader that took the request.
func (db *DB) AnswerRequest(ctx context.Context, id string, answer []byte) error {
	if err := fits("The answer", answer); err != nil {
		return err
	}
	token, _ := db.lease.token()
	return db.lead(ctx, func(ctx context.Context) error {
		done, err := db.collection(requests).UpdateOne(ctx, eq("_id", id, "term", token), set("answer", bytesOf(answer)))
		if err == nil && done.MatchedCount == 0 {
			err = errNoRequest
		}
		return err
	})
}

// RequestState returns what became of a request.
func (db *DB) RequestState(ctx context.Context, id string) (store.RequestState, error) {
	d, err := one[requestDoc](ctx, db, requests, eq("_id", id))
	if errors.Is(err, mongo.ErrNoDocuments) {
		err = errNoRequest
	}
	return store.RequestState{Term: d.Term, Answered: d.Answer != nil, Answer: d.Answer}, err
}

// WithdrawRequest deletes a request that was not taken.
func (db *DB) WithdrawRequest(ctx context.Context, id string) (withdrawn bool, err error) {
	err = db.change(ctx, func(ctx context.Context) error {
		done, err := db.collection(requests).DeleteOne(ctx, eq("_id", id, "term", int64(0)))
		withdrawn = err == nil && done.DeletedCount > 0
		return err
	})
	return withdrawn && err == nil, err
}

// DropRequests deletes old requests.
func (db *DB) DropRequests(ctx context.Context, before time.Time) error {
	return db.lead(ctx, func(ctx context.Context) error {
		_, err := db.collection(requests).DeleteMany(ctx, bson.D{{Key: "made", Value: eq("$lt", before)}})
		return err
	})
}
