package simcluster

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/balancer"
	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
	"shardboard/internal/simcluster/workload"
)

// Cluster is a running simulated cluster. All methods are safe for concurrent use.
type Cluster struct {
	opts     Options
	version  version
	log      *slog.Logger
	catalog  *catalog.Cluster
	balancer *balancer.Balancer
	work     *workload.Workload // nil for an empty cluster
	access   *access.Control
	faults   *Faults
	commands map[string]command

	transactions *transactions
	process      bson.ObjectID // of topologyVersion
	started      time.Time

	// Guarded by catalog.Mu.
	cursors *cursors
	late    lateCursors
	stats   counters
	many    *virtualChunks // nil: none

	life          *lifetime
	mu            sync.Mutex // guards interferences
	interferences int        // interferences that are on
	once          sync.Once  // Start
}

// New makes a cluster and loads the workload's data unless Options.Empty is set; the
// defaults take about a second. It starts nothing. ctx limits the loading only.
func New(ctx context.Context, o Options) (*Cluster, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	v, err := parseVersion(o.ServerVersion)
	if err != nil {
		return nil, err
	}
	faults := &Faults{frozen: map[string]chan struct{}{}, used: map[string]chan struct{}{}, terms: map[string]int64{}}
	c := &Cluster{
		faults: faults, process: bson.NewObjectIDFromTimestamp(o.Epoch), started: time.Now(),
		opts: o, version: v, log: o.Log, cursors: newCursors(o.Seed), life: newLifetime(),
		catalog: catalog.New(catalog.Options{
			Version: v.parts, Shards: o.shardNames(), Start: o.Epoch, Hostname: hostname,
			Seed: uint64(o.Seed), Still: o.Still, Pace: o.Pace, ClusterID: clusterID(o.Seed),
			ConfigShard: o.ConfigShard, ShardUUIDs: o.ShardUUIDs, Reshard: o.Reshard,
			OrphanDelay: o.OrphanDelay, Migration: o.Migration, Sessions: o.Sessions,
			Hook: faults.atStep, Armed: func() bool { return faults.armed.Load() > 0 },
			Held: func(ns, shard string, left, now time.Time) bool {
				return slices.ContainsFunc(faults.cluster.standing(now), func(k shardCursor) bool { return k.holds(ns, shard, left) })
			},
		}),
	}
	c.transactions = newTransactions(c.catalog, o.TransactionLifetime)
	faults.cluster = c
	c.balancer = balancer.New(c.catalog, balancer.Options{Pace: o.Pace, Seed: uint64(o.Seed)})
	if c.access, err = access.New(access.Options{Enforced: len(o.Users) > 0, Major: v.parts[0], Users: o.Users}); err != nil {
		return nil, err
	}
	c.commands = c.commandTable()
	if err := c.load(ctx); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("load simulated cluster: %w", err)
	}
	return c, nil
}

// load fills the cluster and sets the balancer as the options say.
func (c *Cluster) load(ctx context.Context) error {
	if !c.opts.Empty {
		c.catalog.Hurry(true)
		defer c.catalog.Hurry(false)
		w, err := workload.Load(ctx, c, workload.Options{
			Seed: c.opts.Seed, Epoch: c.opts.Epoch, Layout: c.opts.Layout, Database: c.opts.Database,
			Projects: c.opts.Projects, Documents: c.opts.Documents, Shards: c.opts.shardNames(),
			Now: c.catalog.Now, Log: c.log,
		})
		if err != nil {
			return err
		}
		c.work = w
		c.chooseBusy()
	}
	if c.opts.ManyChunks > 0 {
		if err := c.addManyChunks(c.opts.ManyChunks); err != nil {
			return err
		}
	}
	if c.opts.Still {
		_, err := c.Command(ctx, "config", value.D("update", "settings",
			"updates", bson.A{
				value.D("q", value.D("_id", "balancer"),
					"u", value.D("$set", value.D("mode", "off", "stopped", true)), "upsert", true),
			}))
		return err
	}
	return nil
}

// Examined is how many index keys and documents all queries on the config server have
// looked at, as its serverStatus tells in metrics.queryExecutor.
func (c *Cluster) Examined() (keys, docs int64) {
	e := c.catalog.Config.Examined()
	return e.Keys.Load(), e.Docs.Load()
}

