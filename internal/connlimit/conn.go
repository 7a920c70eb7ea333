package connlimit

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// state is what a connection is doing, as its http.Server sees it.
type state int

const (
	stateNew    state = iota // has sent no whole request yet, or is still in its TLS handshake
	stateIdle                // between requests
	stateActive              // a request is under way
	stateSocket              // a live socket, which the server no longer knows
	states
)

var stateNames = [states]string{"new", "idle", "active", "socket"}

// Conn is an accepted connection.
type Conn struct {
	net.Conn
	l         *Listener
	from      netip.Prefix
	proxy     bool // comes from a known proxy
	unbounded bool // its source has no bound of its own
	signedIn  atomic.Bool

	// of the listener's lock
	state  state
	since  time.Time // in this state
	closed bool      // its place is given back
	places [2]place  // in the queue of all and in that of its source
}

// Close gives the connection's place back, once.
func (c *Conn) Close() error {
	c.l.mu.Lock()
	c.l.remove(c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// ConnState is a hook of the http.Server that serves the listener.
func (l *Listener) ConnState(conn net.Conn, to http.ConnState) {
	c := unwrap(conn)
	if c == nil {
		return
	}
	switch to {
	case http.StateActive:
		l.enter(c, stateActive)
	case http.StateIdle:
		l.enter(c, stateIdle)
	case http.StateHijacked:
		l.enter(c, stateSocket)
	}
}

func (l *Listener) enter(c *Conn, to state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return
	}
	l.dequeue(c)
	l.states[c.state]--
	l.states[to]++
	c.state = to
	if to == stateIdle && c.proxy {
		c.signedIn.Store(false) // the next request may be anybody's
	}
	l.enqueue(c, time.Now())
}

// unwrap finds our connection under TLS; nil if it is not one of ours.
func unwrap(conn net.Conn) *Conn {
	for conn != nil {
		if c, ok := conn.(*Conn); ok {
			return c
		}
		over, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		conn = over.NetConn()
	}
	return nil
}

type connKey struct{}

// ConnContext is a hook of the http.Server that serves the listener: requests
// then know their connection.
func (l *Listener) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if c := unwrap(conn); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// SignedIn says that the request of this context comes from somebody who is
// signed in. Their connection keeps that for as long as it is open, a proxy's
// until the request is answered.
func SignedIn(ctx context.Context) {
	c, ok := ctx.Value(connKey{}).(*Conn)
	if !ok || c.signedIn.Load() {
		return
	}
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.signedIn.Store(true)
	if !c.closed {
		c.l.dequeue(c)
		c.l.enqueue(c, c.since)
	}
}
