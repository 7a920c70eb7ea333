package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// documentDocument is a row of documents. server_seq is an Int32 0 until the
// first push and an Int64 after, as Yorkie writes it.
func (w *Workload) documentDocument(doc *document, key string, created, updated time.Time, removed bool) bson.D {
	d := bson.D{
		{Key: "_id", Value: doc.id}, {Key: "key", Value: key}, {Key: "project_id", Value: doc.project.id},
		{Key: "accessed_at", Value: updated}, {Key: "created_at", Value: created},
	}
	if w.layout.current {
		d = append(d, bson.E{Key: "disable_presence", Value: false})
	}
	d = append(d, bson.E{Key: "owner", Value: doc.actors[0]}, bson.E{Key: "server_seq", Value: seqValue(doc.seq)},
		bson.E{Key: "updated_at", Value: updated})
	if removed {
		d = append(d, bson.E{Key: "removed_at", Value: updated})
	}
	return d
}

func seqValue(seq int64) any {
	if seq == 0 {
		return int32(0)
	}
	return seq
}

// changeDocument is a row of changes.
func (w *Workload) changeDocument(r *rand.Rand, doc *document, id bson.ObjectID, seq int64) bson.D {
	d := bson.D{
		{Key: "_id", Value: id}, {Key: "doc_id", Value: doc.id}, {Key: "project_id", Value: doc.project.id},
		{Key: "server_seq", Value: seq},
	}
	return append(d, w.changeFields(r, doc, seq)...)
}

// changeFields are those that a push sets beside the unique key.
func (w *Workload) changeFields(r *rand.Rand, doc *document, seq int64) bson.D {
	actor := doc.actors[r.IntN(len(doc.actors))]
	size := operationBytes/2 + r.IntN(operationBytes)
	if doc.typed {
		size = typedBytes
	}
	d := bson.D{
		{Key: "actor_id", Value: actor}, {Key: "client_seq", Value: seq}, {Key: "lamport", Value: seq},
		{Key: "message", Value: ""}, {Key: "operations", Value: bson.A{bson.Binary{Data: payload(r, size)}}},
	}
	if !w.layout.vectors { // 0.4: presence is a string, and there are no version vectors
		return append(d, bson.E{Key: "presence_change", Value: ""})
	}
	return append(d, bson.E{Key: "presence_change", Value: nil},
		bson.E{Key: "version_vector", Value: versionVector(doc.actors, seq)})
}

func (w *Workload) snapshotDocument(r *rand.Rand, doc *document, at time.Time) bson.D {
	d := bson.D{
		{Key: "_id", Value: w.ids.at(at)}, {Key: "project_id", Value: doc.project.id}, {Key: "doc_id", Value: doc.id},
		{Key: "server_seq", Value: doc.seq}, {Key: "lamport", Value: doc.seq},
	}
	if w.layout.vectors {
		d = append(d, bson.E{Key: "version_vector", Value: versionVector(doc.actors, doc.seq)})
	}
	size := snapshotBytes/2 + r.IntN(snapshotBytes*2)
	return append(d, bson.E{Key: "snapshot", Value: bson.Binary{Data: payload(r, size)}}, bson.E{Key: "created_at", Value: at})
}

// revisionDocument is a row of revisions: a state of a document that somebody keeps.
func (w *Workload) revisionDocument(r *rand.Rand, doc *document, at time.Time) bson.D {
	return bson.D{
		{Key: "_id", Value: w.ids.at(at)}, {Key: "project_id", Value: doc.project.id}, {Key: "doc_id", Value: doc.id},
		{Key: "label", Value: fmt.Sprintf("revision %d", doc.seq)}, {Key: "description", Value: ""},
		{Key: "snapshot", Value: bson.Binary{Data: payload(r, snapshotBytes)}}, {Key: "created_at", Value: at},
	}
}

// clientDocument is a row of clients. Most are deactivated: nothing deletes them.
func (w *Workload) clientDocument(r *rand.Rand, p *project, id bson.ObjectID, i int, attached []bson.ObjectID) bson.D {
	status, docs := "deactivated", bson.D{}
	if len(attached) > 0 || r.IntN(8) == 0 {
		status = "activated"
	}
	list := make(bson.A, 0, len(attached))
	for _, doc := range attached {
		docs = append(docs, bson.E{Key: doc.Hex(), Value: w.clientDocumentInfo("attached", 1)})
		list = append(list, doc)
	}
	created := idTime(id)
	d := bson.D{
		{Key: "_id", Value: id}, {Key: "project_id", Value: p.id}, {Key: "key", Value: fmt.Sprintf("client-%s-%06d", p.name, i)},
		{Key: "status", Value: status}, {Key: "documents", Value: docs},
		{Key: "created_at", Value: created}, {Key: "updated_at", Value: between(r, created, w.o.Epoch)},
	}
	if w.layout.attached {
		d = append(d, bson.E{Key: "metadata", Value: nil})
		if w.layout.current {
			d = append(d, bson.E{Key: "attaching_docs", Value: bson.A{}})
		}
		d = append(d, bson.E{Key: "attached_docs", Value: list})
	}
	return d
}

// clientDocumentInfo is what a client row holds of one document.
func (w *Workload) clientDocumentInfo(status string, seq int64) bson.D {
	d := bson.D{{Key: "client_seq", Value: seq}, {Key: "server_seq", Value: seq}, {Key: "status", Value: status}}
	if w.layout.current {
		d = append(d, bson.E{Key: "epoch", Value: int64(0)})
	}
	return d
}

func (w *Workload) schemaDocument(p *project, version int) bson.D {
	return bson.D{
		{Key: "_id", Value: w.ids.at(p.created.Add(time.Duration(version) * time.Hour))}, {Key: "project_id", Value: p.id},
		{Key: "name", Value: "document"}, {Key: "version", Value: int32(version)},
		{Key: "body", Value: "type Document = { title: string; body: yorkie.Text; };"},
		{Key: "rules", Value: bson.A{bson.D{{Key: "path", Value: "$.title"}, {Key: "type", Value: "string"}}}},
		{Key: "created_at", Value: p.created.Add(time.Duration(version) * time.Hour)},
	}
}
