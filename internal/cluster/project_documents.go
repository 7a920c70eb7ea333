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
func (c *Client) DocumentsOf(ctx context.Context, db string, f profile.DocumentFields, project bson.RawValue,
	page placement.DocumentPage) ([]placement.DocumentRow, error) {
	filter := bson.D{{Key: f.Project, Value: bson.D{{Key: "$eq", Value: project}}}}
	if f.AnyType {
		filter = append(filter, keysOfAnyType(f.Key, page)...)
	} else {
		filter = append(filter, bson.E{Key: f.Key, Value: keysOfText(page)})
	}
	order := bson.D{{Key: f.Key, Value: int32(1)}}
	if f.RemovedAt != "" {
		order = append(order, bson.E{Key: f.RemovedAt, Value: int32(1)})
	}
	more := append(singleBatch(page.Limit), bson.E{Key: "skip", Value: int64(page.Skip)}, bson.E{Key: "sort", Value: order},
		fields("_id", f.Project, f.Key, f.RemovedAt, f.CreatedAt, f.UpdatedAt, f.Seq))
	var out []placement.DocumentRow
	r := readOp{what: "list documents of " + quoted(db), privilege: "find on " + db + "." + f.Collection}
	err := c.each(ctx, db, find(f.Collection, filter, more...), r, func(doc bson.Raw) error {
		out = append(out, decodeDocument(f, doc))
		return nil
	})
	return out, err
}

// keysOfText is the condition for the keys of a page where keys are text.
func keysOfText(page placement.DocumentPage) bson.D {
	keys := bson.D{{Key: "$gte", Value: max(page.Prefix, page.From)}}
	if page.Prefix != "" {
		keys = append(keys, bson.E{Key: "$lt", Value: page.Prefix + lastCharacter})
	}
	return keys
}

// keysOfAnyType is the same where keys can be ids and numbers too: the server compares values of one type only, so a
// text is compared as each value that it can be. Only text has beginnings.
func keysOfAnyType(field string, page placement.DocumentPage) bson.D {
	if page.Prefix == "" && page.From == "" {
		return nil
	}
	var either bson.A
	if page.Prefix != "" {
		either = append(either, bson.D{{Key: field, Value: bson.D{{Key: "$in", Value: placement.KeyValues(page.Prefix)}}}},
			bson.D{{Key: field, Value: keysOfText(page)}})
	} else {
		for _, v := range placement.KeyValues(page.From) {
			either = append(either, bson.D{{Key: field, Value: bson.D{{Key: "$gte", Value: v}}}})
		}
	}
	return bson.D{{Key: "$or", Value: either}}
}
