package rowsample

import (
	"context"
	"errors"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	kept       = 4                // newest readings
	keptFor    = 10 * time.Minute // after their end
	waitsFor   = 3 * time.Second  // for which Ask waits for the end
	stopsAfter = 20 * time.Second // without anybody asking
	step       = 100              // rows for which the budget is asked at once
	readWithin = 10 * time.Second // one read, beside waiting for the budget
	spare      = 10               // rows that a draw asks for beyond the missing ones
	perSample  = 20               // a draw has at most this part of all rows: beyond it $sample reads them all
)

// Tables is the source of the newest table.
type Tables interface{ Table() *topology.Table }

// Result is what was read.
type Result struct {
	Rows       []Row
	Whole      bool            // these are all rows
	Total      topology.Figure // rows of the collection, by its statistics
	Unique     [][]string      // fields of unique indexes
	UniqueText string          // why they are not known; "" if they are
	Analyses   []Analysis
	At         time.Time // the end of the reading
}

// Reading is how far the reading of a query is.
type Reading struct {
	Done, Total int           // rows
	Left        time.Duration // until the end; negative: not known
	Queued      bool          // others are read first
	PerSecond   int           // rows that all measurements may read together in a second, on average
	Result      *Result       // nil before the end, and after a failure
	Err         error         // why it failed
}

// reading is one with its state.
type reading struct {
	query  Query
	asked  time.Time
	began  time.Time
	ended  time.Time
	done   int
	total  int
	result *Result
	err    error
	over   chan struct{}
}

// Sampler reads rows for those who ask, one query at a time, while Run runs. Safe for concurrent use.
type Sampler struct {
	src       Source
	tables    Tables
	budget    *heat.Budget
	perSecond int
	now       func() time.Time
	wake      chan struct{}

	mu       sync.Mutex
	readings []*reading // newest first
}

// New makes a sampler that reads nothing until Run. perSecond is the rate of the budget, to be shown; 0 is
// heat.PerSecond. A nil now is time.Now.
func New(src Source, tables Tables, budget *heat.Budget, perSecond int, now func() time.Time) *Sampler {
	if perSecond <= 0 {
		perSecond = heat.PerSecond
	}
	if now == nil {
		now = time.Now
	}
	return &Sampler{src: src, tables: tables, budget: budget, perSecond: perSecond, now: now, wake: make(chan struct{}, 1)}
}

// Ask starts the reading of a query, or joins it, and waits some seconds for its end. The reading stops when nobody
// asks for some time; what was read is kept for some minutes.
func (s *Sampler) Ask(ctx context.Context, q Query) (Reading, error) {
	if err := q.Check(); err != nil {
		return Reading{}, err
	}
	if t := s.tables.Table(); t == nil || !t.Loaded {
		return Reading{}, t.NotLoaded()
	}
	r := s.find(q)
	timer := time.NewTimer(waitsFor)
	defer timer.Stop()
	select {
	case <-r.over:
	case <-timer.C:
	case <-ctx.Done():
		return Reading{}, ctx.Err()
	}
	return s.state(r), nil
}

// find is the reading of a query; it begins one if there is none.
func (s *Sampler) find(q Query) *reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var out *reading
	var all []*reading
	for _, r := range s.readings {
		if !r.ended.IsZero() && now.Sub(r.ended) > keptFor {
			continue
		}
		if r.query.id() == q.id() {
			if r.err != nil { // who asks again wants another try
				continue
			}
			out = r
		}
		all = append(all, r)
	}
	if out == nil {
		out = &reading{query: q, total: q.Rows, over: make(chan struct{})}
		all = append([]*reading{out}, all...)
	}
	for len(all) > kept && !all[len(all)-1].ended.IsZero() {
		all = all[:len(all)-1]
	}
	out.asked, s.readings = now, all
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return out
}

func (s *Sampler) state(r *reading) Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Reading{Done: r.done, Total: r.total, Left: -1, Queued: r.began.IsZero(), PerSecond: s.perSecond, Result: r.result, Err: r.err}
	switch {
	case !r.ended.IsZero():
		out.Left = 0
	case r.done > 0:
		out.Left = time.Duration(float64(s.now().Sub(r.began)) * float64(r.total-r.done) / float64(r.done))
	}
	return out
}

// Run reads what is asked for until ctx ends.
func (s *Sampler) Run(ctx context.Context) error {
	for {
		r := s.next()
		if r == nil {
			select {
			case <-ctx.Done():
				return nil
			case <-s.wake:
			}
			continue
		}
		result, err := s.read(ctx, r)
		if ctx.Err() != nil {
			return nil
		}
		s.mu.Lock()
		r.result, r.err, r.ended = result, err, s.now()
		close(r.over)
		s.mu.Unlock()
	}
}

