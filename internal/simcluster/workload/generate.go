package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Mean numbers per Yorkie document in the generated data. They are smaller than on real
// clusters, where a document has hundreds of changes, because loading must take about a
// second on a laptop.
const (
	meanChanges     = 2.2
	snapshotShare   = 0.06 // documents with a snapshot
	vectorShare     = 0.2  // documents that are open in a client
	revisionShare   = 0.01
	clientsPerDoc   = 0.3
	removedShare    = 0.04
	snapshotBytes   = 3000
	operationBytes  = 180
	typedBytes      = 12  // one letter
	snapshotEvery   = 500 // Yorkie's default snapshot interval
	snapshotOften   = 50  // interval of every second project
	schemaPerThree  = 3   // one project in three uses schemas
	hotCandidates   = 400 // newest documents that live writers choose from
	maxLiveDocument = 20_000
)

// data collects rows by collection in the order of generation.
type data struct {
	rows map[string][]bson.Raw
}

func (d *data) add(coll string, doc bson.D) { d.rows[coll] = append(d.rows[coll], value.Encode(doc)) }

// generate makes all rows of the initial data.
func (w *Workload) generate(r *rand.Rand) *data {
	d := &data{rows: map[string][]bson.Raw{}}
	for _, p := range w.projects {
		w.generateProject(r, d, p)
	}
	w.generateClusterWide(r, d)
	// Newest first: live writers prefer recent documents.
	slices.SortStableFunc(w.docs, func(a, b *document) int { return slices.Compare(b.id[:], a.id[:]) })
	if len(w.docs) > maxLiveDocument {
		w.docs = w.docs[:maxLiveDocument]
	}
	return d
}

func (w *Workload) generateProject(r *rand.Rand, d *data, p *project) {
	clients := 1 + int(float64(p.docs)*clientsPerDoc)
	d.add("projects", w.projectDocument(r, p, clients))
	for range clients {
		c := w.ids.At(between(r, p.created, w.o.Epoch))
		p.clients = append(p.clients, c)
	}
	open := map[bson.ObjectID][]bson.ObjectID{} // client → documents attached
	for i := range p.docs {
		w.generateDocument(r, d, p, i, open)
	}
	p.nextKey = p.docs
	for i, c := range p.clients {
		d.add("clients", w.clientDocument(r, p, c, i, open[c]))
	}
	if w.layout.attached && r.IntN(schemaPerThree) == 0 {
		for v := range 1 + r.IntN(4) {
			d.add("schemas", w.schemaDocument(p, v+1))
		}
	}
}

func (w *Workload) generateDocument(r *rand.Rand, d *data, p *project, i int, open map[bson.ObjectID][]bson.ObjectID) {
	created := between(r, p.created, w.o.Epoch)
	updated := between(r, created, w.o.Epoch)
	doc := &document{project: p, id: w.mongod.At(created), actors: w.actorsOf(r, p)}
	n := int(r.ExpFloat64() * meanChanges)
	snapshot := r.Float64() < snapshotShare
	first := int64(1)
	if snapshot { // changes before the snapshot were compacted
		first = int64(snapshotEvery + r.IntN(40))
	}
	at := created
	for k := range n {
		at = between(r, at, updated)
		doc.seq = first + int64(k)
		d.add("changes", w.changeDocument(r, doc, w.mongod.At(at), doc.seq))
	}
	doc.rows = n
	w.changes += n
	if snapshot {
		doc.seq = max(doc.seq, first)
		d.add("snapshots", w.snapshotDocument(r, doc, updated))
	}
	removed := r.Float64() < removedShare
	d.add("documents", w.documentDocument(doc, documentKey(p, i, false), created, updated, removed))
	if removed {
		return
	}
	w.docs = append(w.docs, doc)
	if r.Float64() < vectorShare {
		for _, a := range doc.actors {
			open[a] = append(open[a], doc.id)
			w.addVector(d, doc, a, updated)
		}
	}
	if w.layout.current && r.Float64() < revisionShare {
		d.add("revisions", w.revisionDocument(r, doc, updated))
	}
}

// actorsOf draws the editors of a document: mostly one or two, sometimes many.
func (w *Workload) actorsOf(r *rand.Rand, p *project) []bson.ObjectID {
	n := 1 + r.IntN(2)
	if r.IntN(50) == 0 {
		n += r.IntN(20)
	}
	out := make([]bson.ObjectID, 0, n)
	for range n {
		if a := p.clients[r.IntN(len(p.clients))]; !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// addVector adds the rows with a client's state of a document: versionvectors from
// 0.5.3 on, syncedseqs before 0.6.7.
func (w *Workload) addVector(d *data, doc *document, client bson.ObjectID, at time.Time) {
	id := w.mongod.At(at)
	if w.layout.vectors {
		d.add("versionvectors", value.D("_id", id, "client_id", client, "doc_id", doc.id,
			"project_id", doc.project.id, "version_vector", versionVector(doc.actors, doc.seq)))
	}
	if !w.layout.syncedSeqs {
		return
	}
	d.add("syncedseqs", value.D("_id", id, "project_id", doc.project.id, "doc_id", doc.id, "client_id", client,
		"lamport", doc.seq, "actor_id", client, "server_seq", doc.seq))
}

// generateClusterWide makes users, members and the leader lease.
func (w *Workload) generateClusterWide(r *rand.Rand, d *data) {
	seen := map[bson.ObjectID]bool{}
	for i, p := range w.projects {
		if !seen[p.owner] {
			seen[p.owner] = true
			d.add("users", value.D("_id", p.owner, "username", fmt.Sprintf("user-%02d", i),
				"hashed_password", "$2a$10$"+shortuuid(r)+shortuuid(r), "created_at", p.owner.Timestamp(),
				"accessed_at", w.o.Epoch))
		}
		if !w.layout.current {
			continue
		}
		d.add("members", value.D("_id", w.mongod.At(p.created), "project_id", p.id, "user_id", p.owner,
			"role", "owner", "invited_by", p.owner, "invited_at", p.created))
	}
	d.add("clusternodes", value.D("_id", w.ids.At(w.o.Epoch), "rpc_addr", nodeAddress, "lease_token", shortuuid(r),
		"expires_at", w.o.Epoch.Add(time.Minute), "updated_at", w.o.Epoch, "is_leader", true))
}

// nodeAddress is the address of the only Yorkie server.
const nodeAddress = "yorkie-0:8080"
