// Package connlimit bounds the open connections of a listener without letting
// strangers use the bound to keep everybody else out. When there is no place
// left, a new connection is let in and one that does nothing is closed for it
// (queue.go says which). Connections of people who are signed in go last, and
// requests of theirs and live sockets are never cut off.
//
// A server that uses a Listener must have its ConnState and ConnContext as
// hooks: without them every connection looks as if it had sent no request.
package connlimit

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Options are the bounds of one listener.
type Options struct {
	Name      string // in metrics and in the log, such as "pages"
	Max       int    // open connections in all
	PerSource int    // of one source; loopback and proxies have no bound of their own
	Proxies   []netip.Prefix
	// StrangerIdle is how long a connection may stay open between requests
	// before anybody has signed in on it; 0 leaves that to the server's own
	// timeout. Proxies are spared: they keep connections for the next visitor,
	// and lose a request if one is closed in their hands.
	StrangerIdle time.Duration
	Log          *slog.Logger // nil discards
	Advice       string       // ends the log's line about a bound that was reached
}

// Listener accepts connections within its bounds. Safe for concurrent use.
type Listener struct {
	net.Listener
	o Options

	mu      sync.Mutex
	closed  bool
	open    int
	states  [states]int
	all     queue
	sources map[netip.Prefix]*source
	evicted counts // closed to make room, since the start
	refused counts // closed on arrival, since the start
	idle    *time.Timer
	warning warning
}

// source is one place that connections come from (sourceOf).
type source struct {
	open  int
	queue queue
}

// New bounds a listener. It starts nothing.
func New(l net.Listener, o Options) *Listener {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Listener{Listener: l, o: o, sources: map[netip.Prefix]*source{}}
}

// Max and PerSource are the bounds.
func (l *Listener) Max() int       { return l.o.Max }
func (l *Listener) PerSource() int { return l.o.PerSource }

// Accept gives the next connection for which there is a place.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(conn); c != nil {
			return c, nil
		}
		// Closed at once instead of left to wait: whoever it is knows at once,
		// and a queue filled by strangers would keep everybody else out.
		_ = conn.Close()
	}
}

// Close ends accepting; connections that are open stay open.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	if l.idle != nil {
		l.idle.Stop()
	}
	l.warning.stop()
	l.mu.Unlock()
	return l.Listener.Close()
}

// admit finds a place for a connection; nil when there is none.
func (l *Listener) admit(conn net.Conn) *Conn {
	addr := remoteOf(conn)
	c := &Conn{Conn: conn, l: l, from: sourceOf(addr), proxy: l.isProxy(addr)}
	c.unbounded = c.proxy || !addr.IsValid() || addr.IsLoopback()
	victim, admitted, report := l.place(c)
	if victim != nil {
		_ = victim.Conn.Close() // its server notices, and gives nothing back twice
	}
	if report != nil {
		l.log(*report)
	}
	if !admitted {
		return nil
	}
	return c
}

// place counts a connection in if it can, after taking out another one if it
// has to. A source at its own bound makes room out of its own connections.
func (l *Listener) place(c *Conn) (victim *Conn, admitted bool, report *summary) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	s := l.sources[c.from]
	if s == nil {
		s = &source{}
	}
	reason, needed := byTotal, l.open >= l.o.Max
	if needed {
		victim = l.victimOfAll(now)
	}
	if !c.unbounded && s.open >= l.o.PerSource {
		reason, needed = bySource, true
		victim = s.queue.victim(now, l.o.PerSource)
	}
	if needed {
		if victim == nil {
			return nil, false, l.noteFull(reason, false)
		}
		report = l.noteFull(reason, true)
		l.remove(victim)
	}
	l.sources[c.from] = s // again, in case the victim was the last of this source
	s.open++
	l.open++
	l.states[stateNew]++
	l.enqueue(c, now)
	return victim, true, report
}

// remove gives back a connection's place, once. The caller holds the lock.
func (l *Listener) remove(c *Conn) {
	if c.closed {
		return
	}
	c.closed = true
	l.dequeue(c)
	l.open--
	l.states[c.state]--
	s := l.sources[c.from]
	if s.open--; s.open == 0 {
		delete(l.sources, c.from)
	}
}

func (l *Listener) isProxy(addr netip.Addr) bool {
	for _, p := range l.o.Proxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// remoteOf is the address that a connection comes from; the zero Addr when it
// has none.
func remoteOf(conn net.Conn) netip.Addr {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("") // a network has no zone
}

// sourceOf is what counts as one place to come from: an IPv4 address, and of
// IPv6 the /64, because everybody who has one address there has all of them.
func sourceOf(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // not known: all of these together
	}
	return p
}
