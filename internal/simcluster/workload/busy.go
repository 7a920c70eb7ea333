package workload

import (
	"context"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
		shard, chunk := placeOf(w.ns("changes"), bson.D{{Key: "doc_id", Value: d.id}})
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
		if err := w.push(ctx, r, w.busy.docs[i%len(w.busy.docs)]); err != nil && ctx.Err() == nil {
			w.o.Log.Debug("workload push of the busy project", "err", err)
		}
	}
}
