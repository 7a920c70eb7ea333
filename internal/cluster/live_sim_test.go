package cluster_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
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
		must.That(t, good.Loaded, "not loaded")
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
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		began := time.Now()
		_, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: hangingDialer{}})
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
		c := must.Get(cluster.Connect(t.Context(), uri, cluster.Options{Dialer: d}))
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

// asking keeps what was asked.
type asking struct {
	*cluster.Client
	mu   sync.Mutex
	asks []ask
}

type ask struct {
	ns     topology.Namespace
	filter bson.D
}

func (a *asking) Ask(ctx context.Context, ns topology.Namespace, filter bson.D, hint bson.Raw, secondary bool) error {
	a.mu.Lock()
	if len(filter) > 0 {
		a.asks = append(a.asks, ask{ns, filter})
	}
	a.mu.Unlock()
	return a.Client.Ask(ctx, ns, filter, hint, secondary)
}

// Each shard is asked for a row that mongos looks for on this shard alone.
func TestShardsAreAskedOneByOne(t *testing.T) {
	for _, o := range []simcluster.Options{
		{ServerVersion: "5.0", Still: true, Shards: 4, Projects: 3, Documents: 30},
		{ServerVersion: "8.0", Still: true, Shards: 4, Projects: 3, Documents: 30},
	} {
		simulated.Run(t, o, func(t *testing.T, c *simulated.Cluster) {
			src := &asking{Client: c.Client}
			w := topology.NewWatcher(src, topology.Options{})
			ctx, stop := context.WithCancel(t.Context())
			var done sync.WaitGroup
			done.Go(func() { _ = w.Run(ctx) })
			time.Sleep(15 * time.Second)
			stop()
			done.Wait()
			a := w.Table().Answering
			var targets []string
			for _, ask := range src.asks {
				shards := must.Get(c.Client.TargetShards(t.Context(), ask.ns, ask.filter))
				expect.Equal(t, len(shards), 1, "%v asks %v", ask, shards)
				targets = append(targets, shards...)
			}
			slices.Sort(targets)
			if targets = slices.Compact(targets); len(targets) != 4 || len(a.Shards) != 4 {
				t.Errorf("asked are %v: %+v", targets, a)
			}
			for name, s := range a.Shards {
				expect.Equal(t, s.State, topology.Answers, "%s: %+v", name, s)
			}
		})
	}
}

// Whatever hangs is named within 20 s, nothing else is, and it is over when it answers.
func TestWhatDoesNotAnswerIsNamed(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "8.0"} {
		o := simcluster.Options{ServerVersion: version, Still: true, Projects: 3, Documents: 30}
		simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
			silent := func() (out []string) {
				a := c.Watcher.Table().Answering
				for name, s := range a.Shards {
					if s.State == topology.Silent {
						out = append(out, name)
					}
				}
				if a.Config.State == topology.Silent {
					out = append(out, "config")
				}
				slices.Sort(out)
				return out
			}
			time.Sleep(time.Minute)
			for _, member := range []string{"shard-rs-2", "config", "shard-rs-1"} {
				froze := time.Now()
				c.Faults().Freeze(member)
				time.Sleep(20 * time.Second)
				if got := silent(); !slices.Equal(got, []string{member}) {
					t.Fatalf("%s: with %s frozen %v are silent", version, member, got)
				}
				a := c.Watcher.Table().Answering
				which := a.Shards[member]
				if member == "config" {
					which = a.Config
				}
				if ago := froze.Sub(which.Since); ago < 0 || ago > 10*time.Second || which.Said == "" {
					t.Errorf("%s: %s is silent since %s before it froze: %s", version, member, ago, which.Said)
				}
				if !slices.ContainsFunc(a.Sets, func(s topology.ReplicaSet) bool { return !s.HasPrimary() }) {
					t.Errorf("%s: mongos knows all primaries: %+v", version, a.Sets)
				}
				c.Faults().Thaw(member)
				time.Sleep(30 * time.Second)
				if got := silent(); len(got) != 0 {
					t.Errorf("%s: after %s answered, %v are silent", version, member, got)
				}
			}
			if _, ok := c.Watcher.Table().ConfigSet(); !ok {
				t.Error("the config servers' replica set is not known")
			}
		})
	}
}

// One answer that is lost is no silence.
func TestOneLostAnswerIsNoSilence(t *testing.T) {
	o := simcluster.Options{Still: true, Projects: 3, Documents: 30}
	simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
		time.Sleep(5 * time.Second) // the turns are at full ten seconds
		for i := range 9 {
			lost := c.Faults().Add(simcluster.Rule{Command: "find", Nth: i%3 + 1, At: simcluster.Received, Err: simcluster.Fail(202),
				Match: func(cmd bson.Raw) bool { return cmd.Lookup("maxTimeMS").AsInt64() == 1500 }})
			time.Sleep(10 * time.Second)
			if len(c.Faults().Hits()) != i+1 {
				t.Fatalf("%d answers of %d were lost", len(c.Faults().Hits()), i+1)
			}
			lost.Remove()
			for name, s := range c.Watcher.Table().Answering.Shards {
				expect.Equal(t, s.State, topology.Answers, "%s: %+v", name, s)
			}
		}
	})
}
