package workload

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Timing of the live writers.
const (
	tick           = 500 * time.Millisecond
	pushesPerTick  = 8
	reviseOneIn    = 16               // ticks: about eight revisions a minute
	operatorEvery  = 12 * time.Second // mean time between the operator's actions
	compactEvery   = 30 * time.Second // as Yorkie's housekeeping
	housekeepEvery = 5 * time.Minute  // project statistics
	renewTicks     = 8                // between renewals of the server's own document, which expires
	streamLive     = 1 << 32          // first random stream of the live ticks
	streamOperator = 1 << 40
	streamCompact  = 1 << 48
)

// Run writes until ctx ends: edits every half second, compaction, and an operator's
// actions. Each tick has its own seeded random stream, so the writes depend only on the
// seed and the tick's number.
func (w *Workload) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { w.write(ctx) })
	wg.Go(func() { w.operate(ctx) })
	wg.Wait()
}

func (w *Workload) write(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var compacted, counted time.Duration
	for n := uint64(0); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r := w.rng(streamLive + n)
		w.pushAll(ctx, r)
		if busyAt(time.Duration(n) * tick) {
			w.pushBusy(ctx, r)
		}
		if n%renewTicks == 0 {
			w.renewNode(ctx)
		}
		if elapsed := time.Duration(n) * tick; elapsed-compacted >= compactEvery {
			compacted = elapsed
			w.compact(ctx)
		}
		if elapsed := time.Duration(n) * tick; elapsed-counted >= housekeepEvery {
			counted = elapsed
			w.countProjects(ctx)
		}
	}
}

// renewNode says that the Yorkie server is alive: its document expires after ten seconds.
func (w *Workload) renewNode(ctx context.Context) {
	now := w.o.Now()
	err := w.update(ctx, "clusternodes", value.D("rpc_addr", nodeAddress), value.D(
		"$set", value.D("expires_at", now.Add(time.Minute), "updated_at", now, "is_leader", true)), true)
	w.note(ctx, "renew node", err)
}

// note logs an error, unless it comes of the end. Nothing else is done about it, as a Yorkie server logs errors and
// continues: the chunk may be migrating.
func (w *Workload) note(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		w.o.Log.Debug("workload "+what, "err", err)
	}
}

// pushAll makes one tick's edits.
func (w *Workload) pushAll(ctx context.Context, r *rand.Rand) {
	for range pushesPerTick {
		doc := w.heat.pick(r)
		if doc == nil {
			return
		}
		w.note(ctx, "push", w.push(ctx, r, doc))
	}
	if r.IntN(4) == 0 {
		w.note(ctx, "open document", w.open(ctx, r))
	}
	if r.IntN(reviseOneIn) == 0 {
		w.note(ctx, "keep a revision", w.revise(ctx, r))
	}
	w.heat.drift(r, w.docs)
}

const (
	hotDocuments = 40   // number of frequently edited documents
	hotPushes    = 0.7  // share of the pushes that go to them
	driftChance  = 0.08 // per tick: one hot document is replaced
)

// heat chooses the Yorkie documents to edit: mostly from a small, skewed hot set that
// changes over time, sometimes any other document.
type heat struct {
	docs []*document // all that may be edited
	hot  []*document
}

func newHeat(docs []*document, r *rand.Rand) *heat {
	h := &heat{docs: docs}
	for range min(hotDocuments, len(docs)) {
		h.hot = append(h.hot, docs[r.IntN(min(len(docs), hotCandidates))])
	}
	return h
}

// pick draws the next document to edit; nil when there is none.
func (h *heat) pick(r *rand.Rand) *document {
	if len(h.docs) == 0 {
		return nil
	}
	if r.Float64() < hotPushes {
		// Squaring prefers the first documents of the hot set.
		f := r.Float64()
		return h.hot[int(f*f*float64(len(h.hot)))]
	}
	return h.docs[r.IntN(len(h.docs))]
}

// drift replaces one hot document with probability driftChance.
func (h *heat) drift(r *rand.Rand, docs []*document) {
	h.docs = docs
	if len(h.hot) > 0 && r.Float64() < driftChance {
		h.hot[r.IntN(len(h.hot))] = h.docs[r.IntN(len(h.docs))]
	}
}

// busyDocuments is how many documents of the busy project are edited at once: each can have a
// shard of its own.
const busyDocuments = 2

