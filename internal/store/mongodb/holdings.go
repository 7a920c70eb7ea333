package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

type holdingDoc struct {
	Cluster string    `bson:"cluster"`
	NS      string    `bson:"ns"`
	At      time.Time `bson:"at"`
	Body    body      `bson:",inline"`
}

// SaveHolding adds or replaces the sample of a collection.
func (db *DB) SaveHolding(ctx context.Context, cluster string, h store.Holding) error {
	return db.leadWithin(ctx, db.timeFor(len(h.Body)), func(ctx context.Context) error {
		if err := db.deleteWithParts(ctx, "holdings", eq("cluster", cluster, "ns", h.NS)); err != nil {
			return err
		}
		b, err := db.putBody(ctx, h.Body)
		if err != nil {
			return err
		}
		_, err = db.collection("holdings").InsertOne(ctx, holdingDoc{cluster, h.NS, h.At, b})
		return err
	})
}

// LoadHoldings returns the samples of a cluster, by name of the collection.
func (db *DB) LoadHoldings(ctx context.Context, cluster string) (out []store.Holding, err error) {
	docs, err := list[holdingDoc](ctx, db, "holdings", eq("cluster", cluster), options.Find().SetSort(eq("ns", 1)))
	for _, d := range docs {
		b, err := db.whole(ctx, d.Body)
		if err != nil {
			return nil, err
		}
		out = append(out, store.Holding{NS: d.NS, At: d.At.UTC(), Body: b})
	}
	return out, err
}

// DropHolding deletes the sample of a collection.
func (db *DB) DropHolding(ctx context.Context, cluster, ns string) error {
	return db.lead(ctx, func(ctx context.Context) error {
		return db.deleteWithParts(ctx, "holdings", eq("cluster", cluster, "ns", ns))
	})
}
