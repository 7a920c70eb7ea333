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

type surveyDoc struct {
	Cluster string    `bson:"cluster"`
	ID      string    `bson:"id"`
	N       int64     `bson:"n"` // order of the first saving
	At      time.Time `bson:"at"`
	Head    []byte    `bson:"head"`
	Body    body      `bson:",inline"`
}

// SaveSurvey writes or replaces a survey. Any replica stores one that a person asks for; the leader
// runs it and stores how it goes on.
func (db *DB) SaveSurvey(ctx context.Context, cluster string, s store.Survey, told ...store.AuditEntry) error {
	if err := fits("The summary of a survey", s.Head); err != nil {
		return err
	}
	return db.asked(told)(ctx, func(ctx context.Context) error {
		if err := db.appendAll(ctx, told); err != nil {
			return err
		}
		key := eq("cluster", cluster, "id", s.ID)
		var was surveyDoc
		err := db.collection("surveys").FindOne(ctx, key, options.FindOne().SetProjection(eq("n", 1))).Decode(&was)
		if errors.Is(err, mongo.ErrNoDocuments) {
			was.N, err = db.number(ctx, "surveys", 1)
		}
		if err != nil {
			return err
		}
		if err := db.deleteWithParts(ctx, "surveys", key); err != nil {
			return err
		}
		b, err := db.putBody(ctx, s.Body)
		if err != nil {
			return err
		}
		_, err = db.collection("surveys").InsertOne(ctx, surveyDoc{cluster, s.ID, was.N, s.At, bytesOf(s.Head), b})
		return err
	})
}

// asked returns the kind of transaction for what a person asks for and the leader continues.
func (db *DB) asked(told []store.AuditEntry) func(context.Context, func(context.Context) error) error {
	if len(told) > 0 {
		return db.change
	}
	return db.lead
}

// SurveyHeads returns surveys without their bodies, newest first.
func (db *DB) SurveyHeads(ctx context.Context, cluster string, limit int) ([]store.Survey, error) {
	return listAs(ctx, db, "surveys", eq("cluster", cluster),
		func(d surveyDoc) store.Survey { return store.Survey{ID: d.ID, At: d.At.UTC(), Head: d.Head} },
		options.Find().SetSort(eq("at", -1, "n", -1)).
			SetLimit(int64(limit)).SetProjection(bson.D{{Key: "body", Value: 0}, {Key: "body_parts", Value: 0}}))
}

// SurveyBody returns a survey's body.
func (db *DB) SurveyBody(ctx context.Context, cluster, id string) ([]byte, error) {
	d, err := one[surveyDoc](ctx, db, "surveys", eq("cluster", cluster, "id", id))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, fault.New(fault.NotFound, "This survey is not kept any more.")
	}
	if err != nil {
		return nil, err
	}
	return db.whole(ctx, d.Body)
}

// DropSurvey deletes a survey.
func (db *DB) DropSurvey(ctx context.Context, cluster, id string) error {
	return db.lead(ctx, func(ctx context.Context) error {
		return db.deleteWithParts(ctx, "surveys", eq("cluster", cluster, "id", id))
	})
}
