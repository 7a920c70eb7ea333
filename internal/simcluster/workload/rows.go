package workload

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// documentDocument is a row of documents. server_seq is an Int32 0 until the
// first push and an Int64 after, as Yorkie writes it.
func (w *Workload) documentDocument(doc *document, key string, created, updated time.Time, removed bool) bson.D {
	return value.D("_id", doc.id, "key", key, "project_id", doc.project.id, "accessed_at", updated, "created_at", created,
		value.When(w.layout.current, "disable_presence", false), "owner", doc.actors[0], "server_seq", seqValue(doc.seq),
		"updated_at", updated, value.When(removed, "removed_at", updated))
}

func seqValue(seq int64) any {
	if seq == 0 {
		return int32(0)
	}
	return seq
}

// changeDocument is a row of changes.
func (w *Workload) changeDocument(r *rand.Rand, doc *document, id bson.ObjectID, seq int64) bson.D {
	return value.D("_id", id, "doc_id", doc.id, "project_id", doc.project.id, "server_seq", seq, w.changeFields(r, doc, seq))
}

// changeFields are those that a push sets beside the unique key.
func (w *Workload) changeFields(r *rand.Rand, doc *document, seq int64) bson.D {
	actor := doc.actors[r.IntN(len(doc.actors))]
	size := operationBytes/2 + r.IntN(operationBytes)
	if doc.typed {
		size = typedBytes
	}
	d := value.D("actor_id", actor, "client_seq", seq, "lamport", seq, "message", "",
		"operations", bson.A{bson.Binary{Data: payload(r, size)}})
	if !w.layout.vectors { // 0.4: presence is a string, and there are no version vectors
		return value.D(d, "presence_change", "")
	}
	return value.D(d, "presence_change", nil, "version_vector", versionVector(doc.actors, seq))
}

func (w *Workload) snapshotDocument(r *rand.Rand, doc *document, at time.Time) bson.D {
	size := snapshotBytes/2 + r.IntN(snapshotBytes*2)
	return value.D("_id", w.ids.At(at), "project_id", doc.project.id, "doc_id", doc.id, "server_seq", doc.seq,
		"lamport", doc.seq, value.When(w.layout.vectors, "version_vector", versionVector(doc.actors, doc.seq)),
		"snapshot", bson.Binary{Data: payload(r, size)}, "created_at", at)
}

// revisionDocument is a row of revisions: a state of a document that somebody keeps.
func (w *Workload) revisionDocument(r *rand.Rand, doc *document, at time.Time) bson.D {
	return value.D("_id", w.ids.At(at), "project_id", doc.project.id, "doc_id", doc.id,
		"label", fmt.Sprintf("revision %d", doc.seq), "description", "",
		"snapshot", bson.Binary{Data: payload(r, snapshotBytes)}, "created_at", at)
}

// clientDocument is a row of clients. Most are deactivated: nothing deletes them.
func (w *Workload) clientDocument(r *rand.Rand, p *project, id bson.ObjectID, i int, attached []bson.ObjectID) bson.D {
	status, docs := "deactivated", bson.D{}
	if len(attached) > 0 || r.IntN(8) == 0 {
		status = "activated"
	}
	list := make(bson.A, 0, len(attached))
	for _, doc := range attached {
		docs = append(docs, bson.E{Key: doc.Hex(), Value: value.D("client_seq", int64(1), "server_seq", int64(1),
			"status", "attached", value.When(w.layout.current, "epoch", int64(0)))})
		list = append(list, doc)
	}
	created := id.Timestamp()
	attaching := value.When(w.layout.current, "attaching_docs", bson.A{})
	return value.D("_id", id, "project_id", p.id, "key", fmt.Sprintf("client-%s-%06d", p.name, i), "status", status,
		"documents", docs, "created_at", created, "updated_at", between(r, created, w.o.Epoch),
		value.When(w.layout.attached, "metadata", nil, attaching, "attached_docs", list))
}

