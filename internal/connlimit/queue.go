package connlimit

import (
	"container/list"
	"time"
)

// rank is how readily a connection is closed for a new one; lower goes first.
type rank int

const (
	strangerIdle   rank = iota // between requests, and nobody ever signed in on it
	silent                     // has sent no whole request yet
	strangerActive             // a request of nobody who is signed in, often one whose body does not come
	keptIdle                   // between requests, of people who are signed in or of a proxy
	ranks
	kept // requests of people who are signed in, and live sockets
)

// An honest visitor needs a moment for a handshake and a request, so strangers'
// connections are spared while they are younger than this.
var grace = [ranks]time.Duration{silent: time.Second, strangerActive: 5 * time.Second}

// Grace ends when the connections that have one hold more than this part of all
// places together: then it is a flood, and with grace the flood would get them all.
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

// queue holds the connections that may be closed for a new one. Within a rank
// they are in the order in which they came to it, the oldest first.
type queue [ranks]list.List

// place is where a connection is in a queue; nil lists for those that are kept.
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

// victim is the connection to close for a new one; nil if there is none. All of
// them together may be most.
func (q *queue) victim(now time.Time, most int) *Conn {
	if c := oldest(&q[strangerIdle]); c != nil {
		return c
	}
	var young *Conn // the one that has used up most of its grace
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

// strangers is how many of a queue nobody has signed in on.
func (q *queue) strangers() int {
	return q[strangerIdle].Len() + q[silent].Len() + q[strangerActive].Len()
}

// crowd is how many connections of strangers one source has when those of others
// no longer make room for them.
const crowd = 16

// victimOfAll is the connection that makes room when all are in use. A flood from
// few addresses leaves nobody their grace, and would take the place of somebody
// who is signing in: then it makes room out of its own.
func (l *Listener) victimOfAll(now time.Time) *Conn {
	c := l.all.victim(now, l.o.Max)
	if c == nil || now.Sub(c.since) >= grace[min(rankOf(c), keptIdle)] {
		return c
	}
	own := l.sources[c.from].queue.strangers()
	busiest, most := (*source)(nil), max(crowd, 4*own)
	for _, s := range l.sources {
		if n := s.queue.strangers(); n > most {
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

// enqueue and dequeue keep a connection's places. The caller holds the lock.
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