// next begins the oldest reading that has not begun.
func (s *Sampler) next() *reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.readings) - 1; i >= 0; i-- {
		if r := s.readings[i]; r.began.IsZero() {
			r.began = s.now()
			return r
		}
	}
	return nil
}

// errAlone ends a reading that nobody waits for.
var errAlone = errors.New("nobody waits for it")

// stillWanted tells how far a reading is, and fails when nobody has asked for it for some time.
func (s *Sampler) stillWanted(r *reading, done int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.done = done
	if s.now().Sub(r.asked) > stopsAfter {
		return fault.Wrap(fault.Unavailable, errAlone, "The reading was stopped, since nobody waited for it.")
	}
	return nil
}

// read reads the rows of a query, its unique indexes, and what the server says of its keys.
func (s *Sampler) read(ctx context.Context, r *reading) (*Result, error) {
	q := r.query
	out := &Result{Total: survey.TotalOf(s.tables.Table(), q.NS).Rows}
	out.Whole = out.Total.Known && out.Total.Value <= 2*int64(q.Rows)
	if out.Whole {
		s.mu.Lock()
		r.total = int(out.Total.Value)
		s.mu.Unlock()
	}
	if err := s.rows(ctx, r, out); err != nil {
		return nil, err
	}
	unique, err := s.src.UniqueIndexes(ctx, q.NS)
	if out.Unique = unique; err != nil {
		out.UniqueText = fault.Text(err)
	}
	for _, key := range q.Keys {
		if err := s.stillWanted(r, r.done); err != nil {
			return nil, err
		}
		out.Analyses = append(out.Analyses, s.analyze(ctx, q, key))
	}
	out.At = s.now().UTC()
	return out, nil
}

func (s *Sampler) analyze(ctx context.Context, q Query, key shardkey.Pattern) Analysis {
	if err := s.budget.Wait(ctx, min(q.Rows, s.budget.Burst())); err != nil {
		return Analysis{Key: key, Reason: "The reading was stopped."}
	}
	ask, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	a, err := s.src.AnalyzeKey(ask, q.NS, key, q.Rows)
	if err != nil {
		a = Analysis{Reason: fault.Text(err)}
	}
	a.Key = key
	return a
}

func (s *Sampler) rows(ctx context.Context, r *reading, out *Result) error {
	q, seen := r.query, map[string]bool{}
	add := func(row Row) error {
		if key := string(row.Doc); !seen[key] && (out.Whole || len(out.Rows) < q.Rows) {
			seen[key] = true
			out.Rows = append(out.Rows, row)
		}
		return nil
	}
	if out.Whole {
		// A cursor waits between its batches for the budget, so its time is that of the whole reading.
		took := 0
		most := int(out.Total.Value) + int(out.Total.Value)/10 + LeastRows // there may be more by now
		ask, cancel := context.WithTimeout(ctx, readWithin+time.Duration(most)*time.Second/time.Duration(min(s.perSecond, 50)))
		defer cancel()
		err := s.src.AllRows(ask, q.NS, q.Fields, most, func(row Row) error {
			if took%step == 0 {
				if err := s.stillWanted(r, took); err != nil {
					return err
				}
				if err := s.budget.Wait(ask, step); err != nil {
					return err
				}
			}
			took++
			return add(row)
		})
		if out.Whole = len(out.Rows) < most; !out.Whole {
			out.Total.Value = int64(len(out.Rows))
		}
		return err
	}
	draw := step
	if out.Total.Known {
		draw = max(int(min(out.Total.Value/perSample, 10*step)), step)
	}
	// Draws may have rows in common, so a small collection needs more of them.
	for tries := 0; len(out.Rows) < q.Rows && tries < 2*(q.Rows/draw+1); tries++ {
		// A few more than are missing: else the last row may be drawn again and again by chance.
		n := min(draw, q.Rows-len(out.Rows)+spare)
		if err := s.stillWanted(r, len(out.Rows)); err != nil {
			return err
		}
		if err := s.budget.Wait(ctx, n); err != nil {
			return err
		}
		before := len(out.Rows)
		ask, cancel := context.WithTimeout(ctx, readWithin)
		err := s.src.RandomRows(ask, q.NS, q.Fields, n, add)
		cancel()
		if err != nil {
			return err
		}
		if len(out.Rows) == before {
			break
		}
	}
	return s.stillWanted(r, len(out.Rows))
}
