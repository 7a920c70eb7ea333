package heat

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

const (
	// Tick is how long a slot is and how often writes are counted.
	Tick = 10 * time.Second
	// lag is how long rows may take to be there: clocks of shards differ, and a row
	// has the time at which its insert began.
	lag = 3 * time.Second
	// slice is what is counted of a tick under load.
	slice = time.Second
	// wait is the deadline of one count; a cluster that takes longer is under load.
	wait = 2 * time.Second
	// whole is the deadline of everything that is asked at a tick, so that the next
	// one is not late. The busiest collections are asked first.
	whole = Tick - 2*time.Second
	// spare is how many documents of the budget each collection leaves to each of
	// those that are asked after it.
	spare = 100
	// heavy is how many rows of a tick make a cluster count as under load, and
	// light under how many it no longer is.
	heavy = 20_000
	light = heavy / 2
)

// Tables is where the newest table comes from.
type Tables interface{ Table() *topology.Table }

// Options are what a collector needs beside its source. Zero values mean the defaults.
type Options struct {
	Budget *Budget
	Log    *slog.Logger
	Now    func() time.Time
	Seed   uint64 // of the choice of slices; 0 = by time
}

// Collector counts writes while it runs. Safe for concurrent use.
type Collector struct {
	src    Source
	tables Tables
	prof   *profile.Profile
	o      Options
	rng    *rand.Rand
	ring   ring
	listen []func(Slot)
	loaded map[topology.Namespace]bool  // under load; only Run's goroutine
	groups map[topology.Namespace]int64 // that the last count of each returned; only Run's goroutine
	health sync.Map                     // topology.Namespace → Health
	ops    operations
	dated  dated
}

var errNoBudget = fault.New(fault.Conflict, "The reading budget is used up; the writes of this time are not counted.")

// Health tells how counting the writes of a collection goes.
type Health struct {
	At      time.Time // end of the last slot
	Err     error     // why the last count failed; nil: it did not
	Sampled bool      // one second in ten is counted
}

// NewCollector counts nothing until Run.
func NewCollector(src Source, tables Tables, prof *profile.Profile, o Options) *Collector {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Budget == nil {
		o.Budget = NewBudget(0, o.Now)
	}
	if o.Seed == 0 {
		o.Seed = uint64(o.Now().UnixNano())
	}
	return &Collector{src: src, tables: tables, prof: prof, o: o, rng: rand.New(rand.NewPCG(o.Seed, 0)), loaded: map[topology.Namespace]bool{}, groups: map[topology.Namespace]int64{}}
}

// OnSlot hands every new slot to f, in Run's goroutine. Only before Run.
func (c *Collector) OnSlot(f func(Slot)) { c.listen = append(c.listen, f) }

// Run counts until the context ends.
func (c *Collector) Run(ctx context.Context) error {
	next := c.o.Now().Truncate(Tick).Add(Tick)
	for {
		timer := time.NewTimer(max(0, next.Add(lag).Sub(c.o.Now())))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		c.tick(ctx, next)
		next = slotAfter(next, c.o.Now())
	}
}

// slotAfter is the end of the slot after the one that ended at a time. When the
// machine slept or the clock was set forward, what was missed is missing, not
// guessed. When the clock was set back, counting goes on by the new time: waiting
// for the old one could take days.
func slotAfter(end, now time.Time) time.Time {
	next, present := end.Add(Tick), now.Truncate(Tick)
	switch {
	case next.Before(present):
		return present
	case next.After(present.Add(2 * Tick)):
		return present.Add(Tick)
	}
	return next
}

// tick counts what every collection got up to a time.
func (c *Collector) tick(ctx context.Context, to time.Time) {
	table := c.tables.Table()
	if !table.Loaded {
		return
	}
	within, cancel := context.WithTimeout(ctx, whole)
	defer cancel()
	all := targets(table, c.prof)
	list := by(NewRows, all)
	slices.SortStableFunc(list, func(a, b target) int { return cmp.Compare(c.groups[b.ns], c.groups[a.ns]) })
	for i, t := range list {
		slot, err := c.count(within, t, to.Add(-Tick), to, spare*(len(list)-1-i))
		if ctx.Err() != nil {
			return
		}
		c.keep(table.Collection(t.ns), t, slot, err)
		c.readOperations(within, t.ns, to)
	}
	c.countDated(within, table, all, to)
}

// keep takes a slot, or why there is none, and tells who listens.
func (c *Collector) keep(of *topology.Collection, t target, slot Slot, err error) {
	was, _ := c.Health(t.ns)
	health := Health{At: was.At, Err: err, Sampled: c.loaded[t.ns]}
	if err == nil {
		health.At = slot.To
		place(&slot, of, t)
		c.ring.add(slot)
		for _, f := range c.listen {
			f(slot)
		}
	} else if was.Err == nil {
		c.o.Log.Warn("writes cannot be counted", "ns", string(t.ns), "error", err)
	}
	c.health.Store(t.ns, health)
}

// count asks for the rows of a tick, or of one second of it under load. It leaves
// so many documents of the budget to others.
func (c *Collector) count(ctx context.Context, t target, from, to time.Time, leave int) (Slot, error) {
	s := Slot{NS: t.ns, From: from, To: to, Every: 1}
	q := WriteQuery{NS: t.ns, Project: t.project, Document: t.document, From: from, To: to}
	if c.loaded[t.ns] {
		s.Every = int64(Tick / slice)
		q.From = from.Add(time.Duration(c.rng.Int64N(s.Every)) * slice)
		q.To = q.From.Add(slice)
	}
	q.Limit = c.o.Budget.HoldBut(leave, c.o.Budget.Burst())
	if q.Limit == 0 {
		return s, errNoBudget
	}
	ask, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	rows, err := c.src.Writes(ask, q)
	c.o.Budget.Give(q.Limit - len(rows))
	if err != nil {
		if fault.Of(err) == fault.Unavailable {
			c.loaded[t.ns] = true // too slow to count whole
		}
		return s, err
	}
	s.Capped, c.groups[t.ns] = len(rows) == q.Limit, int64(len(rows))
	s.Counts = slices.Clone(rows)
	switch all := s.Rows() * s.Every; {
	case s.Capped || all > heavy:
		c.loaded[t.ns] = true
	case all < light && int64(len(rows))*s.Every < int64(c.o.Budget.Burst()):
		c.loaded[t.ns] = false
	}
	return s, nil
}

// Health tells how counting a collection goes; false when it is not counted.
func (c *Collector) Health(ns topology.Namespace) (Health, bool) {
	h, ok := c.health.Load(ns)
	if !ok {
		return Health{}, false
	}
	return h.(Health), true
}

// Counted are the collections of a table whose new rows are all counted, by name.
func (c *Collector) Counted(t *topology.Table) []topology.Namespace { return Counted(t, c.prof) }

// Collections are those whose writes have been counted, in either way.
func (c *Collector) Collections() []topology.Namespace { return c.ring.collections() }

// Since gives the slots of a collection that end after a time, oldest first. Do
// not modify.
func (c *Collector) Since(ns topology.Namespace, from time.Time) []Slot {
	return c.ring.since(ns, from)
}
