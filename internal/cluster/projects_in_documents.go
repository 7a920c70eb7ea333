package cluster

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// distinctTime bounds distinct on the server: millions of values need longer, or do not fit into an answer.
const distinctTime = 5 * time.Second

// sampledForProjects is how many random rows tell of projects that no index lists.
const sampledForProjects = 1000

// ProjectsInDocuments reads the different projects of the documents. Where an index begins with the project, distinct
// costs each shard a seek for each project; else, and if these are too many, a sample is all that is cheap. Needs find
// on the documents.
func (c *Client) ProjectsInDocuments(ctx context.Context, db string, f profile.DocumentFields,
	ranged bool) (out []placement.ProjectRow, note string, err error) {
	add := func(v bson.RawValue) {
		if id, stored, ok := placement.IDOf(v); ok {
			out = append(out, placement.ProjectRow{ID: id, Stored: stored})
		}
	}
	r := readOp{what: "read the values of " + quoted(f.Project) + " in " + quoted(db+"."+f.Collection),
		privilege: "find on " + db + "." + f.Collection, secondary: true}
	if ranged {
		reply, err := c.distinct(ctx, db, f, r)
		if fault.Of(err) == fault.Forbidden {
			return nil, "", err
		}
		if err == nil {
			list, _ := reply.Lookup("values").ArrayOK()
			values, _ := list.Values() // an answer without values is an empty collection's
			for _, v := range values {
				add(v)
			}
			return out, "", nil
		}
	}
	cmd := bson.D{
		{Key: "aggregate", Value: f.Collection},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: int64(sampledForProjects)}}}},
			bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + f.Project}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int32(1)}}}}}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	rows := int64(0)
	err = c.each(ctx, db, cmd, r, func(doc bson.Raw) error {
		add(doc.Lookup("_id"))
		n, _ := topology.Amount(doc.Lookup("n"))
		rows += n
		return nil
	})
	if rows >= sampledForProjects {
		note = fmt.Sprintf("Only those of %d random rows of %s.%s are listed: nothing lists them all, and reading every value of %s "+
			"would cost the cluster too much.",
			sampledForProjects, db, f.Collection, f.Project)
	}
	return out, note, err
}

func (c *Client) distinct(ctx context.Context, db string, f profile.DocumentFields, r readOp) (bson.Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, distinctTime)
	defer cancel()
	return c.one(ctx, db, bson.D{{Key: "distinct", Value: f.Collection}, {Key: "key", Value: f.Project}}, r)
}
