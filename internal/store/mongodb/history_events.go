package mongodb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

type eventDoc struct {
	Cluster string    `bson:"cluster"`
	ID      string    `bson:"id"`
	At      time.Time `bson:"at"`
	What    string    `bson:"what"`
	NS      string    `bson:"ns"`
	Shard   string    `bson:"shard"`
	Failed  bool      `bson:"failed"`
	Details []byte    `bson:"details"` // BSON; may be null
}

// indexEvents makes the indexes of schema 5: entries of one collection, and failures, are rare among millions.
func indexEvents(ctx context.Context, db *DB) error {
	for _, x := range []index{
		{collection: "history_events", fields: "cluster ns at id"},
		{collection: "history_events", fields: "cluster failed at id", partial: bson.D{{Key: "failed", Value: true}}},
	} {
		if _, err := db.collection(x.collection).Indexes().CreateOne(ctx, x.model()); err != nil {
			return fmt.Errorf("create the indexes of %s: %w", x.collection, err)
		}
	}
	return nil
}

// appendEvents inserts those that do not exist and counts them, in a transaction.
func (db *DB) appendEvents(ctx context.Context, cluster string, events []store.HistoryEvent) error {
	if len(events) == 0 {
		return nil
	}
	type key struct {
		at time.Time
		id string
	}
	keyOf := func(at time.Time, id string) key { return key{at.UTC().Truncate(time.Millisecond), id} }
	ids, first, last := make([]string, 0, len(events)), events[0].At, events[0].At
	for _, e := range events {
		ids = append(ids, e.ID)
		if e.At.Before(first) {
			first = e.At
		}
		if e.At.After(last) {
			last = e.At
		}
	}
	cur, err := db.collection("history_events").Find(ctx, eq("cluster", cluster, "at", eq("$gte", first, "$lte", last), "id", eq("$in", ids)),
		options.Find().SetProjection(eq("at", 1, "id", 1)))
	var there []eventDoc
	if err == nil {
		err = cur.All(ctx, &there)
	}
	if err != nil {
		return err
	}
	known := map[key]bool{}
	for _, d := range there {
		known[keyOf(d.At, d.ID)] = true
	}
	var docs []any
	var counted []store.HistoryEvent
	for _, e := range events {
		k := keyOf(e.At, e.ID)
		if known[k] {
			continue
		}
		known[k] = true
		docs = append(docs, eventDoc{cluster, e.ID, e.At, e.What, e.NS, e.Shard, e.Failed, e.Details})
		counted = append(counted, e)
	}
	if len(docs) == 0 {
		return nil
	}
	if _, err := db.collection("history_events").InsertMany(ctx, docs); err != nil {
		return err
	}
	return db.countEvents(ctx, cluster, counted)
}

// Events returns stored changelog entries.
func (db *DB) Events(ctx context.Context, cluster string, q store.HistoryEvents) (out []store.HistoryEvent, err error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	order, limit := -1, q.Limit
	if q.Ascending {
		order = 1
	}
	if q.Without != nil {
		limit = 0 // documents are read until there are enough
	}
	filter := eq("cluster", cluster)
	if span := spanOf(q.From, q.To); len(span) > 0 {
		filter = append(filter, bson.E{Key: "at", Value: span})
	}
	if q.NS != "" {
		filter = append(filter, bson.E{Key: "ns", Value: q.NS})
	}
	if q.OnlyFailed {
		filter = append(filter, bson.E{Key: "failed", Value: true})
	}
	err = each(ctx, db, "history_events", filter, func(d eventDoc) bool {
		e := store.HistoryEvent{ID: d.ID, At: d.At.UTC(), What: d.What, NS: d.NS, Shard: d.Shard, Failed: d.Failed, Details: d.Details}
		if q.Without == nil || !q.Without(e) {
			out = append(out, e)
		}
		return len(out) < q.Limit && (q.Enough == nil || !q.Enough())
	}, options.Find().SetSort(eq("at", order, "id", order)).SetLimit(int64(limit)))
	return out, err
}

// count is a number of events of one kind in a minute, hour or day.
type countDoc struct {
	Minute int64  `bson:"minute"`
	Part   int64  `bson:"part"`
	What   string `bson:"what"`
	NS     string `bson:"ns"`
	Failed bool   `bson:"failed"`
	N      int64  `bson:"n"`
}

