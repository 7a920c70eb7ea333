package mongodb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

const (
	problems       = "problems"
	problemsJudged = "problems_judged"
)

// makeProblems makes the collections and indexes of schema 4. It also makes those of takes, which stores of an earlier
// schema may not have.
func makeProblems(ctx context.Context, db *DB) error {
	for _, x := range []index{
		{collection: problems, fields: "cluster id since", unique: true},
		{collection: problems, fields: "cluster since"},
		{collection: problemsJudged, fields: "cluster since", unique: true},
		{collection: "takes", fields: "cluster id", unique: true},
	} {
		if err := db.data.CreateCollection(ctx, x.collection); err != nil && !isNamespaceExists(err) {
			return fmt.Errorf("create %s: %w", x.collection, err)
		}
		if _, err := db.collection(x.collection).Indexes().CreateOne(ctx, x.model()); err != nil {
			return fmt.Errorf("create the indexes of %s: %w", x.collection, err)
		}
	}
	return nil
}

type problemDoc struct {
	Cluster string     `bson:"cluster"`
	ID      string     `bson:"id"`
	Since   time.Time  `bson:"since"`
	Until   *time.Time `bson:"until"`
	Body    []byte     `bson:"body"`
}

type judgedDoc struct {
	Cluster string    `bson:"cluster"`
	Since   time.Time `bson:"since"`
	Until   time.Time `bson:"until"`
	Body    []byte    `bson:"body"`
}

// SaveProblems adds or replaces times in which problems lasted.
func (db *DB) SaveProblems(ctx context.Context, cluster string, list []store.ProblemRecord) error {
	return db.lead(ctx, func(ctx context.Context) error {
		for _, r := range list {
			d := problemDoc{Cluster: cluster, ID: r.ID, Since: stamp(r.Since), Body: bytesOf(r.Body)}
			if !r.Until.IsZero() {
				until := stamp(r.Until)
				d.Until = &until
			}
			if err := db.upsert(ctx, problems, eq("cluster", cluster, "id", r.ID, "since", d.Since), d); err != nil {
				return err
			}
		}
		return nil
	})
}

// ProblemRecords returns the times in which problems lasted.
func (db *DB) ProblemRecords(ctx context.Context, cluster string, from, to time.Time) ([]store.ProblemRecord, error) {
	filter := eq("cluster", cluster)
	if !to.IsZero() {
		filter = append(filter, bson.E{Key: "since", Value: eq("$lte", to)})
	}
	if !from.IsZero() {
		filter = append(filter, bson.E{Key: "$or", Value: bson.A{eq("until", nil), eq("until", eq("$gte", from))}})
	}
	return listAs(ctx, db, problems, filter, func(d problemDoc) store.ProblemRecord {
		r := store.ProblemRecord{ID: d.ID, Since: d.Since.UTC(), Body: d.Body}
		if d.Until != nil {
			r.Until = d.Until.UTC()
		}
		return r
	}, options.Find().SetSort(eq("since", -1, "id", 1)))
}

// NoteJudged extends the last span or starts one.
func (db *DB) NoteJudged(ctx context.Context, cluster string, now time.Time, gap time.Duration, body []byte) error {
	return db.lead(ctx, func(ctx context.Context) error {
		var last judgedDoc
		err := db.collection(problemsJudged).FindOne(ctx, eq("cluster", cluster), options.FindOne().SetSort(eq("since", -1))).Decode(&last)
		if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
			return err
		}
		now := stamp(now)
		if err == nil && !last.Until.Before(now.Add(-gap)) && !last.Until.After(now) {
			_, err := db.collection(problemsJudged).UpdateOne(ctx, eq("cluster", cluster, "since", last.Since), set("until", now))
			if err != nil || bytes.Equal(last.Body, body) {
				return err
			}
		}
		return db.upsert(ctx, problemsJudged, eq("cluster", cluster, "since", now), judgedDoc{cluster, now, now, bytesOf(body)})
	})
}

// JudgedSpans returns when problems were looked for.
func (db *DB) JudgedSpans(ctx context.Context, cluster string, from, to time.Time) ([]store.JudgedSpan, error) {
	filter := eq("cluster", cluster)
	if !to.IsZero() {
		filter = append(filter, bson.E{Key: "since", Value: eq("$lte", to)})
	}
	if !from.IsZero() {
		filter = append(filter, bson.E{Key: "until", Value: eq("$gte", from)})
	}
	return listAs(ctx, db, problemsJudged, filter, func(d judgedDoc) store.JudgedSpan {
		return store.JudgedSpan{From: d.Since.UTC(), To: d.Until.UTC(), Body: d.Body}
	}, options.Find().SetSort(eq("since", 1)))
}

// TrimProblems deletes what ended before a time.
func (db *DB) TrimProblems(ctx context.Context, cluster string, before time.Time) error {
	for _, name := range []string{problems, problemsJudged} {
		// $lt does not match the null of one that lasts.
		if err := db.trim(ctx, name, eq("cluster", cluster, "until", eq("$lt", before))); err != nil {
			return err
		}
	}
	return nil
}
