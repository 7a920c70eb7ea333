package simcluster

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// planner8 is the part of queryPlanner that one shard of 8.0 fills, with the fields and
// their order as recorded from 8.0.10.
func (x explainRequest) planner8(ns string, parsed, winning bson.D) bson.D {
	d := bson.D{
		{Key: "namespace", Value: ns},
		{Key: "parsedQuery", Value: parsed},
		{Key: "indexFilterSet", Value: false},
	}
	shape := shapeHash(parsed, nil)
	d = append(d, bson.E{Key: "queryHash", Value: shape}, bson.E{Key: "planCacheShapeHash", Value: shape},
		bson.E{Key: "planCacheKey", Value: shapeHash(parsed, winning)})
	return append(d,
		bson.E{Key: "optimizationTimeMillis", Value: int32(0)},
		bson.E{Key: "maxIndexedOrSolutionsReached", Value: false},
		bson.E{Key: "maxIndexedAndSolutionsReached", Value: false},
		bson.E{Key: "maxScansToExplodeReached", Value: false},
		bson.E{Key: "prunedSimilarIndexes", Value: false},
		bson.E{Key: "winningPlan", Value: append(bson.D{{Key: "isCached", Value: false}}, winning...)},
		bson.E{Key: "rejectedPlans", Value: bson.A{}},
	)
}

// cached adds to the outermost stage of a plan that it came from no cache, as 8.0 does.
func (c *Cluster) cached(plan bson.D) bson.D {
	if !c.version.atLeast(8, 0, 0) {
		return plan
	}
	return append(bson.D{{Key: "isCached", Value: false}}, plan...)
}

// isExpress tells whether one document is read by its _id past the planner; 8.0 hashes no shape of such a query.
func isExpress(reply bson.D) bool {
	return bytes.Contains(encode(reply), []byte("EXPRESS_IXSCAN\x00"))
}

// queryShapeHash stands for the hash of a query's shape that 8.0 shows: 64 hexadecimal
// digits, equal for equal shapes, but not the server's.
func queryShapeHash(db, coll string, parsed bson.D) string {
	return fmt.Sprintf("%X", sha256.Sum256([]byte(db+"."+coll+shapeHash(parsed, nil))))
}
