package workload

import (
	"context"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// push makes the writes of a Yorkie server for one PushPull with edits: the change (an
// upsert, so that mongod generates the id), the document's server_seq and time, the
// client's, and sometimes a snapshot.
func (w *Workload) push(ctx context.Context, r *rand.Rand, doc *document) error {
	p, now := doc.project, w.o.Now()
	seq := doc.seq + 1
	key := value.D("project_id", p.id, "doc_id", doc.id, "server_seq", seq)
	if err := w.update(ctx, "changes", key, value.D("$set", w.changeFields(r, doc, seq)), true); err != nil {
		return err
	}
	doc.seq, doc.rows = seq, doc.rows+1
	w.changes++
	ref := value.D("project_id", p.id, "_id", doc.id)
	if err := w.update(ctx, "documents", ref, value.D("$set", value.D("server_seq", seq, "updated_at", now)), false); err != nil {
		return err
	}
	actor := doc.actors[r.IntN(len(doc.actors))]
	client := value.D("project_id", p.id, "_id", actor)
	if err := w.update(ctx, "clients", client, value.D(
		"$set", value.D("documents."+doc.id.Hex()+".server_seq", seq,
			"documents."+doc.id.Hex()+".client_seq", seq, "updated_at", now)), false); err != nil {
		return err
	}
	if seq%p.snapshotEvery != 0 {
		return nil
	}
	_, err := w.command(ctx, value.D("insert", "snapshots", "documents", bson.A{w.snapshotDocument(r, doc, now)}))
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
	_, err := w.command(ctx, value.D("insert", "revisions", "documents", bson.A{w.revisionDocument(r, doc, w.o.Now())}))
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
	if _, err := w.command(ctx, value.D("insert", "clients", "documents", bson.A{row})); err != nil {
		return err
	}
	p.clients = append(p.clients, client)
	row = w.documentDocument(doc, documentKey(p, p.nextKey, true), now, now, false)
	if _, err := w.command(ctx, value.D("insert", "documents", "documents", bson.A{row})); err != nil {
		return err
	}
	p.nextKey++
	p.docs++
	w.opened++
	w.docs = append([]*document{doc}, w.docs[:min(len(w.docs), maxLiveDocument-1)]...)
	return nil
}

func (w *Workload) update(ctx context.Context, coll string, q, u bson.D, upsert bool) error {
	_, err := w.command(ctx, value.D("update", coll, "updates", bson.A{value.D("q", q, "u", u, "upsert", upsert)}))
	return err
}
