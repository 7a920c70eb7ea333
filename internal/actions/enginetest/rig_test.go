package enginetest

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Anna and Bert are operators.
var (
	Anna = auth.Principal{ID: "user:anna", Name: "Anna", Role: auth.Operator, Method: auth.ByPassword}
	Bert = auth.Principal{ID: "user:bert", Name: "Bert", Role: auth.Operator, Method: auth.ByPassword}
)

// NS is the collection of an empty rig. Its key is {p: 1}; its chunks begin at
// MinKey, 0, 10, 20 and 30, and all are on shard-rs-1.
const NS topology.Namespace = "app.users"

// P is a key of NS.
func P(n any) bson.Raw { return must.Get(bson.Marshal(bson.D{{Key: "p", Value: n}})) }

// Rig is a simulated cluster and a process that watches and changes it.
type Rig struct {
	testing.TB
	Sim     *simcluster.Cluster
	Disk    *Disk
	Network *Network

	// The current process:
	Engine  *engine.Engine
	Client  *cluster.Client
	Watcher *topology.Watcher
	Keeper  *placement.Keeper

	prof   *profile.Profile
	seed   uint64
	boots  uint64
	handle *Handle
	end    context.CancelFunc
	ended  chan error
	wrap   func(*engine.Options)
}

// Setup describes a rig; the zero value is an empty 5.0 cluster in which nothing
// happens by itself.
type Setup struct {
	Sim  simcluster.Options    // zero: Empty and Still, with three shards
	Live bool                  // an empty cluster takes its time and has its balancer on
	Seed uint64                // of ids
	Data func(*Rig)            // makes other data than NS in an empty cluster
	Of   *profile.Profile      // of that; nil: Yorkie's
	Wrap func(*engine.Options) // changes the dependencies of the engine in every process
}

// parallel has the tests that run beside others.
var parallel sync.Map

// OnRig runs a test, beside others, with a rig in a bubble of simulated time.
func OnRig(t *testing.T, s Setup, test func(r *Rig)) {
	t.Helper()
	if _, is := parallel.LoadOrStore(t, true); !is { // a test may have several rigs, one after the other
		t.Parallel()
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, s)
		defer func() { _ = r.Sim.Close() }()
		if s.Sim.Projects == 0 {
			time.Sleep(time.Hour) // so that creating it is long ago
		}
		r.Boot()
		defer r.Kill()
		// In simulated time, a test that waits for ever would never block.
		late := time.AfterFunc(testLimit, func() { debug.SetTraceback("all"); panic(t.Name() + " did not end in time") })
		defer late.Stop()
		test(r)
	})
}

// newRig makes a cluster, with NS when it is empty.
func newRig(t testing.TB, s Setup) *Rig {
	t.Helper()
	if s.Sim.Projects == 0 {
		s.Sim.Empty, s.Sim.Still = true, !s.Live
	}
	sim := must.Get(simcluster.New(t.Context(), s.Sim))
	sim.Start(t.Context())
	r := &Rig{TB: t, Sim: sim, Disk: NewDisk(), Network: &Network{sim: sim}, seed: s.Seed, wrap: s.Wrap,
		prof: cmp.Or(s.Of, profile.Yorkie())}
	switch {
	case s.Data != nil:
		s.Data(r)
	case s.Sim.Empty:
		r.users()
	}
	return r
}

// users creates the collection NS.
func (r *Rig) users() {
	r.Helper()
	r.Admin(bson.D{{Key: "enableSharding", Value: "app"}, {Key: "primaryShard", Value: "shard-rs-1"}})
	r.Admin(bson.D{{Key: "shardCollection", Value: NS}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
	for _, at := range []int{0, 10, 20, 30} {
		r.Admin(bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: bson.D{{Key: "p", Value: at}}}})
	}
}

// Boot starts a process: a new connection, a new watcher and the disk as the last
// process left it.
func (r *Rig) Boot() {
	r.Helper()
	r.boots++
	var o engine.Options
	r.handle = r.Disk.Open()
	r.Client, r.Watcher, o = r.connect(r.Network, r.handle, r.boots)
	r.Keeper = placement.NewKeeper(r.Client, r.Watcher, o.Profile, nil)
	if dbs := o.Profile.Match(r.Watcher.Table()); len(dbs) > 0 {
		r.Keeper.Poll(r.Context(), dbs)
	}
	o.Directory, o.Indexes = r.Keeper, r.Client
	if r.wrap != nil {
		r.wrap(&o)
	}
	r.Engine = engine.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	r.end, r.ended = cancel, make(chan error, 1)
	go func() { r.ended <- r.Engine.Serve(ctx) }()
}

// connect makes what a process has: a connection, a table and the options of an engine.
func (r *Rig) connect(n *Network, h *Handle, boot uint64) (*cluster.Client, *topology.Watcher, engine.Options) {
	r.Helper()
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	c := must.Get(cluster.Connect(r.Context(), uri, cluster.Options{Dialer: n}))
	w := topology.NewWatcher(c, topology.Options{})
	r.Must(must.Err(w.Load(r.Context())))
	return c, w, engine.Options{Admin: c, Reader: c, Journal: h, Audit: h, Tables: w,
		Profile: r.prof, Random: &stream{r: rand.NewChaCha8(streamSeed(r.seed, boot))}}
}

// Kill ends the process at once: nothing more reaches the disk. The cluster
// continues with the commands that it received.
func (r *Rig) Kill() {
	r.Helper()
	if r.end == nil {
		return
	}
	r.handle.Cut()
	r.end()
	if err := <-r.ended; err != nil && !errors.Is(err, errCut) {
		r.Error(err)
	}
	r.end = nil
	_ = r.Client.Close(context.Background())
}

func (r *Rig) Restart() { r.Helper(); r.Kill(); r.Boot() }

// Must ends the test on an error.
func (r *Rig) Must(err error) {
	r.Helper()
	must.Do(r, err)
}

// testLimit is how long a test may take, in simulated time.
const testLimit = 72 * time.Hour

// stream produces the same ids for the same seed. It is safe for concurrent use.
type stream struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(b)
}

func streamSeed(seed, life uint64) (out [32]byte) {
	out[0], out[1], out[2], out[8], out[9] = byte(seed), byte(seed>>8), byte(seed>>16), byte(life), byte(life>>8)
	return out
}

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