// busy is a project some of whose documents get many edits from time to time. Their changes are on
// one shard, which takes all of them until one of the chunks moves.
type busy struct {
	project *project
	docs    []*document
}

// ChooseBusy chooses documents of the busy project whose changes are on one shard now, and the project
// itself if there is none yet: the one with most recent documents that keeps few snapshots, so that its
// edits do not fill a shard. A balancer takes the first chunks of a shard, in the order of the key, so the
// documents are far behind in it: else it would soon spread them before anybody has looked. placeOf is a
// document's shard and the position of its chunk.
func (w *Workload) ChooseBusy(placeOf func(ns string, doc bson.D) (shard string, chunk int)) {
	p := w.busyProject()
	type place struct {
		d     *document
		chunk int
	}
	last := map[string]place{} // by shard: the document farthest behind
	var best []*document
	behind := -1
	for _, d := range w.docs {
		if d.project != p {
			continue
		}
		shard, chunk := placeOf(w.ns("changes"), value.D("doc_id", d.id))
		if shard == "" {
			continue
		}
		other, found := last[shard]
		if found && min(chunk, other.chunk) > behind {
			behind, best = min(chunk, other.chunk), []*document{other.d, d}
		}
		if !found || chunk > other.chunk {
			last[shard] = place{d, chunk}
		}
	}
	if len(best) < busyDocuments {
		return
	}
	w.busy = &busy{p, best}
	for _, d := range best {
		d.typed = true // many small edits make a shard hot, but not the fullest
	}
}

// busyProject is the busy project, or which one it shall be; nil for none.
func (w *Workload) busyProject() (most *project) {
	if w.busy != nil {
		return w.busy.project
	}
	docs := map[*project]int{}
	for _, d := range w.docs {
		if d.project.snapshotEvery < snapshotEvery {
			continue
		}
		if docs[d.project]++; most == nil || docs[d.project] > docs[most] {
			most = d.project
		}
	}
	return most
}

// BusyProject is the id and name of the busy project; "" if there is none.
func (w *Workload) BusyProject() (id, name string) {
	if w.busy == nil {
		return "", ""
	}
	return w.busy.project.id.Hex(), w.busy.project.name
}

// The busy project's edits: how long they last, when they come again, and how many there are in a tick.
const (
	busyLong    = 15 * time.Minute
	busyEvery   = 24 * time.Minute
	busyPerTick = 100
)

// busyAt reports whether the busy project gets many edits so long after the start.
func busyAt(elapsed time.Duration) bool {
	return elapsed%busyEvery < busyLong
}

// pushBusy makes the busy project's edits of a tick.
func (w *Workload) pushBusy(ctx context.Context, r *rand.Rand) {
	if w.busy == nil {
		return
	}
	for i := range busyPerTick {
		w.note(ctx, "push of the busy project", w.push(ctx, r, w.busy.docs[i%len(w.busy.docs)]))
	}
}

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
	ref := value.D("project_id", doc.project.id, "doc_id", doc.id)
	for _, coll := range []string{"changes", "snapshots"} {
		if _, err := w.command(ctx, value.D("delete", coll, "deletes", bson.A{value.D("q", ref, "limit", int32(0))})); err != nil {
			return err
		}
	}
	w.changes -= doc.rows - 1
	doc.rows, doc.seq = 1, 1
	now := w.o.Now()
	w.compactions++
	r := w.rng(streamCompact + w.compactions)
	row := w.changeDocument(r, doc, w.ids.At(now), 1)
	if _, err := w.command(ctx, value.D("insert", "changes", "documents", bson.A{row})); err != nil {
		return err
	}
	return w.update(ctx, "documents", value.D("project_id", doc.project.id, "_id", doc.id),
		value.D("$set", value.D("server_seq", int32(1), "compacted_at", now), "$inc", value.D("epoch", int64(1))), false)
}

// countProjects updates the counts that Yorkie caches in each project.
func (w *Workload) countProjects(ctx context.Context) {
	if !w.layout.current {
		return
	}
	for _, p := range w.projects {
		err := w.update(ctx, "projects", value.D("_id", p.id), value.D(
			"$set", value.D("stats_clients_count", int64(len(p.clients)),
				"stats_documents_count", int64(p.docs), "stats_updated_at", w.o.Now())), false)
		if err != nil {
			return
		}
	}
}

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
	client := w.ids.At(now)
	doc := &document{project: p, id: w.mongod.At(now), actors: []bson.ObjectID{client}}
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
