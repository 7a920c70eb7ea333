package workload

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	streamPast = 1 << 56 // first random stream of a past

	// perMinute is how many edits the live writers make in a minute, which a past ends with.
	perMinute = int(time.Minute / tick * pushesPerTick)

	// The busy hour of a past: when it begins before the end, and its edits a minute.
	busyHourAgo  = 7 * time.Hour
	busyHourLong = time.Hour
	busyHourRows = 2600

	pastHot  = 24 // documents that most edits of a minute go to
	pastRest = 24 // others
)

// Writes are the edits of one Yorkie document in a minute; each adds a row to changes.
type Writes struct {
	Project, Document bson.ObjectID
	Rows              int64
	Snapshots         int64 // rows in snapshots
}

// Push makes so many edits at the cluster's time.
func (w *Workload) Push(ctx context.Context, seed uint64, edits int) error {
	r := w.rng(streamPast + seed)
	for range edits {
		doc := w.heat.pick(r)
		if doc == nil {
			return nil
		}
		if err := w.push(ctx, r, doc); err != nil {
			return err
		}
	}
	w.heat.drift(r, w.docs)
	return nil
}

// Operate is one action of the operator.
func (w *Workload) Operate(ctx context.Context, seed uint64) error {
	return w.act(ctx, w.rng(streamPast+1<<32+seed))
}

// level is how busy the cluster is before the end of a past, from about 0.1 to 1: a wave
// of a day that is highest at the end, and waves of three hours.
func level(before time.Duration) float64 {
	day := 0.56 + 0.40*math.Cos(2*math.Pi*before.Hours()/24)
	return day + 0.05*math.Sin(2*math.Pi*before.Hours()/3)
}

// Minute models the writes of a past minute. It depends only on the seed and the times.
func (w *Workload) Minute(at, end time.Time) []Writes {
	if len(w.docs) == 0 {
		return nil
	}
	before := end.Sub(at)
	r := w.rng(streamPast + 1<<33 + uint64(at.Unix()/60))
	var out []Writes
	add := func(d *document, rows float64) {
		n := int64(rows * (0.7 + 0.6*r.Float64()))
		if n > 0 {
			out = append(out, Writes{d.project.id, d.id, n, n / d.project.snapshotEvery})
		}
	}
	rows := float64(perMinute) * level(before)
	for i, d := range w.hotAt(at) {
		// Squaring prefers the first documents, as the live writers do.
		share := math.Sqrt(float64(i+1)/pastHot) - math.Sqrt(float64(i)/pastHot)
		add(d, rows*hotPushes*share)
	}
	for range pastRest {
		add(w.docs[r.IntN(len(w.docs))], rows*(1-hotPushes)/pastRest)
	}
	if b := w.busy; b != nil && before <= busyHourAgo && before > busyHourAgo-busyHourLong {
		for _, d := range b.docs {
			add(d, busyHourRows/float64(len(b.docs)))
		}
	}
	return out
}

// hotAt are the documents that most edits of a time go to; each hour replaces some.
func (w *Workload) hotAt(at time.Time) []*document {
	out := make([]*document, 0, pastHot)
	hour := uint64(at.Unix() / 3600)
	for i := range uint64(pastHot) {
		// Document i is replaced every few hours, each at another hour.
		r := w.rng(streamPast + 1<<34 + i<<20 + (hour+i)/(2+i%5))
		out = append(out, w.docs[r.IntN(min(len(w.docs), hotCandidates))])
	}
	return out
}

// busyDocuments is how many documents of the busy project are edited at once: each can have a
// shard of its own.
const busyDocuments = 2

// busy is a project some of whose documents get many edits from time to time. Their
// changes are in one chunk, so one shard takes all of them until the chunk is split.
type busy struct {
	project *project
	docs    []*document
}

// ChooseBusy chooses documents of the busy project whose changes are in one chunk now, and
// the project itself if there is none yet: the first with enough recent documents in one chunk.
// It is one that keeps few snapshots, so that its edits do not fill a shard.
func (w *Workload) ChooseBusy(chunkOf func(ns string, doc bson.D) string) {
	type place struct {
		p     *project
		chunk string
	}
	at := map[place][]*document{}
	var best []*document
	for _, d := range w.docs {
		if w.busy != nil && d.project != w.busy.project || d.project.snapshotEvery < snapshotEvery {
			continue
		}
		in := place{d.project, chunkOf(w.ns("changes"), bson.D{{Key: "doc_id", Value: d.id}})}
		if in.chunk == "" {
			continue
		}
		at[in] = append(at[in], d)
		if len(at[in]) > len(best) {
			best = at[in]
		}
		if len(best) == busyDocuments {
			break
		}
	}
	if len(best) > 1 {
		w.busy = &busy{best[0].project, best}
	}
}

// BusyProject is the id and name of the busy project; "" if there is none.
func (w *Workload) BusyProject() (id, name string) {
	if w.busy == nil {
		return "", ""
	}
	return w.busy.project.id.Hex(), w.busy.project.name
}

// The busy project's edits: how long after the start they begin, how long they last, when
// they come again, and how many there are in a tick.
const (
	busyAfter   = time.Minute
	busyLong    = 6 * time.Minute
	busyEvery   = 16 * time.Minute
	busyPerTick = 70
)

// busyAt reports whether the busy project gets many edits so long after the start.
func busyAt(elapsed time.Duration) bool {
	return elapsed >= busyAfter && (elapsed-busyAfter)%busyEvery < busyLong
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
