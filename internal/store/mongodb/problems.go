package mongodb

import (
	"context"
	"fmt"
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
