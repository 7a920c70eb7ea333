package placement

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
)

// ByReference answers from the rows of ids that have the project.
func (f *fake) ByReference(
	ctx context.Context,
	db string,
	fields profile.RowFields,
	project, id bson.ObjectID,
	limit int,
) ([]IDRow, error) {
	rows, err := f.ByID(ctx, db, fields, id, limit)
	var out []IDRow
	for _, r := range rows {
		if r.Project == project {
			out = append(out, r)
		}
	}
	return out, err
}
