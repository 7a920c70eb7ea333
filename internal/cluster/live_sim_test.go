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
		uri, err := cluster.ParseURI(simcluster.URI())
		must(t, err)
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: line})
		must(t, err)
		defer func() { _ = c.Close(context.Background()) }()
		w := topology.NewWatcher(c, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		defer func() { cancel(); must(t, <-done) }()
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
		time.Sleep(16 * time.Second) // the longest pause (10 s) and a server selection
		for p, h := range w.Table().Health {
			if h.Err != nil && p != topology.PartSizes {
				t.Errorf("%s has not come back: %v", p, h.Err)
			}
		}
	})
}

func TestTableFollowsALivelyCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of a busy cluster")
	}
	onSim(t, simcluster.Options{Projects: 10, Documents: 500}, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
		w := topology.NewWatcher(c, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		defer func() { cancel(); must(t, <-done) }()
		time.Sleep(5 * time.Second)
		first := w.Table()
		if !first.Loaded {
			t.Fatalf("not loaded: %+v", first.Health)
		}
		equal := 0
		var last error
		for range 20 {
			time.Sleep(10 * time.Second)
			must(t, w.Refresh(t.Context()))
			full, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
			must(t, err)
			if last = sameTables(w.Table(), full); last == nil {
				equal++
			}
			for _, col := range w.Table().Collections {
				checkCover(t, col)
			}
		}
		if equal < 15 { // the cluster may change between the reads
			t.Errorf("only %d of 20 polls equal a full load: %v", equal, last)
		}
		table := w.Table()
		if changes, _ := table.Since(first.Seq); table.Events[0].ID == first.Events[0].ID && len(changes) == 0 {
			t.Error("nothing happened in three minutes")
		}
		for p, h := range table.Health {
			if h.Err != nil || h.Note != "" {
				t.Errorf("%s: %v %s", p, h.Err, h.Note)
			}
		}
		for _, ns := range []topology.Namespace{"yorkie-meta.documents", "yorkie-meta.projects", "yorkie-meta.changes"} {
			s, ok := table.Sizes[ns]
			if !ok || s.Reason != "" || len(s.Shards) == 0 || time.Since(s.At) > 70*time.Second {
				t.Errorf("sizes of %s: %+v", ns, s)
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
		must(t, c.Close(t.Context()))
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
		must(t, err)
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
		sim, err := simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true})
		must(t, err)
		defer func() { must(t, sim.Close()) }()
		uri, err := cluster.ParseURI(simcluster.URI())
		must(t, err)
		began := time.Now()
		d := &deafSecondDialer{sim: sim}
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: d})
		must(t, err)
		if took := time.Since(began); took > 2*time.Second || d.dials.Load() < 3 {
			t.Errorf("after %s and %d dials", took, d.dials.Load())
		}
		must(t, c.Close(t.Context()))
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
