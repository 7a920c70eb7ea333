package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// Bounds of the live updates.
const (
	DefaultSockets = 768                    // of all browsers, unless Deps says another number
	maxTopics      = 16                     // of one socket
	MaxIdleTopics  = 64                     // remembered without a listener, so that a short loss resumes
	gatherFor      = 100 * time.Millisecond // changes closer together become one update
	statusEvery    = 2 * time.Second        // one routing poll
	Farewell       = time.Second            // for browsers to read the close frame
	MaxFragment    = 256 << 10              // larger regions are re-read by their browsers instead
	MaxQueuedFrame = 32                     // frames waiting for one browser; more and it is closed
)

// Hub pushes what changed to the open sockets. One goroutine owns all of its
// state and lets others only draw, so a fragment is rendered once per change and
// topic however many browsers look, and never when nobody does. A mutex instead
// would let two joining browsers render the same thing twice, or hold everybody up.
type Hub struct {
	site      *site.Site
	Fragments func(topic string) (answer.FragmentFunc, bool)

	MaxSockets int

	joins  chan *socket
	leaves chan *socket
	polls  chan polled
	roles  chan struct{} // has a value when roles have changed
	// how often roles have changed: a socket that was checked before and joins after it is checked again
	rolesSeq atomic.Uint64
	quit     chan struct{}  // closed by close
	done     chan struct{}  // closed when run is over
	checks   sync.WaitGroup // of those who opened sockets
	once     sync.Once

	proxies rate.Sometimes // warnings of a proxy that passes no WebSockets

	state struct {
		sync.Mutex
		running, closed bool
		sockets         sync.WaitGroup // handlers of open sockets
		count           int
	}

	// of the running goroutine only
	Topics  map[topicKey]*topic
	open    map[*socket]struct{}
	joined  int // sockets so far
	round   int // the second of a turn
	version uint64
	seen    uint64 // table Seq of the last refresh
}

// NewHub makes the hub of a site. It takes sockets once Run was called.
func NewHub(s *site.Site) *Hub {
	return &Hub{
		site: s, Fragments: s.Fragment, MaxSockets: cmp.Or(s.Deps.Access.MaxSockets, DefaultSockets),
		joins: make(chan *socket), leaves: make(chan *socket), polls: make(chan polled),
		proxies: rate.Sometimes{First: 1, Interval: time.Hour}, roles: make(chan struct{}, 1),
		quit: make(chan struct{}), done: make(chan struct{}),
		Topics: map[topicKey]*topic{}, open: map[*socket]struct{}{},
	}
}

// Run serves until ctx ends or close is called, then closes every socket and
// waits for its handler.
func (h *Hub) Run(ctx context.Context, tables, dirs, runs, pins, outcomes, problems <-chan struct{}) error {
	if !h.start() {
		return nil // closed before it began, or running already
	}
	defer close(h.done)
	// Versions never repeat, not even over a restart: a browser that comes back
	// with a version of the life before must not be taken for up to date.
	first := h.site.View()
	h.version, h.seen = uint64(first.Now.UnixMilli()), first.Table.Seq
	gather := time.NewTimer(0)
	if !gather.Stop() {
		<-gather.C
	}
	var last time.Time
	waiting := false
	status := time.NewTicker(statusEvery)
	defer status.Stop()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer h.checks.Wait()
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			h.farewell()
			return nil
		case <-h.quit:
			h.farewell()
			return nil
		case c := <-h.joins:
			h.join(ctx, c, h.site.View())
			continue
		case c := <-h.leaves:
			h.leave(c)
			continue
		case p := <-h.polls:
			h.answer(ctx, p, h.site.View())
			continue
		case <-status.C:
			h.tell()
			continue
		case <-second.C:
			h.upkeep(ctx)
			continue
		case <-h.roles:
			all := slices.Collect(maps.Keys(h.open))
			h.checks.Go(func() { h.check(ctx, all) })
			continue
		case <-tables:
		case <-dirs:
		case <-runs:
		case <-pins:
		case <-outcomes:
		case <-problems: // what is counted or decided changed, and perhaps no table
		case <-gather.C:
			waiting = false
			last = time.Now()
			h.refresh(ctx)
			continue
		}
		if !waiting { // the first change after a quiet time goes at once
			waiting = true
			gather.Reset(max(0, gatherFor-time.Since(last)))
		}
	}
}

func (h *Hub) start() bool {
	h.state.Lock()
	defer h.state.Unlock()
	if h.state.running || h.state.closed {
		return false
	}
	h.state.running = true
	return true
}

// Admit counts a socket in before its connection is taken over; false when
// there are too many or the hub does not run.
func (h *Hub) Admit() bool {
	h.state.Lock()
	defer h.state.Unlock()
	if !h.state.running || h.state.closed || h.state.count >= h.MaxSockets {
		return false
	}
	h.state.count++
	h.state.sockets.Add(1)
	return true
}

func (h *Hub) Release() {
	h.state.Lock()
	defer h.state.Unlock()
	h.state.count--
	h.state.sockets.Done()
}

func (h *Hub) Sockets() int {
	h.state.Lock()
	defer h.state.Unlock()
	return h.state.count
}

// shut refuses new sockets from now on and tells whether run was ever begun.
func (h *Hub) shut() (began bool) {
	h.state.Lock()
	defer h.state.Unlock()
	h.state.closed = true
	return h.state.running
}

func (h *Hub) Close() {
	began := h.shut()
	h.once.Do(func() { close(h.quit) })
	if began {
		<-h.done
	}
}

// farewell closes every socket politely, then by force, and waits for all.
func (h *Hub) farewell() {
	h.shut()
	for c := range h.open {
		c.leave()
	}
	gone := make(chan struct{})
	go func() {
		h.state.sockets.Wait()
		close(gone)
	}()
	force := time.NewTimer(Farewell)
	defer force.Stop()
	for {
		select {
		case <-gone:
			return
		case c := <-h.joins: // admitted just before the door closed
			h.open[c] = struct{}{}
			c.leave()
		case c := <-h.leaves:
			delete(h.open, c)
		case <-force.C:
			for c := range h.open {
				c.kill()
			}
		}
	}
}
