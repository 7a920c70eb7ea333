package workload

import (
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	// maxChangeRows limits the rows of the live writers: at about 600 bytes a row with
	// index entries they stay far below 500 MB.
	maxChangeRows = 300_000
	compactRows   = 200 // documents with fewer rows are not compacted
	compactBatch  = 5
)

// compact replaces the changes of the documents with the most changes by one, as
// Yorkie's housekeeping does. Above maxChangeRows it compacts more.
func (w *Workload) compact(ctx context.Context) {
	byRows := slices.Clone(w.docs)
	slices.SortFunc(byRows, func(a, b *document) int { return cmp.Compare(b.rows, a.rows) })
	for i, doc := range byRows {
		enough := doc.rows < compactRows && w.changes <= maxChangeRows
		if ctx.Err() != nil || doc.rows <= 1 || enough || i >= compactBatch && w.changes <= maxChangeRows {
			return
		}
		if err := w.compactDocument(ctx, doc); err != nil {
			w.o.Log.Debug("workload compact", "err", err)
			return
		}
	}
}

func (w *Workload) compactDocument(ctx context.Context, doc *document) error {
	ref := bson.D{{Key: "project_id", Value: doc.project.id}, {Key: "doc_id", Value: doc.id}}
	for _, coll := range []string{"changes", "snapshots"} {
		if _, err := w.command(ctx, bson.D{{Key: "delete", Value: coll}, {Key: "deletes", Value: bson.A{bson.D{
			{Key: "q", Value: ref}, {Key: "limit", Value: int32(0)},
		}}}}); err != nil {
			return err
		}
	}
	w.changes -= doc.rows - 1
	doc.rows, doc.seq = 1, 1
	now := w.o.Now()
	w.compactions++
	r := w.rng(streamCompact + w.compactions)
	row := w.changeDocument(r, doc, w.ids.at(now), 1)
	if _, err := w.command(ctx, bson.D{{Key: "insert", Value: "changes"}, {Key: "documents", Value: bson.A{row}}}); err != nil {
		return err
	}
	return w.update(ctx, "documents", bson.D{{Key: "project_id", Value: doc.project.id}, {Key: "_id", Value: doc.id}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "server_seq", Value: int32(1)}, {Key: "compacted_at", Value: now}}},
			{Key: "$inc", Value: bson.D{{Key: "epoch", Value: int64(1)}}}}, false)
}

// countProjects updates the counts that Yorkie caches in each project.
func (w *Workload) countProjects(ctx context.Context) {
	if !w.layout.current {
		return
	}
	for _, p := range w.projects {
		err := w.update(ctx, "projects", bson.D{{Key: "_id", Value: p.id}}, bson.D{{Key: "$set", Value: bson.D{
			{Key: "stats_clients_count", Value: int64(len(p.clients))}, {Key: "stats_documents_count", Value: int64(p.docs)},
			{Key: "stats_updated_at", Value: w.o.Now()},
		}}}, false)
		if err != nil {
			return
		}
	}
}
