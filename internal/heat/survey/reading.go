package survey

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

const (
	// patience is the deadline of one read.
	patience = 10 * time.Second
	// least is how many documents a read counts for at least when the pace is kept:
	// one that returns nothing is work too. It makes 40 reads a second.
	least = 5
	// remembered is how many reads the median of the latency is taken of.
	remembered = 101
	// slower is how many times the median a read may take, and latencyFloor what
	// is fast whatever the median is.
	slower       = 5
	latencyFloor = 50 * time.Millisecond
	// firstPause and longestPause are how long a survey waits after slow reads: twice
	// as long after each.
	firstPause   = time.Second
	longestPause = 30 * time.Second
	retries      = 3
	retryAfter   = 5 * time.Second
)

// reading is how a survey reads: within the shared budget, at its own even
// pace, and slower while the cluster answers slowly.
type reading struct {
	src    Source
	tables Tables
	budget *heat.Budget
	now    func() time.Time
	rate   float64          // documents a second
	paced  func(paced bool) // told when it begins and ends to wait for the cluster
	count  func(documents int)

	took  []time.Duration // of the last reads
	pause time.Duration   // before the next one
}

func (r *reading) table() *topology.Table { return r.tables.Table() }

// read lets f have at most want documents returned, when they may be read. A
// cluster that could not be asked is asked again, for a survey may take hours
// and a primary that steps down must not end it; a read of one document is
// not repeated.
func (r *reading) read(ctx context.Context, want int, f func(context.Context) (int, error)) error {
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

func (r *reading) once(ctx context.Context, want int, f func(context.Context) (int, error)) error {
	if r.pause > 0 {
		r.paced(true)
		if err := clock.Sleep(ctx, r.pause); err != nil {
			return err
		}
	}
	if err := r.budget.Wait(ctx, want); err != nil {
		return err
	}
	ask, cancel := context.WithTimeout(ctx, patience)
	began := r.now()
	returned, err := f(ask)
	cancel()
	took := r.now().Sub(began)
	r.budget.Give(want - min(returned, want))
	r.count(returned)
	r.judge(took)
	if err != nil {
		return err
	}
	even := time.Duration(float64(max(returned, least)) / r.rate * float64(time.Second))
	return clock.Sleep(ctx, even-took)
}

// judge compares a read with those before.
func (r *reading) judge(took time.Duration) {
	limit := latencyFloor
	if n := len(r.took); n > 0 {
		sorted := slices.Sorted(slices.Values(r.took))
		limit = max(limit, slower*sorted[n/2])
	}
	if took > limit {
		r.pause = min(max(2*r.pause, firstPause), longestPause)
	} else if r.pause > 0 {
		r.pause = 0
		r.paced(false)
	}
	if took <= limit || len(r.took) == 0 { // slow reads do not become what is usual
		r.took = append(r.took, took)
		r.took = r.took[max(0, len(r.took)-remembered):]
	}
}

// rows reads a batch in _id order. Rows of one _id may be on several shards and
// the batch may end between them: the last id is left for the next batch.
func (r *reading) rows(ctx context.Context, t target, project *bson.ObjectID, from bson.ObjectID) (rows []SizedRow, next bson.ObjectID, last bool, err error) {
	err = r.read(ctx, batch, func(ctx context.Context) (_ int, err error) {
		rows, err = r.src.RowSizes(ctx, t.query(batch), project, from)
		return len(rows), err
	})
	if err != nil || len(rows) < batch {
		return rows, from, err == nil, err
	}
	end := rows[len(rows)-1].ID
	first := slices.IndexFunc(rows, func(o SizedRow) bool { return o.ID == end })
	if first == 0 {
		return nil, from, false, fault.New(fault.Internal, "More than %d rows of one collection have the same id; the survey cannot go on.", batch-1)
	}
	return rows[:first], end, false, nil
}
