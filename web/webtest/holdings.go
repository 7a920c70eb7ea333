package webtest

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// CannedHoldings estimates what seven projects hold on the shards, from the same rows every time. No
// rows of revisions were read.
type CannedHoldings struct{}

// Seq is always that of the one snapshot.
func (CannedHoldings) Seq() uint64 { return 1 }

// Snapshot places the rows by a table.
func (CannedHoldings) Snapshot(t *topology.Table) *holdings.Snapshot {
	rows := map[topology.Namespace][]survey.SizedRow{}
	for _, coll := range []string{"documents", "clients", "changes", "snapshots"} {
		ns := topology.Namespace("yorkie-meta." + coll)
		for i := range 400 {
			project := ProjectID(i * i % 7)
			id := bson.ObjectID{}
			binary.BigEndian.PutUint64(id[:8], uint64(i)*0x9e3779b97f4a7c15)
			key, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "project_id", Value: project}, {Key: "doc_id", Value: id}})
			if err != nil {
				panic(err) // ids are always legal
			}
			rows[ns] = append(rows[ns], survey.SizedRow{Project: project, Document: id, Bytes: int64(200 + i%100), Key: key})
		}
	}
	return holdings.FromRows(t, profile.Yorkie(), Epoch, rows)
}
