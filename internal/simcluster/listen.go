package simcluster

import (
	"context"
	"errors"
	"net"
)

// URI is the connection string for use with DialContext. Its host does not exist, so a
// driver without the dialer fails at once instead of reaching another server.
func URI() string { return "mongodb://sim.invalid:27017/?directConnection=true" }

// ErrClosed is returned by a closed cluster.
var ErrClosed = errors.New("simulated cluster is closed")

// DialContext connects in process: it returns one end of a pipe whose other end the
// cluster serves. Network and address are ignored. It implements the driver's
// options.ContextDialer.
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

// serveConn starts serving a connection. It reports false after Close; the caller must
// then close the connection.
func (c *Cluster) serveConn(conn net.Conn) bool {
	if !c.track(conn) {
		return false
	}
	go c.serve(conn)
	return true
}

// closer is a connection or a listener that Close closes to end its goroutine.
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
