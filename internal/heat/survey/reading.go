package survey

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	// patience is the timeout of one read.
	readTimeout = 10 * time.Second
	batch       = 200 // rows per read
	// least is how many documents a read counts for at least, because a read that returns nothing
	// is work too. It allows 40 reads a second.
	minDocumentsPerRead = 5
	// remembered is how many reads the median latency is computed from.
	rememberedReads = 101
	// A read is slow if it takes longer than slower times the median, and longer than latencyFloor.
	slowFactor   = 5
	latencyFloor = 50 * time.Millisecond
	// A survey pauses after slow reads: firstPause at first, twice as long after each further one,
	// up to longestPause.
	firstPause   = time.Second
	longestPause = 30 * time.Second
	retries      = 3
	retryAfter   = 5 * time.Second
)

// Reader makes the reads of a measurement: within the shared budget, at an even pace, and slower while the
// cluster is slow.
type Reader struct {
	src        Source
	tables     Tables
	budget     *heat.Budget
	now        func() time.Time
	rate       float64          // documents per second
	onPaced    func(paced bool) // called when it starts and stops waiting for the cluster
	onReturned func(documents int)

	took  []time.Duration // durations of the last reads
	pause time.Duration   // pause before the next read
}

// NewReader makes a reader for measurements other than surveys. It reads perSecond documents a second
// on average, within the budget. paced is called when it starts and stops waiting for the cluster.
func NewReader(src Source, tables Tables, budget *heat.Budget, now func() time.Time, perSecond float64, paced func(bool)) *Reader {
	return &Reader{src: src, tables: tables, budget: budget, now: now, rate: perSecond, onPaced: paced, onReturned: func(int) {}}
}

func (r *Reader) table() *topology.Table { return r.tables.Table() }

// Read calls f, which may return at most want documents, once the budget allows it. It retries
// while the cluster is unavailable, because a survey may take hours and must survive an election; a
// read of one document is not retried.
func (r *Reader) Read(ctx context.Context, want int, f func(context.Context) (int, error)) error {
	for try := 1; ; try++ {
		err := r.once(ctx, want, f)
		if err == nil || ctx.Err() != nil || fault.Of(err) != fault.Unavailable || want == 1 || try > retries {
			return err
		}
		if err := clock.Sleep(ctx, retryAfter); err != nil {
			return err
		}
	}
}

func (r *Reader) once(ctx context.Context, want int, f func(context.Context) (int, error)) error {
	if r.pause > 0 {
		r.onPaced(true)
		if err := clock.Sleep(ctx, r.pause); err != nil {
			return err
		}
	}
	if err := r.budget.Wait(ctx, want); err != nil {
		return err
	}
	ask, cancel := context.WithTimeout(ctx, readTimeout)
	began := r.now()
	returned, err := f(ask)
	cancel()
	took := r.now().Sub(began)
	r.budget.Give(want - min(returned, want))
	r.onReturned(returned)
	r.adaptPace(took)
	if err != nil {
		return err
	}
	even := time.Duration(float64(max(returned, minDocumentsPerRead)) / r.rate * float64(time.Second))
	return clock.Sleep(ctx, even-took)
}

// adaptPace compares a read with earlier ones.
func (r *Reader) adaptPace(took time.Duration) {
	limit := latencyFloor
	if n := len(r.took); n > 0 {
		sorted := slices.Sorted(slices.Values(r.took))
		limit = max(limit, slowFactor*sorted[n/2])
	}
	if took > limit {
		r.pause = min(max(2*r.pause, firstPause), longestPause)
	} else if r.pause > 0 {
		r.pause = 0
		r.onPaced(false)
	}
	if took <= limit || len(r.took) == 0 { // slow reads do not change the median
		r.took = append(r.took, took)
		r.took = r.took[max(0, len(r.took)-rememberedReads):]
	}
}

// Rows reads a batch in _id order. Several shards may have rows with the same _id, and the batch
// may end between them: the rows of its last id are left to the next batch.
func (r *Reader) Rows(
	ctx context.Context,
	t Target,
	project *bson.RawValue,
	from Position,
) (rows []SizedRow, next Position, last bool, err error) {
	err = r.Read(ctx, batch, func(ctx context.Context) (_ int, err error) {
		rows, err = r.src.RowSizes(ctx, t.Query(batch), project, from)
		return len(rows), err
	})
	switch {
	case err != nil:
		return rows, from, false, err
	case len(rows) < batch && from.ID.Type != 0 && !from.NextTypes:
		return rows, Position{ID: from.ID, NextTypes: true}, false, nil
	case len(rows) < batch:
		return rows, from, true, nil
	}
	end := rows[len(rows)-1].Key.Lookup("_id")
	first := slices.IndexFunc(rows, func(o SizedRow) bool { return shardkey.CompareValues(o.Key.Lookup("_id"), end) == 0 })
	if first == 0 {
		return nil, from, false, fault.New(
			fault.Internal,
			"More than %d rows of one collection have the same id; the survey cannot continue.",
			batch-1,
		)
	}
	return rows[:first], Position{ID: end}, false, nil
}
