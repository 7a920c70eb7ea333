package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

const approvals = "plan_approvals"

// makeApprovals makes the collection of schema 2.
func makeApprovals(ctx context.Context, db *DB) error {
	if err := db.data.CreateCollection(ctx, approvals); err != nil && !isNamespaceExists(err) {
		return fmt.Errorf("create %s: %w", approvals, err)
	}
	_, err := db.collection(approvals).Indexes().CreateMany(ctx, []mongo.IndexModel{
		index{fields: "plan", unique: true}.model(), index{fields: "cluster state until"}.model(),
	})
	if err != nil {
		return fmt.Errorf("create the indexes of %s: %w", approvals, err)
	}
	return nil
}
