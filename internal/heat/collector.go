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
	// Tick is the length of a slot and the interval of counting.
	Tick = 10 * time.Second
	// lag is how long counting waits for rows to arrive: the shards' clocks differ, and a row has
	// the time at which its insert began.
	lag = 3 * time.Second
	// slice is the part of a tick that is counted under load.
	sampleSlice = time.Second
	// wait is the timeout of one count; a slower cluster counts as loaded.
	countTimeout = 2 * time.Second
	// whole is the timeout of all reads of a tick, so that the next tick is not late. The busiest
	// collections are read first.
	tickTimeout = Tick - 2*time.Second
	// spare is how many documents of the budget each collection leaves for each one read after it.
	budgetReserve = 100
	// A cluster counts as loaded from heavy rows per tick, until there are fewer than light.
	loadedAbove   = 20_000
	unloadedBelow = loadedAbove / 2
)

// Tables is the source of the newest table.
type Tables interface{ Table() *topology.Table }

// Options configure a Collector. Zero values are the defaults.
type Options struct {
	Budget *Budget
	Log    *slog.Logger
	Now    func() time.Time
	Seed   uint64 // seed for choosing slices; 0 = by time
}

// Collector counts writes while Run runs. Safe for concurrent use.
type Collector struct {
	src        Source
	tables     Tables
	prof       *profile.Profile
	o          Options
	rng        *rand.Rand
	ring       ring
	listeners  []func(Slot)
	sampled    map[topology.Namespace]bool  // under load; used only by Run's goroutine
	lastGroups map[topology.Namespace]int64 // groups returned by the last count; used only by Run's goroutine
	health     sync.Map                     // topology.Namespace → Health
	ops        operations
	changed    changedRows
}

var errNoBudget = fault.New(fault.Conflict, "The reading budget is used up, so the writes of this time are not counted.")

// Health is the state of counting a collection's writes.
type Health struct {
	At      time.Time // end of the last slot
	Err     error     // why the last count failed; nil if it succeeded
	Sampled bool      // only one second in ten is counted
}

// NewCollector starts nothing.
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
	return &Collector{
		src:        src,
		tables:     tables,
		prof:       prof,
		o:          o,
		rng:        rand.New(rand.NewPCG(o.Seed, 0)),
		sampled:    map[topology.Namespace]bool{},
		lastGroups: map[topology.Namespace]int64{},
	}
}

// OnSlot registers f to receive every new slot, in Run's goroutine. Call it only before Run.
func (c *Collector) OnSlot(f func(Slot)) { c.listeners = append(c.listeners, f) }

// Recall adds slots of a time before the collector runs, of a minute each and oldest first. Functions
// registered with OnSlot do not get them. Call it only before Run.
func (c *Collector) Recall(slots []Slot) { c.ring.recall(slots) }

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

// slotAfter is the end of the slot after the one that ended at end. After a sleep or when the clock
// was set forward, missed slots stay missing. When the clock was set back, counting continues by
// the new time, because waiting for the old one could take days.
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

// tick counts the writes of every collection up to a time.
func (c *Collector) tick(ctx context.Context, to time.Time) {
	table := c.tables.Table()
	if !table.Loaded {
		return
	}
	within, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	all := targets(table, c.prof)
	list := byMethod(NewRows, all)
	slices.SortStableFunc(list, func(a, b target) int { return cmp.Compare(c.lastGroups[b.ns], c.lastGroups[a.ns]) })
	for i, t := range list {
		slot, err := c.count(within, t, to.Add(-Tick), to, budgetReserve*(len(list)-1-i))
		if ctx.Err() != nil {
			return
		}
		c.store(table.Collection(t.ns), t, slot, err)
		c.readOperations(within, t.ns, to)
	}
	c.countChangedRows(within, table, all, to)
}

// store adds a slot, or records why there is none, and calls the listeners.
func (c *Collector) store(of *topology.Collection, t target, slot Slot, err error) {
	was, _ := c.Health(t.ns)
	health := Health{At: was.At, Err: err, Sampled: c.sampled[t.ns]}
	if err == nil {
		health.At = slot.To
		assignChunks(&slot, of, t)
		c.ring.add(slot)
		for _, f := range c.listeners {
			f(slot)
		}
	} else if was.Err == nil {
		c.o.Log.Warn("writes cannot be counted", "ns", string(t.ns), "error", err)
	}
	c.health.Store(t.ns, health)
}

// count reads the rows of a tick, or of one second of it under load. It leaves so many documents of
// the budget to others.
func (c *Collector) count(ctx context.Context, t target, from, to time.Time, leave int) (Slot, error) {
	s := Slot{NS: t.ns, From: from, To: to, Every: 1}
	q := WriteQuery{NS: t.ns, Project: t.project, Document: t.document, From: from, To: to}
	if c.sampled[t.ns] {
		s.Every = int64(Tick / sampleSlice)
		q.From = from.Add(time.Duration(c.rng.Int64N(s.Every)) * sampleSlice)
		q.To = q.From.Add(sampleSlice)
	}
	q.Limit = c.o.Budget.HoldBut(leave, c.o.Budget.Burst())
	if q.Limit == 0 {
		return s, errNoBudget
	}
	ask, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	got, err := c.src.Writes(ask, q)
	rows := got.Counts
	c.o.Budget.Give(q.Limit - len(rows))
	if err != nil {
		if fault.Of(err) == fault.Unavailable {
			c.sampled[t.ns] = true // too slow for a full count
		}
		return s, err
	}
	s.Capped, c.lastGroups[t.ns] = len(rows) == q.Limit, int64(len(rows))
	s.Counts, s.Stored = slices.Clone(rows), got.Stored
	switch all := s.Rows() * s.Every; {
	case s.Capped || all > loadedAbove:
		c.sampled[t.ns] = true
	case all < unloadedBelow && int64(len(rows))*s.Every < int64(c.o.Budget.Burst()):
		c.sampled[t.ns] = false
	}
	return s, nil
}

// Health returns the state of counting a collection; false when it is not counted.
func (c *Collector) Health(ns topology.Namespace) (Health, bool) {
	h, ok := c.health.Load(ns)
	if !ok {
		return Health{}, false
	}
	return h.(Health), true
}

// Counted returns the collections of a table whose new rows are all counted, by name.
func (c *Collector) Counted(t *topology.Table) []topology.Namespace { return Counted(t, c.prof) }

// Collections returns those whose writes were counted by any method.
func (c *Collector) Collections() []topology.Namespace { return c.ring.collections() }

// Since returns the slots of a collection that end after a time, oldest first. Do not modify them.
func (c *Collector) Since(ns topology.Namespace, from time.Time) []Slot {
	return c.ring.since(ns, from)
}
