package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

type alertDoc struct {
	Cluster string    `bson:"cluster"`
	ID      string    `bson:"id"`
	At      time.Time `bson:"at"`
	Body    []byte    `bson:"body"`
}

type deliveryDoc struct {
	Cluster string    `bson:"cluster"`
	Target  string    `bson:"target"`
	At      time.Time `bson:"at"`
	Code    string    `bson:"code"`
	Status  int       `bson:"status"`
	Alerts  int       `bson:"alerts"`
	Test    bool      `bson:"test"`
	Failed  int       `bson:"failed"`
}

// SaveAlerts applies a change of the stored alerts.
func (db *DB) SaveAlerts(ctx context.Context, cluster string, c store.AlertChange) error {
	return db.lead(ctx, func(ctx context.Context) error {
		if len(c.Gone) > 0 {
			if _, err := db.collection("alerts").DeleteMany(ctx, eq("cluster", cluster, "id", eq("$in", c.Gone))); err != nil {
				return err
			}
		}
		for _, a := range c.Saved {
			if err := fits("An alert", a.Body); err != nil {
				return err
			}
			if err := db.upsert(ctx, "alerts", eq("cluster", cluster, "id", a.ID), alertDoc{cluster, a.ID, a.At, bytesOf(a.Body)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Alerts returns all stored alerts.
func (db *DB) Alerts(ctx context.Context, cluster string) ([]store.AlertRecord, error) {
	return listAs(ctx, db, "alerts", eq("cluster", cluster),
		func(d alertDoc) store.AlertRecord { return store.AlertRecord{ID: d.ID, At: d.At.UTC(), Body: d.Body} },
		options.Find().SetSort(eq("id", 1)))
}

// SaveDelivery replaces the last delivery of a target. A message that a person asked for may be sent
// by any replica, all others by the leader.
func (db *DB) SaveDelivery(ctx context.Context, cluster string, d store.Delivery, told ...store.AuditEntry) error {
	return db.asked(told)(ctx, func(ctx context.Context) error {
		if err := db.appendAll(ctx, told); err != nil {
			return err
		}
		return db.upsert(ctx, "deliveries", eq("cluster", cluster, "target", d.Target),
			deliveryDoc{cluster, d.Target, d.At, d.Code, d.Status, d.Alerts, d.Test, d.Failed})
	})
}

// asked returns the kind of transaction for what a person asks for and the leader continues.
func (db *DB) asked(told []store.AuditEntry) func(context.Context, func(context.Context) error) error {
	if len(told) > 0 {
		return db.change
	}
	return db.lead
}

// Deliveries returns the last of each target.
func (db *DB) Deliveries(ctx context.Context, cluster string) ([]store.Delivery, error) {
	docs, err := list[deliveryDoc](ctx, db, "deliveries", eq("cluster", cluster), options.Find().SetSort(eq("target", 1)))
	var out []store.Delivery
	for _, d := range docs {
		out = append(out, store.Delivery{Target: d.Target, At: d.At.UTC(), Code: d.Code, Status: d.Status, Alerts: d.Alerts, Test: d.Test,
			Failed: d.Failed})
	}
	return out, err
}
