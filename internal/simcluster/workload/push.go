package workload

import (
	"context"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// push makes the writes of a Yorkie server for one PushPull with edits: the change (an
// upsert, so that mongod generates the id), the document's server_seq and time, the
// client's, and sometimes a snapshot.
func (w *Workload) push(ctx context.Context, r *rand.Rand, doc *document) error {
	p, now := doc.project, w.o.Now()
	seq := doc.seq + 1
	key := bson.D{{Key: "project_id", Value: p.id}, {Key: "doc_id", Value: doc.id}, {Key: "server_seq", Value: seq}}
	if err := w.update(ctx, "changes", key, bson.D{{Key: "$set", Value: w.changeFields(r, doc, seq)}}, true); err != nil {
		return err
	}
	doc.seq, doc.rows = seq, doc.rows+1
	w.changes++
	ref := bson.D{{Key: "project_id", Value: p.id}, {Key: "_id", Value: doc.id}}
	if err := w.update(ctx, "documents", ref, bson.D{{Key: "$set", Value: bson.D{
		{Key: "server_seq", Value: seq}, {Key: "updated_at", Value: now},
	}}}, false); err != nil {
		return err
	}
	actor := doc.actors[r.IntN(len(doc.actors))]
	client := bson.D{{Key: "project_id", Value: p.id}, {Key: "_id", Value: actor}}
	if err := w.update(ctx, "clients", client, bson.D{{Key: "$set", Value: bson.D{
		{Key: "documents." + doc.id.Hex() + ".server_seq", Value: seq},
		{Key: "documents." + doc.id.Hex() + ".client_seq", Value: seq},
		{Key: "updated_at", Value: now},
	}}}, false); err != nil {
		return err
	}
	if seq%p.snapshotEvery != 0 {
		return nil
	}
	_, err := w.command(ctx, bson.D{{Key: "insert", Value: "snapshots"}, {Key: "documents", Value: bson.A{w.snapshotDocument(r, doc, now)}}})
	return err
}

// Limits of a demo that runs for weeks: documents, clients and revisions are never
// deleted, as in Yorkie.
const (
	maxOpened  = 50_000
	maxRevised = 20_000
)

// revise creates a revision of a Yorkie document.
func (w *Workload) revise(ctx context.Context, r *rand.Rand) error {
	doc := w.heat.pick(r)
	if doc == nil || !w.layout.current || w.revised >= maxRevised {
		return nil
	}
	w.revised++
	_, err := w.command(ctx, bson.D{{Key: "insert", Value: "revisions"},
		{Key: "documents", Value: bson.A{w.revisionDocument(r, doc, w.o.Now())}}})
	return err
}

// open makes a new Yorkie document with a new client attached to it.
func (w *Workload) open(ctx context.Context, r *rand.Rand) error {
	at := w.heat.pick(r)
	if at == nil || w.opened >= maxOpened {
		return nil
	}
	p, now := at.project, w.o.Now()
	client := w.ids.at(now)
	doc := &document{project: p, id: w.mongod.at(now), actors: []bson.ObjectID{client}}
	row := w.clientDocument(r, p, client, len(p.clients), []bson.ObjectID{doc.id})
	if _, err := w.command(ctx, bson.D{{Key: "insert", Value: "clients"}, {Key: "documents", Value: bson.A{row}}}); err != nil {
		return err
	}
	p.clients = append(p.clients, client)
	row = w.documentDocument(doc, documentKey(p, p.nextKey, true), now, now, false)
	if _, err := w.command(ctx, bson.D{{Key: "insert", Value: "documents"}, {Key: "documents", Value: bson.A{row}}}); err != nil {
		return err
	}
	p.nextKey++
	p.docs++
	w.opened++
	w.docs = append([]*document{doc}, w.docs[:min(len(w.docs), maxLiveDocument-1)]...)
	return nil
}

func (w *Workload) update(ctx context.Context, coll string, q, u bson.D, upsert bool) error {
	_, err := w.command(ctx, bson.D{{Key: "update", Value: coll}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: q}, {Key: "u", Value: u}, {Key: "upsert", Value: upsert},
	}}}})
	return err
}
