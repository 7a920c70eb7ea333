package connlimit

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// state is what a connection is doing, as seen by its http.Server.
type state int

const (
	stateNew    state = iota // no complete request yet, or still in the TLS handshake
	stateIdle                // between requests
	stateActive              // serving a request
	stateSocket              // a WebSocket, which the server no longer tracks
	states
)

var stateNames = [states]string{"new", "idle", "active", "socket"}

// Conn is an accepted connection.
type Conn struct {
	net.Conn
	l         *Listener
	from      netip.Prefix
	proxy     bool // comes from a known proxy
	unbounded bool // not subject to the limit per source
	signedIn  atomic.Bool

	// The listener's lock guards the fields below.
	state  state
	since  time.Time // start of this state
	closed bool      // no longer counted
	places [2]place  // positions in the total queue and in that of its source
}

// Close closes the connection and frees its place, once.
func (c *Conn) Close() error {
	c.l.mu.Lock()
	c.l.remove(c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// SyscallConn lets a WebSocket write what the kernel takes at once, without waiting. It fails for what is
// not the kernel's connection.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	if below, ok := c.Conn.(syscall.Conn); ok {
		return below.SyscallConn()
	}
	return nil, errors.ErrUnsupported
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
		c.signedIn.Store(false) // the next request may be another user's
	}
	l.enqueue(c, time.Now())
}

// unwrap finds our connection under TLS; nil if there is none.
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

// ConnContext is a hook of the http.Server that serves the listener: it adds the connection to the
// context of requests.
func (l *Listener) ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if c := unwrap(conn); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// SignedIn marks the connection of this context's request as used by a signed-in user. The mark
// lasts as long as the connection; on a proxy's connection, until the request is answered.
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
