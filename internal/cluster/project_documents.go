package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
)

// lastCharacter follows every character that a key can go on with.
const lastCharacter = "\U0010ffff"

// DocumentsOf reads a page of a project's documents, removed ones too. Yorkie's unique index of project, key and
// time of removal has this order, so no more rows are read than the page has and skips; where another profile
// has no such index, the context's deadline, which is sent as maxTimeMS, ends the query.
func (c *Client) DocumentsOf(ctx context.Context, db string, f profile.DocumentFields, project bson.ObjectID,
	page placement.DocumentPage) ([]placement.DocumentRow, error) {
	keys := bson.D{{Key: "$gte", Value: max(page.Prefix, page.From)}}
	if page.Prefix != "" {
		keys = append(keys, bson.E{Key: "$lt", Value: page.Prefix + lastCharacter})
	}
	filter := bson.D{{Key: f.Project, Value: bson.D{{Key: "$eq", Value: project}}}, {Key: f.Key, Value: keys}}
	order := bson.D{{Key: f.Key, Value: int32(1)}}
	if f.RemovedAt != "" {
		order = append(order, bson.E{Key: f.RemovedAt, Value: int32(1)})
	}
	more := append(singleBatch(page.Limit), bson.E{Key: "skip", Value: int64(page.Skip)}, bson.E{Key: "sort", Value: order},
		fields(nonEmpty("_id", f.Project, f.Key, f.RemovedAt, f.CreatedAt, f.UpdatedAt, f.Seq)...))
	var out []placement.DocumentRow
	r := readOp{what: "list documents of " + quoted(db), privilege: "find on " + db + "." + f.Collection}
	err := c.each(ctx, db, find(f.Collection, filter, more...), r, func(doc bson.Raw) error {
		out = append(out, decodeDocument(f, doc))
		return nil
	})
	return out, err
}
