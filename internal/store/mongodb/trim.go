package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// trimBatch is how many documents one transaction deletes. The server advises at most 1,000, and the
// lease is checked in each.
const trimBatch = 500

// trim deletes the documents of a filter in batches.
func (db *DB) trim(ctx context.Context, collection string, filter bson.D) error {
	for {
		type id struct {
			ID any `bson:"_id"`
		}
		docs, err := list[id](ctx, db, collection, filter, options.Find().SetProjection(eq("_id", 1)).SetLimit(trimBatch))
		if err != nil || len(docs) == 0 {
			return err
		}
		ids := make(bson.A, 0, len(docs))
		for _, d := range docs {
			ids = append(ids, d.ID)
		}
		err = db.lead(ctx, func(ctx context.Context) error {
			return db.deleteWithParts(ctx, collection, eq("_id", eq("$in", ids)))
		})
		if err != nil || len(docs) < trimBatch {
			return err
		}
	}
}
