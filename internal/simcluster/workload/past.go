package workload

import (
	"context"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	streamPast = 1 << 56 // first random stream of a past

	// perMinute is how many edits the live writers make in a minute, which a past ends with.
	perMinute = int(time.Minute / tick * pushesPerTick)
	// revisedPerMinute is the same for revisions.
	revisedPerMinute = float64(time.Minute/tick) / reviseOneIn

	// The busy hour of a past: when it begins before the end, and its edits a minute.
	busyHourAgo  = 7 * time.Hour
	busyHourLong = time.Hour
	busyHourRows = 2600

	// How long before the end of a past the busy project's edits begin, which go on after it, and how many a minute:
	// what the live writers make of it.
	busyLead     = 5 * time.Minute
	busyLeadRows = int(time.Minute/tick) * busyPerTick

	pastHot  = 24 // documents that most edits of a minute go to
	pastRest = 24 // others
)

// Writes are the edits of one Yorkie document in a minute; each adds a row to changes.
type Writes struct {
	Project, Document bson.ObjectID
	Rows              int64
	Snapshots         int64 // rows in snapshots
	Revisions         int64 // rows in revisions
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
			out = append(out, Writes{Project: d.project.id, Document: d.id, Rows: n, Snapshots: n / d.project.snapshotEvery})
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
	if b := w.busy; b != nil {
		busy := 0.
		switch {
		case before <= busyLead:
			busy = float64(busyLeadRows)
		case before <= busyHourAgo && before > busyHourAgo-busyHourLong:
			busy = busyHourRows
		}
		for _, d := range b.docs {
			add(d, busy/float64(len(b.docs)))
		}
	}
	for i := 0; w.layout.current && len(out) > 0 && i < int(revisedPerMinute*level(before)); i++ {
		out[r.IntN(len(out))].Revisions++
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
