package webtest

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// CountedHeat lets a site have counted src for a while, up to the time of the view. If broke is not nil, all
// reads of the last minute fail with it. Unlike NewHeatServer it needs no test: the collector's clock goes on
// with what it reads.
func CountedHeat(v answer.View, src *Writes, during time.Duration, broke error) func(*site.Deps) {
	counted := sync.OnceValues(func() (*heat.Collector, *keyvis.Recorder) {
		watcher := &StubWatcher{}
		watcher.Value = v.Table
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		clock := &countingClock{src: src, now: v.Now.Add(-during), end: v.Now.Truncate(heat.Tick), broke: broke, stop: cancel}
		c := heat.NewCollector(clock, watcher, profile.Yorkie(), heat.Options{Seed: 1, Now: clock.Now})
		pictures := keyvis.New(watcher, nil, nil)
		c.OnSlot(pictures.Take)
		_ = c.Run(ctx) // ends when the clock is at its end
		clock.rest(v.Now)
		return c, pictures
	})
	return func(d *site.Deps) { d.Measured.Heat, d.Measured.Pictures = counted() }
}

// countingClock is past the end of a slot as soon as somebody waits for it.
type countingClock struct {
	src   *Writes
	broke error
	end   time.Time
	stop  func()

	mu    sync.Mutex
	now   time.Time
	reads bool // the first read was made: from then on reads set the time
	rests bool
}

// beyond is how long after its end a slot is counted at the latest.
const beyond = heat.Tick + 3*time.Second

func (c *countingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reads && !c.rests {
		c.now = c.now.Add(beyond)
	}
	return c.now
}

// Writes counts, and sets the time at which the slot after this one can be counted.
func (c *countingClock) Writes(ctx context.Context, q heat.WriteQuery) (heat.Written, error) {
	c.mu.Lock()
	c.reads = true
	if next := q.To.Add(beyond); q.Date == "" && next.After(c.now) {
		c.now = next
	}
	c.mu.Unlock()
	if q.To.After(c.end) {
		c.stop()
		return heat.Written{}, context.Canceled
	}
	if c.broke != nil && q.To.After(c.end.Add(-time.Minute)) {
		return heat.Written{}, c.broke
	}
	return c.src.Writes(ctx, q)
}

func (c *countingClock) Operations(ctx context.Context, ns topology.Namespace) (map[string]heat.Operations, error) {
	return c.src.Operations(ctx, ns)
}

func (c *countingClock) rest(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.rests = at, true
}
