package pipeline

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

func BenchmarkGroupSizesByProject(b *testing.B) {
	var docs []bson.Raw
	for i := range 20000 {
		docs = append(docs, doc("_id", value.Int32(int32(i)), "key", value.String("document-name"), "project_id", value.Int32(int32(i%60))).Value)
	}
	stages := []bson.Raw{
		stageOf("$match", doc("project_id", doc("$gte", value.Int32(5)))),
		stageOf("$group", doc("_id", value.String("$project_id"), "n", doc("$sum", one()), "bytes",
			doc("$sum", doc("$bsonSize", value.String("$$ROOT"))))),
		stageOf("$sort", doc("_id", one())),
	}
	for b.Loop() {
		out, err := Run(stages, Of(docs...), nil)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for range out {
			n++
		}
		if n != 55 {
			b.Fatalf("got %v, want 55", n)
		}
	}
}
