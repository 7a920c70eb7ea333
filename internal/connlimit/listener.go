// Package connlimit limits the open connections of a listener without letting anonymous clients
// lock everybody else out. When the limit is reached, a new connection is accepted and an inactive
// one is closed for it (queue.go says which). Connections of signed-in users are closed last; their
// requests and WebSockets are never cut.
//
// A server that uses a Listener must set its ConnState and ConnContext hooks: without them every
// connection looks as if it had sent no request.
package connlimit

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Options are the limits of one listener.
type Options struct {
	Name      string // in metrics and in the log, such as "pages"
	Max       int    // open connections in total
	PerSource int    // open connections of one source; loopback and proxies have no such limit
	Proxies   []netip.Prefix
	// StrangerIdle is how long a connection may be idle before anybody has signed in on it; 0
	// leaves that to the server's own timeout. It does not apply to proxies: they reuse connections
	// for the next visitor, and would lose a request.
	StrangerIdle time.Duration
	Log          *slog.Logger // nil discards
	Advice       string       // appended to the log line about a reached limit
}

// Listener accepts connections within its limits. Safe for concurrent use.
type Listener struct {
	net.Listener
	o Options

	mu      sync.Mutex
	closed  bool
	open    int
	states  [states]int
	all     queue
	sources map[netip.Prefix]*source
	evicted counts // closed to make room since the start
	refused counts // rejected since the start
	idle    *time.Timer
	warning warning
}

// source is the connections of one client address or network (sourceOf).
type source struct {
	open  int
	queue queue
}

// New wraps a listener. It starts nothing.
func New(l net.Listener, o Options) *Listener {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Listener{Listener: l, o: o, sources: map[netip.Prefix]*source{}}
}

// Max is the limit of all connections.
func (l *Listener) Max() int { return l.o.Max }

// Accept returns the next connection that the limits allow.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(conn); c != nil {
			return c, nil
		}
		// Close it at once and do not let it wait: the client knows immediately, and a queue filled
		// by anonymous clients would block everybody else.
		_ = conn.Close()
	}
}

// Close stops accepting; open connections stay open.
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

// admit counts a connection in; nil when the limit does not allow it.
func (l *Listener) admit(conn net.Conn) *Conn {
	addr := remoteOf(conn)
	c := &Conn{Conn: conn, l: l, from: sourceOf(addr), proxy: l.isProxy(addr)}
	c.unbounded = c.proxy || !addr.IsValid() || addr.IsLoopback()
	victim, admitted, report := l.place(c)
	if victim != nil {
		_ = victim.Conn.Close() // its server notices; it is already uncounted
	}
	if report != nil {
		l.log(*report)
	}
	if !admitted {
		return nil
	}
	return c
}

// place counts a connection in, after removing another one if needed. A source at its own limit
// replaces one of its own connections.
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
	l.sources[c.from] = s // the victim may have been the last of this source
	s.open++
	l.open++
	l.states[stateNew]++
	l.enqueue(c, now)
	return victim, true, report
}

// remove frees a connection's place, once. The caller holds the lock.
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

// remoteOf is the client's address; the zero Addr when unknown.
func remoteOf(conn net.Conn) netip.Addr {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("") // a network has no zone
}

// sourceOf is the unit of the limit per source: an IPv4 address, or an IPv6 /64, because a client
// with one address of it has all of them.
func sourceOf(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // unknown addresses count as one source
	}
	return p
}