// Start runs the servers' background work, the balancer and the workload's writers
// until ctx ends or Close is called. A still cluster has no writers, and its balancer
// is off until a command starts it. Further calls do nothing.
func (c *Cluster) Start(ctx context.Context) {
	c.once.Do(func() {
		c.life.run(ctx, c.catalog.Run)
		c.life.run(ctx, c.balancer.Run)
		if !c.opts.Still {
			c.life.run(ctx, c.expireRegularly)
		}
		if c.work != nil && !c.opts.Still {
			c.life.run(ctx, c.work.Run)
		}
	})
}

// Close stops background work, listeners and connections and waits for all goroutines.
// Closing again does nothing.
func (c *Cluster) Close() error {
	if c.life.close(c.transactions.abortAll) {
		c.catalog.Close()
	}
	c.life.wait()
	return nil
}

// Catalog is the cluster's metadata, for tests that need more than a router shows or
// that let the balancer move exactly one chunk.
func (c *Cluster) Catalog() *catalog.Cluster { return c.catalog }

// Command runs one command without a connection, as an internal client would. cmd is
// anything that marshals to a document; its first field names the command. A failed
// command, or the first write error of a write, is a *status.Error with the server's
// code; the reply is returned as well.
func (c *Cluster) Command(ctx context.Context, db string, cmd any) (bson.Raw, error) {
	body, err := bson.Marshal(cmd)
	if err != nil {
		return nil, fmt.Errorf("encode command: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithValue(ctx, internalCommand{}, true))
	defer cancel()
	defer context.AfterFunc(c.life.ctx, cancel)()
	reply := c.answer(ctx, &engine.Request{DB: db, Body: body})
	return reply, replyError(reply)
}

// replyError is the error that a reply contains, or nil.
func replyError(reply bson.Raw) error {
	if !truthy(reply.Lookup("ok")) {
		return errorIn(reply)
	}
	if first, ok := reply.Lookup("writeErrors", "0").DocumentOK(); ok {
		return errorIn(first)
	}
	return nil
}

func errorIn(d bson.Raw) error {
	e := &status.Error{NoCode: true}
	e.Message, _ = d.Lookup("errmsg").StringValueOK()
	if code, ok := wholeNumber(d.Lookup("code")); ok {
		e.Code, e.NoCode = int32(code), false
		e.Name, _ = d.Lookup("codeName").StringValueOK()
	}
	return e
}

// lifetime owns the goroutines, connections and listeners of a cluster, and ends them.
type lifetime struct {
	ctx context.Context // ends with close
	end context.CancelFunc

	mu          sync.Mutex // guards the fields below
	closed      bool
	open        map[closer]struct{} // connections and listeners to close
	connections sync.WaitGroup      // their goroutines
	background  sync.WaitGroup      // balancer, writers and the like
}

// closer is a connection or a listener that close closes to end its goroutine.
type closer interface{ Close() error }

func newLifetime() *lifetime {
	l := &lifetime{open: make(map[closer]struct{})}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// run starts a goroutine that ends with ctx or the lifetime; wait waits for it. It reports
// false after the end, when nothing is started.
func (l *lifetime) run(ctx context.Context, run func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.background.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)()
		run(ctx)
	})
	return true
}

func (l *lifetime) track(x closer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[x] = struct{}{}
	l.connections.Add(1)
	return true
}

func (l *lifetime) untrack(x closer) {
	l.mu.Lock()
	delete(l.open, x)
	l.mu.Unlock()
	l.connections.Done()
}

// close ends everything, runs last before connections are closed, and reports whether it was the first call.
func (l *lifetime) close(last func()) (first bool) {
	l.mu.Lock()
	first = !l.closed
	l.closed = true
	open := make([]closer, 0, len(l.open))
	for x := range l.open {
		open = append(open, x)
	}
	l.mu.Unlock()
	if first {
		l.end()
		last()
		for _, x := range open {
			_ = x.Close()
		}
	}
	return first
}

func (l *lifetime) wait() {
	l.background.Wait()
	l.connections.Wait()
}
