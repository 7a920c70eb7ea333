package cluster_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// cuttableDialer is a dialer whose connections can be cut.
type cuttableDialer struct {
	sim *simcluster.Cluster

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (c *cuttableDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
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

func (c *cuttableDialer) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

func TestLostClusterRecoversByItself(t *testing.T) {
	cfg := simcluster.Options{Projects: 5, Documents: 50, Still: true}
	onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, _ *cluster.Client, _ *counter) {
		line := &cuttableDialer{sim: sim}
		c, end := connectBy(t, cluster.Options{Dialer: line})
		defer end()
		w, stop := watch(t, c, topology.Options{})
		defer stop()
		time.Sleep(3 * time.Second)
		good := w.Table()
		if !good.Loaded {
			t.Fatal("not loaded")
		}
		line.set(true)
		time.Sleep(time.Minute)
		lost := w.Table()
		if h := lost.Health[topology.PartRouting]; fault.Of(h.Err) != fault.Unavailable ||
			time.Since(h.At) < 50*time.Second || len(lost.Collections) != len(good.Collections) {
			t.Fatalf("health %v of %s, %d collections", h.Err, h.At, len(lost.Collections))
		}
		if text := fault.Text(lost.Health[topology.PartRouting].Err); len(text) > 120 {
			t.Errorf("more than a line: %s", text)
		}
		line.set(false)
		failed := func() (out []error) {
			for p, h := range w.Table().Health {
				if h.Err != nil && p != topology.PartSizes {
					out = append(out, h.Err)
				}
			}
			return out
		}
		for begun := time.Now(); len(failed()) > 0; time.Sleep(time.Second) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("not come back: %v", failed())
			}
		}
	})
}

// A read that waits for a frozen config server does not block Close. In a synctest
// bubble time stands still while a goroutine is busy, so a polling Close would never
// return.
func TestCloseDoesNotWaitForReads(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		sim.Faults().Freeze("config")
		read := make(chan error, 1)
		go func() { _, err := c.ClusterID(t.Context()); read <- err }()
		time.Sleep(time.Second)
		began := time.Now()
		must.Do(t, c.Close(t.Context()))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("closed after %s", took)
		}
		if err := <-read; err == nil || time.Since(began) > 2*time.Second {
			t.Errorf("the read ended with %v after %s", err, time.Since(began))
		}
	})
}

// A dialer that ignores its context does not block Connect.
func TestConnectGivesUpOnADialThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uri, err := cluster.ParseURI(simcluster.URI())
		must.Do(t, err)
		began := time.Now()
		_, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: hangingDialer{}})
		if took := time.Since(began); fault.Of(err) != fault.Unavailable || took > 8*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		time.Sleep(time.Hour) // let all pending waits end
	})
}

type hangingDialer struct{}

func (hangingDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	time.Sleep(time.Minute)
	return nil, io.ErrUnexpectedEOF
}

// A lost first hello is repeated before the connect timeout.
func TestConnectRepeatsALostHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true}))
		defer func() { must.Do(t, sim.Close()) }()
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		began := time.Now()
		d := &deafSecondDialer{sim: sim}
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: d})
		must.Do(t, err)
		if took := time.Since(began); took > 2*time.Second || d.dials.Load() < 3 {
			t.Errorf("after %s and %d dials", took, d.dials.Load())
		}
		must.Do(t, c.Close(t.Context()))
		time.Sleep(time.Hour)
	})
}

// deafSecondDialer gives no answers on its second connection. The first one is the
// driver's monitoring connection.
type deafSecondDialer struct {
	sim   *simcluster.Cluster
	dials atomic.Int32
}

func (d *deafSecondDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if d.dials.Add(1) != 2 {
		return d.sim.DialContext(ctx, network, address)
	}
	here, there := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, there) }() // reads everything, answers nothing
	return here, nil
}