func (w *Workload) schemaDocument(p *project, version int) bson.D {
	return value.D("_id", w.ids.At(p.created.Add(time.Duration(version)*time.Hour)), "project_id", p.id,
		"name", "document", "version", int32(version),
		"body", "type Document = { title: string; body: yorkie.Text; };",
		"rules", bson.A{value.D("path", "$.title", "type", "string")},
		"created_at", p.created.Add(time.Duration(version)*time.Hour))
}

const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// shortuuid is a 22-character key, as Yorkie's public and secret keys are.
func shortuuid(r *rand.Rand) string {
	b := make([]byte, 22)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// between is a time drawn evenly from [a, b), in milliseconds as BSON keeps them.
func between(r *rand.Rand, a, b time.Time) time.Time {
	d := b.Sub(a).Milliseconds()
	if d <= 0 {
		return a
	}
	return a.Add(time.Duration(r.Int64N(d)) * time.Millisecond)
}

// payload is size bytes in place of an encoded operation, cheap to generate and
// different each time.
func payload(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	var x uint64
	for i := range b {
		if i%8 == 0 {
			x = r.Uint64()
		}
		b[i] = byte(x)
		x >>= 8
	}
	return b
}

// versionVector encodes one lamport per actor: a count, then 12 id bytes and a
// lamport each.
func versionVector(actors []bson.ObjectID, lamport int64) bson.Binary {
	b := make([]byte, 8, 8+20*len(actors))
	binary.BigEndian.PutUint64(b, uint64(len(actors)))
	for i, a := range actors {
		b = append(b, a[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(max(lamport-int64(i), 1)))
	}
	return bson.Binary{Data: b}
}

// What people call their projects: a team or product, what it is for, and sometimes the environment.
// Yorkie takes 2 to 30 characters of a-z, 0-9 and - . _ ~.
var (
	teams = []string{"atlas", "birchwood", "comet", "delta-labs", "ember", "fjord", "grove", "harbor", "iris", "juniper",
		"kite", "lumen", "maple", "nova", "orbit", "pixel", "quartz", "riverside", "sable", "tundra"}
	purposes     = []string{"board", "docs", "editor", "forms", "maps", "notes", "pad", "plans", "sheets", "slides", "tasks", "wiki"}
	environments = []string{"", "", "-staging", "", "_dev", "", ".eu", "", "-production", "-v2", ""}
)

const longestName = 30 // of a project

// projectName is the name of the i-th project; no two have the same.
func projectName(i int) string {
	n := len(teams)
	base := teams[i%n] + "-" + purposes[(i/n+i%n)%len(purposes)]
	if round := i / (n * len(purposes)); round > 0 {
		return fmt.Sprintf("%s-%d", base, round+1)
	}
	name := base + environments[i%len(environments)]
	if long := base + "-customer-success"; i%7 == 5 && len(long) <= longestName {
		return long
	}
	return name
}

// Forms of document keys: the project and i, or a text that the application chose. Each has the number,
// so no two documents of a project have the same key.
var (
	keyForms = []string{
		"%[1]s-%05[2]d", "meeting-notes-%05[2]d", "page.en.%05[2]d", "%016[3]x-%[2]d", "board~sprint_%[2]d", "%[1]s-%05[2]d",
	}
	// Yorkie did not check keys before 2023, and its admin API does not do it today.
	freeForms = []string{
		"Team/Design review %[2]d", "회의록/2022-%[2]d", "設計メモ %[2]d", "Протокол встречи №%[2]d", "Réunion d’équipe %[2]d",
		"workspaces/%[1]s/pages/%016[3]x/blocks/%[2]d",
	}
)

// freeOneIn is how many documents there are to one with a free key.
const freeOneIn = 12

// documentKey is the key of a project's i-th document. One that is written now has a key that a client
// may attach to.
func documentKey(p *project, i int, now bool) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.name))
	form := keyForms[h.Sum64()%uint64(len(keyForms))] // a project has one application
	_, _ = fmt.Fprint(h, i)
	sum := h.Sum64()
	if !now && sum%freeOneIn == 0 {
		form = freeForms[sum/freeOneIn%uint64(len(freeForms))]
	}
	return fmt.Sprintf(form, p.name, i, sum)
}
