package simcluster

import (
	"context"
	"errors"
	"net"
)

// URI is the address that goes with DialContext: the host does not exist, so that
// a driver which is not given the dialer fails at once and talks to nobody else.
func URI() string { return "mongodb://sim.invalid:27017/?directConnection=true" }

// ErrClosed is what a closed cluster answers to callers.
var ErrClosed = errors.New("simulated cluster is closed")

// DialContext connects in process: it returns one end of a pipe whose other end
// the cluster serves. Network and address are ignored. It has the signature that
// a driver's dialer option wants.
func (c *Cluster) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	if !c.serveConn(server) {
		return nil, errors.Join(ErrClosed, client.Close(), server.Close())
	}
	return client, nil
}

// Serve accepts connections from l until the cluster is closed or l fails. It
// closes l. After Close it returns nil.
func (c *Cluster) Serve(l net.Listener) error {
	if !c.track(l) {
		return errors.Join(ErrClosed, l.Close())
	}
	defer c.untrack(l)
	for {
		conn, err := l.Accept()
		if err != nil {
			if c.life.Err() != nil {
				return nil
			}
			return errors.Join(err, l.Close())
		}
		if !c.serveConn(conn) {
			return conn.Close()
		}
	}
}

// serveConn starts serving a connection. It reports false after Close, when the
// connection stays the caller's.
func (c *Cluster) serveConn(conn net.Conn) bool {
	if !c.track(conn) {
		return false
	}
	go c.serve(conn)
	return true
}

// closer is what Close has to shut so that a goroutine ends: a connection or a
// listener.
type closer interface{ Close() error }

func (c *Cluster) track(x closer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.open[x] = struct{}{}
	c.connections.Add(1)
	return true
}

func (c *Cluster) untrack(x closer) {
	c.mu.Lock()
	delete(c.open, x)
	c.mu.Unlock()
	c.connections.Done()
}
