package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"shardboard/internal/format"
)

// Step is what has been given up, each with those before it.
type Step int32

// What is given up, in this order, and from which share of the limit on. What is given up comes back by itself when
// there is room again.
const (
	All     Step = iota
	Heat         // no rows are read to count writes and sizes by project
	History      // past tables are not made
	Map          // nothing is remembered between two pages
	Routing      // routing tables do not grow
)

var shares = [...]float64{Heat: 0.60, History: 0.68, Map: 0.74, Routing: 0.80}

// Guard compares the heap with a limit. A nil Guard has no limit. Safe for concurrent use.
type Guard struct {
	limit Limit
	heap  func() int64 // bytes of objects, with garbage that is not collected yet
	clean func()       // collects garbage
	now   func() time.Time

	mu      sync.Mutex
	cleaned time.Time
	step    atomic.Int32
	used    atomic.Int64
	refused atomic.Int64
}

// cleanEvery is how often garbage is collected to see what is in use: at most a tenth of the time of a large heap.
const cleanEvery = time.Second

// New compares this process with a limit; nil where there is none. The collector works harder as the limit comes near.
func New(l Limit) *Guard {
	if l.Bytes == 0 {
		return nil
	}
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), int64(float64(l.Bytes)*0.9))) // a lower GOMEMLIMIT stays
	return NewGuard(l, heapBytes, runtime.GC, time.Now)
}

// NewGuard is New with readings of its own, for tests.
func NewGuard(l Limit, heap func() int64, clean func(), now func() time.Time) *Guard {
	return &Guard{limit: l, heap: heap, clean: clean, now: now}
}

// heapBytes is what objects take.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(min(sample[0].Value.Uint64(), math.MaxInt64))
}

// Step is what has to be given up now.
func (g *Guard) Step() Step {
	if g == nil {
		return All
	}
	return g.look(0)
}

// look finds the step with so many bytes more. Garbage that is not collected yet counts only where it was just
// collected.
func (g *Guard) look(more int64) Step {
	g.mu.Lock()
	defer g.mu.Unlock()
	used := g.heap()
	if now := g.now(); g.stepAt(used+more) > All && now.Sub(g.cleaned) >= cleanEvery {
		g.clean()
		used, g.cleaned = g.heap(), now
	}
	g.used.Store(used)
	step := g.stepAt(used + more)
	g.step.Store(int32(g.stepAt(used)))
	return step
}

func (g *Guard) stepAt(bytes int64) Step {
	step := All
	for s, share := range shares {
		if s > 0 && float64(bytes) >= share*float64(g.limit.Bytes) {
			step = Step(s)
		}
	}
	return step
}

// Grow tells whether so many bytes more of a routing table fit, and how many do at most. One fifth of the limit stays
// free of them.
func (g *Guard) Grow(bytes int64) (left int64, ok bool) {
	if g == nil {
		return math.MaxInt64, true
	}
	ok = g.look(bytes) < Routing
	if !ok {
		g.refused.Add(1)
	}
	return max(int64(shares[Routing]*float64(g.limit.Bytes))-g.used.Load(), 0), ok
}

// State is what people and metrics are told.
type State struct {
	Limit   Limit
	Used    int64 // bytes of the heap when it was looked at last
	Step    Step
	Refused int64 // reads of routing tables that were not done
}

// State is the newest one.
func (g *Guard) State() State {
	if g == nil {
		return State{}
	}
	step := g.Step()
	return State{Limit: g.limit, Used: g.used.Load(), Step: step, Refused: g.refused.Load()}
}

// Text says what has been given up; "" for nothing.
func (s State) Text() string {
	const heat, past, slow = "no rows are read to count writes and sizes by project", ", past times are not shown", ", pages are slower"
	text := [...]string{
		Heat:    heat,
		History: heat + past,
		Map:     heat + past + slow,
		Routing: heat + past + slow + ", and routing tables do not grow",
	}[s.Step]
	if text == "" {
		return ""
	}
	return "Memory is short: " + format.Bytes(s.Used) + " of " + format.Bytes(s.Limit.Bytes) + " (" + s.Limit.From + ") are in use, so " +
		text + ". Raise the limit; everything comes back by itself."
}
