package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

var _ topology.Source = (*cluster.Client)(nil)

// counter records the commands that the driver sends.
type counter struct {
	mu   sync.Mutex
	seen []operation.Command
}

func (c *counter) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, operation.Command{DB: e.DatabaseName, Doc: slices.Clone(e.Command)})
	}}
}

// commands returns the commands sent since the last call.
func (c *counter) commands() []operation.Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.seen
	c.seen = nil
	return out
}

// take returns the names of the commands sent since the last call.
func (c *counter) take() (names []string) {
	for _, cmd := range c.commands() {
		names = append(names, cmd.DB+"."+cmd.Doc.Index(0).Key())
	}
	return names
}

// of returns the commands of one name sent since the last call.
func (c *counter) of(name string) (sent []bson.Raw) {
	for _, cmd := range c.commands() {
		if cmd.Doc.Index(0).Key() == name {
			sent = append(sent, cmd.Doc)
		}
	}
	return sent
}

// connectBy connects to the cluster at the usual address, by a dialer.
func connectBy(t *testing.T, o cluster.Options) (c *cluster.Client, end func()) {
	t.Helper()
	uri, err := cluster.ParseURI(simcluster.URI())
	must.Do(t, err)
	c, err = cluster.Connect(t.Context(), uri, o)
	must.Do(t, err)
	return c, func() { _ = c.Close(context.Background()) }
}

// watch runs a watcher until it is stopped.
func watch(t *testing.T, c *cluster.Client, o topology.Options) (w *topology.Watcher, stop func()) {
	w = topology.NewWatcher(c, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	return w, func() { cancel(); must.Do(t, <-done) }
}

// onSim runs a test with a simulated cluster and a client in a synctest bubble, so that
// waiting takes no real time.
func onSim(t *testing.T, o simcluster.Options, test func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), o))
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		var sent counter
		c, end := connectBy(t, cluster.Options{Dialer: sim, Monitor: sent.monitor()})
		defer end()
		test(t, sim, c, &sent)
	})
}

func run(t *testing.T, sim *simcluster.Cluster, db string, cmd bson.D) error {
	t.Helper()
	_, err := sim.Command(t.Context(), db, cmd)
	return err
}

func TestIdleRoutingPollIsOneCommandAndSlowPollAtMostSeven(t *testing.T) {
	cfg := simcluster.Options{Projects: 5, Documents: 50, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, sent *counter) {
		w, stop := watch(t, c, topology.Options{Statistics: 24 * time.Hour, Sweep: 24 * time.Hour})
		defer stop()
		time.Sleep(5*time.Minute + time.Second) // until all sizes were read once
		synctest.Wait()
		if !w.Table().Loaded {
			t.Fatalf("not loaded: %+v", w.Table().Health)
		}
		for p, h := range w.Table().Health {
			if h.Err != nil || h.Note != "" {
				t.Errorf("%s: %v %s", p, h.Err, h.Note)
			}
		}
		sent.take()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		count := map[string]int{}
		for _, name := range sent.take() {
			count[name]++
		}
		total := 0
		for _, n := range count {
			total += n
		}
		if count["config.aggregate"] != 10 || total > 10+10+2*7+2*(2+3) {
			t.Errorf("20 idle seconds sent %v: want 10 routing polls and 10 of what moves of one command each, two slow "+
				"polls of at most 7, and twice a row of each shard and of the config servers, and the members", count)
		}
		seq := w.Table().Seq
		time.Sleep(time.Minute)
		if w.Table().Seq != seq {
			t.Errorf("a still cluster published %d tables in a minute", w.Table().Seq-seq)
		}
		if n, want := c.LoadPerMinute(), len(sent.take()); n < want-2 || n > want+2 {
			t.Errorf("the client says %d commands a minute, the monitor saw %d", n, want)
		}
	})
}

func TestCountStopsOneAboveItsLimit(t *testing.T) {
	cfg := simcluster.Options{Projects: 3, Documents: 40, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
		all, err := c.Count(t.Context(), "yorkie-meta.documents", bson.D{})
		if err != nil || all < 10 {
			t.Fatalf("%d documents, %v", all, err)
		}
		empty := bson.Raw{5, 0, 0, 0, 0}
		for most, want := range map[int64]int64{0: 1, 7: 8, all - 1: all, all: all, 100_000: all} {
			if n, err := c.CountUpTo(t.Context(), "yorkie-meta.documents", empty, most); err != nil || n != want {
				t.Errorf("up to %d of %d: %d, %v", most, all, n, err)
			}
		}
	})
}
