package enginetest

import (
	"context"
	"errors"
	"net"
	"sync"

	"shardboard/internal/simcluster"
)

// Network connects a process to the cluster.
type Network struct {
	sim *simcluster.Cluster

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// DialContext makes a connection through the network.
func (c *Network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
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

// Cut breaks every connection and prevents new ones until Restore is called.
func (c *Network) Cut() { c.set(true) }

// Restore allows new connections again.
func (c *Network) Restore() { c.set(false) }

func (c *Network) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}
