package enginetest

import (
	"context"
	"errors"
	"net"
	"sync"

	"shardboard/internal/simcluster"
)

// Cable is the line between a process and the cluster.
type Cable struct {
	sim *simcluster.Cluster

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// DialContext makes a connection through the cable.
func (c *Cable) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	conn, err := c.sim.DialContext(ctx, network, address)
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

// Cut breaks every connection, and no new one can be made; Mend ends that.
func (c *Cable) Cut() { c.set(true) }

// Mend lets connections be made again.
func (c *Cable) Mend() { c.set(false) }

func (c *Cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}