// countEvents adds entries that were stored to their minutes, hours and days, in a transaction.
func (db *DB) countEvents(ctx context.Context, cluster string, events []store.HistoryEvent) error {
	type kind struct {
		span, part int64
		what, ns   string
		failed     bool
	}
	counts := map[kind]int64{}
	for _, e := range events {
		minute, what := e.At.Unix()/60, cmp.Or(e.CountedAs, e.What)
		counts[kind{1, minute, what, e.NS, e.Failed}]++
		for _, span := range store.CountedSpans {
			counts[kind{span, minute / span, what, e.NS, e.Failed}]++
		}
	}
	var minutes, spans []mongo.WriteModel
	for k, n := range counts {
		m := mongo.NewUpdateOneModel().SetUpsert(true).SetUpdate(bson.D{{Key: "$inc", Value: eq("n", n)}})
		if k.span == 1 {
			minutes = append(minutes, m.SetFilter(eq("cluster", cluster, "minute", k.part, "what", k.what, "ns", k.ns, "failed", k.failed)))
		} else {
			spans = append(spans,
				m.SetFilter(eq("cluster", cluster, "span", k.span, "part", k.part, "what", k.what, "ns", k.ns, "failed", k.failed)))
		}
	}
	if err := db.write(ctx, "history_event_minutes", minutes); err != nil {
		return err
	}
	return db.write(ctx, "history_event_spans", spans)
}

// EventCounts counts entries by the longest spans that fit into the parts, and by shorter ones at
// both ends. So its cost follows the parts that are asked for, not the entries.
func (db *DB) EventCounts(ctx context.Context, cluster string, from, to time.Time, width time.Duration) ([]store.EventCount, error) {
	type kind struct {
		part     int64
		what, ns string
		failed   bool
	}
	minutes, sums := int64(width/time.Minute), map[kind]int{}
	for _, p := range store.CountedPieces(from.Unix()/60, to.Unix()/60, minutes) {
		collection, filter := "history_event_minutes", eq("cluster", cluster, "minute", eq("$gte", p.From, "$lt", p.To))
		if p.Span > 1 {
			collection, filter = "history_event_spans", eq("cluster", cluster, "span", p.Span, "part", eq("$gte", p.From, "$lt", p.To))
		}
		err := each(ctx, db, collection, filter, func(d countDoc) bool {
			at := d.Part
			if p.Span == 1 {
				at = d.Minute
			}
			sums[kind{at * p.Span / minutes, d.What, d.NS, d.Failed}] += int(d.N)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	var out []store.EventCount
	for k, n := range sums {
		out = append(out, store.EventCount{At: time.Unix(0, 0).UTC().Add(time.Duration(k.part) * width), What: k.what, NS: k.ns,
			Failed: k.failed, N: n})
	}
	slices.SortFunc(out, func(a, b store.EventCount) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.What, b.What), cmp.Compare(a.NS, b.NS), compareBool(a.Failed, b.Failed))
	})
	return out, nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// trimSpans deletes the counts by hour and day before a time. The hour and the day that it divides are
// counted again from their minutes.
func (db *DB) trimSpans(ctx context.Context, cluster string, before time.Time) error {
	minute := before.UnixMilli() / 60_000
	for _, span := range store.CountedSpans {
		part := minute / span
		if _, err := db.collection("history_event_spans").DeleteMany(ctx,
			eq("cluster", cluster, "span", span, "part", eq("$lte", part))); err != nil {
			return err
		}
		cur, err := db.collection("history_event_minutes").Find(ctx,
			eq("cluster", cluster, "minute", eq("$gte", part*span, "$lt", (part+1)*span)))
		var docs []countDoc
		if err == nil {
			err = cur.All(ctx, &docs)
		}
		if err != nil {
			return err
		}
		var again []mongo.WriteModel
		for _, d := range docs {
			again = append(again, mongo.NewUpdateOneModel().SetUpsert(true).SetUpdate(bson.D{{Key: "$inc", Value: eq("n", d.N)}}).
				SetFilter(eq("cluster", cluster, "span", span, "part", part, "what", d.What, "ns", d.NS, "failed", d.Failed)))
		}
		if err := db.write(ctx, "history_event_spans", again); err != nil {
			return err
		}
	}
	return nil
}
