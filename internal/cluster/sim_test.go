package cluster_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
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
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	c = must.Get(cluster.Connect(t.Context(), uri, o))
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
		must.That(t, w.Table().Loaded, "not loaded: %+v", w.Table().Health)
		for p, h := range w.Table().Health {
			expect.That(t, h.Err == nil && h.Note == "", "%s: %v %s", p, h.Err, h.Note)
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
		expect.Equal(t, w.Table().Seq, seq, "a still cluster published %d tables in a minute", w.Table().Seq-seq)
		if n, want := c.LoadPerMinute(), len(sent.take()); n < want-2 || n > want+2 {
			t.Errorf("the client says %d commands a minute, the monitor saw %d", n, want)
		}
	})
}

func TestCountStopsOneAboveItsLimit(t *testing.T) {
	cfg := simcluster.Options{Projects: 3, Documents: 40, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
		all, err := c.Count(t.Context(), "yorkie-meta.documents", bson.D{})
		must.That(t, err == nil && all >= 10, "%d documents, %v", all, err)
		empty := bson.Raw{5, 0, 0, 0, 0}
		for most, want := range map[int64]int64{0: 1, 7: 8, all - 1: all, all: all, 100_000: all} {
			if n, err := c.CountUpTo(t.Context(), "yorkie-meta.documents", empty, most); err != nil || n != want {
				t.Errorf("up to %d of %d: %d, %v", most, all, n, err)
			}
		}
	})
}

// What watching costs the config server while nothing happens, with Yorkie's collections and one of many chunks: at
// most 2,000 index keys and as many documents a minute where everything is polled; where the changelog is followed a
// part of that, and at most 10 commands for routing, moves and events. More chunks cost nothing more, so the short form
// has fewer.
func TestIdleWatchExaminesFewKeys(t *testing.T) {
	chunks := 20_000
	if os.Getenv("SHARDBOARD_LONG") != "" {
		chunks = 1_000_000
	}
	for _, version := range []string{"5.0", "8.0"} {
		for followed, most := range map[bool]int64{false: 2000, true: 300} {
			o := simcluster.Options{Projects: 5, Documents: 50, Still: true, ServerVersion: version, ManyChunks: chunks}
			onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter) {
				options := topology.Options{}
				if followed {
					options.Follow = func() bool { return true }
				}
				w, stop := watch(t, c, options)
				defer stop()
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				if got := w.Table().Collection(simcluster.ManyNS); got == nil || got.Chunks.Len() != chunks {
					t.Fatalf("not loaded: %v", w.Table().Health[topology.PartRouting].Err)
				}
				must.That(t, w.Table().Following.Live == followed, "%+v", w.Table().Following)
				const minutes = 5
				keys, docs := sim.Examined()
				sent.take()
				time.Sleep(minutes * time.Minute)
				synctest.Wait()
				keysNow, docsNow := sim.Examined()
				keys, docs = (keysNow-keys)/minutes, (docsNow-docs)/minutes
				commands := map[string]int{}
				for _, name := range sent.take() {
					commands[name]++
				}
				t.Logf("%s, followed %t: %d keys and %d documents a minute, %v", version, followed, keys, docs, commands)
				if n := commands["config.aggregate"] + commands["config.getMore"]; followed && n > 8*minutes { // and one for moves
					t.Errorf("%s: %d commands in %d minutes for routing and events", version, n, minutes)
				}
				if keys > most || docs > most {
					t.Errorf("%s, followed %t: %d keys and %d documents a minute, want at most %d", version, followed, keys, docs, most)
				}
			})
		}
	}
}

// What a collection needs is counted by an index: no document of config.chunks is examined for it.
func TestChunksAreCountedByAnIndex(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		o := simcluster.Options{Projects: 5, Documents: 50, Still: true, ServerVersion: version, ManyChunks: 3000}
		onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			heads, err := c.Heads(t.Context(), topology.Window{Only: []topology.Namespace{simcluster.ManyNS}})
			must.That(t, err == nil && len(heads) == 1, "%v %v", heads, err)
			_, before := sim.Examined()
			n, err := c.CountChunks(t.Context(), heads[0].Meta)
			_, after := sim.Examined()
			if err != nil || n != 3000 || after-before > 5 {
				t.Errorf("%s: %d chunks, %d documents examined, %v", version, n, after-before, err)
			}
		})
	}
}

// Polls during changes publish only complete tables of one collection incarnation.
func TestTablesPublishedDuringChangesAreComplete(t *testing.T) {
	cfg := simcluster.Options{Empty: true, Still: true, Pace: 0.01}
	onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}}))
		w := topology.NewWatcher(c, topology.Options{Routing: 20 * time.Millisecond, Sweep: time.Second, Statistics: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		_, changed, end := w.Subscribe()
		defer end()
		watched := make(chan struct{})
		tables := 0
		go func() {
			defer close(watched)
			for {
				select {
				case <-changed:
				case <-ctx.Done():
					return
				}
				tables++
				for _, col := range w.Table().Collections {
					checkCover(t, col)
					if h := col.Chunks.Highest(); h != col.Highest {
						t.Errorf("%s at %s has chunks of %s", col.NS, col.Highest, h)
					}
				}
			}
		}()
		defer func() {
			cancel()
			must.Do(t, <-done)
			<-watched
			expect.That(t, tables >= 30, "only %d tables were published", tables)
		}()
		synctest.Wait()
		world := &randomAdmin{t: t, sim: sim, rng: rand.New(rand.NewPCG(5, 5)), ns: []string{"d.a", "d.b"}}
		for range 100 {
			world.randomCommand(w.Table)
			time.Sleep(time.Duration(world.rng.IntN(4)) * 10 * time.Millisecond) // often coincides with a poll
		}
		time.Sleep(time.Second)
		synctest.Wait()
		full, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
		must.Do(t, err)
		expect.NoError(t, sameTables(w.Table(), full), "sameTables")
	})
}
