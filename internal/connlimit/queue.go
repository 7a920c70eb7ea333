package connlimit

import (
	"container/list"
	"time"
)

// rank is the order in which connections are closed for a new one; lower ranks first.
type rank int

const (
	strangerIdle   rank = iota // idle, and nobody ever signed in on it
	silent                     // no complete request yet
	strangerActive             // an anonymous request, often one whose body never arrives
	keptIdle                   // idle, of a signed-in user or a proxy
	ranks
	kept // requests of signed-in users, and WebSockets: never closed
)

// An honest client needs a moment for a handshake and a request, so younger anonymous connections
// are not closed.
var grace = [ranks]time.Duration{silent: time.Second, strangerActive: 5 * time.Second}

// Grace does not apply when connections with grace take more than this fraction of all places: that
// is a flood, which would otherwise take them all.
const graceShare = 4

func rankOf(c *Conn) rank {
	switch signedIn := c.signedIn.Load(); {
	case c.state == stateNew:
		return silent
	case c.state == stateIdle && !signedIn && !c.proxy:
		return strangerIdle
	case c.state == stateIdle:
		return keptIdle
	case c.state == stateActive && !signedIn:
		return strangerActive
	}
	return kept
}

// queue holds the connections that may be closed for a new one; within a rank the oldest is first.
type queue [ranks]list.List

// place is a connection's position in a queue; a nil list for connections that are never closed.
type place struct {
	list *list.List
	at   *list.Element
}

func (q *queue) add(c *Conn, r rank) place {
	if r >= ranks {
		return place{}
	}
	return place{&q[r], q[r].PushBack(c)}
}

func (p place) leave() {
	if p.list != nil {
		p.list.Remove(p.at)
	}
}

// victim returns the connection to close for a new one; nil if there is none. most is the limit
// that the queue counts towards.
func (q *queue) victim(now time.Time, most int) *Conn {
	if c := oldest(&q[strangerIdle]); c != nil {
		return c
	}
	var young *Conn // the one closest to the end of its grace
	used := 0.0
	for _, r := range []rank{silent, strangerActive} {
		c := oldest(&q[r])
		if c == nil {
			continue
		}
		part := float64(now.Sub(c.since)) / float64(grace[r])
		if part >= 1 {
			return c
		}
		if young == nil || part > used {
			young, used = c, part
		}
	}
	if q[silent].Len()+q[strangerActive].Len() > most/graceShare {
		return young
	}
	return oldest(&q[keptIdle])
}

// anonymous is the number of anonymous connections in a queue.
func (q *queue) anonymous() int {
	return q[strangerIdle].Len() + q[silent].Len() + q[strangerActive].Len()
}

// crowdedSource is the number of anonymous connections of one source from which other sources no longer
// make room for it.
const crowdedSource = 16

// victimOfAll returns the connection to close when the total is reached. A flood from few addresses
// would use up everybody's grace and replace clients that are signing in; in that case it must make
// room among its own connections.
func (l *Listener) victimOfAll(now time.Time) *Conn {
	c := l.all.victim(now, l.o.Max)
	if c == nil || now.Sub(c.since) >= grace[min(rankOf(c), keptIdle)] {
		return c
	}
	own := l.sources[c.from].queue.anonymous()
	busiest, most := (*source)(nil), max(crowdedSource, 4*own)
	for _, s := range l.sources {
		if n := s.queue.anonymous(); n > most {
			busiest, most = s, n
		}
	}
	if busiest == nil {
		return c
	}
	return busiest.queue.victim(now, 0)
}

func oldest(l *list.List) *Conn {
	if e := l.Front(); e != nil {
		return e.Value.(*Conn)
	}
	return nil
}

// enqueue and dequeue update a connection's positions. The caller holds the lock.
func (l *Listener) enqueue(c *Conn, since time.Time) {
	c.since = since
	r := rankOf(c)
	c.places = [2]place{l.all.add(c, r), l.sources[c.from].queue.add(c, r)}
	if r == strangerIdle {
		l.watchIdle()
	}
}

func (l *Listener) dequeue(c *Conn) {
	for _, p := range c.places {
		p.leave()
	}
	c.places = [2]place{}
}
