package webtest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/cluster"
	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// BreakableServer is the site over the real watcher, engine and driver. Its cluster is simulated; the
// network to it and the disk under the store can fail.
type BreakableServer struct {
	*SimulatedServer
	Client *cluster.Client
	Line   *BreakableNetwork
	Disk   *BreakableDisk
	DB     *sqlite.DB
	Dir    string // of db
	Engine *engine.Engine
	Wired  func(*site.Deps) // the real parts
}

// BreakableDisk fails statements of the store.
type BreakableDisk struct {
	mu    sync.Mutex
	fails func(statement string) error
}

func (d *BreakableDisk) before(statement string) error {
	d.mu.Lock()
	fails := d.fails
	d.mu.Unlock()
	if fails == nil {
		return nil
	}
	return fails(statement)
}

// Breaks fails each statement for which how gives an error.
func (d *BreakableDisk) Breaks(how func(statement string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = how
}

// BreakableNetwork is the network between driver and mongos.
type BreakableNetwork struct {
	sim *simcluster.Cluster

	mu    sync.Mutex
	cut   bool // nobody listens at the address
	mute  bool // packets are lost: nothing is refused, nothing arrives
	conns []*wire
}

// wire is one connection of it.
type wire struct {
	net.Conn
	of *BreakableNetwork
}

func (l *BreakableNetwork) muted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mute
}

// Write loses what is written while the line is mute; the answer then never comes.
func (w *wire) Write(b []byte) (int, error) {
	if w.of.muted() {
		return len(b), nil
	}
	return w.Conn.Write(b)
}

func (l *BreakableNetwork) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	cut, mute := l.cut, l.mute
	l.mu.Unlock()
	switch {
	case cut:
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	case mute:
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
	}
	conn, err := l.sim.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &wire{conn, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, w)
	return w, nil
}

// End closes all connections; with refuse no new one can be made.
func (l *BreakableNetwork) End(refuse bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = refuse
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// Silence loses all packets, or stops losing them.
func (l *BreakableNetwork) Silence(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute = on
}

// OnBreakableCluster runs a test with simulated time (testing/synctest) over the data of a small Yorkie.
func OnBreakableCluster(t *testing.T, o simcluster.Options, test func(f *BreakableServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &BreakableServer{SimulatedServer: &SimulatedServer{T: t}}
		var err error
		f.Sim, err = simcluster.New(t.Context(), o)
		f.Must(err)
		defer func() { _ = f.Sim.Close() }()
		f.Sim.Start(t.Context())
		time.Sleep(time.Hour) // what was done to make it is long ago
		f.Line = &BreakableNetwork{sim: f.Sim}
		uri, err := cluster.ParseURI(simcluster.URI())
		f.Must(err)
		f.Client, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: f.Line})
		f.Must(err)
		defer func() { _ = f.Client.Close(context.Background()) }()
		f.Disk = &BreakableDisk{}
		f.Dir = t.TempDir()
		db, err := sqlite.OpenWith(t.Context(), f.Dir, sqlite.Options{Before: f.Disk.before})
		f.Must(err)
		f.DB = db
		defer func() { _ = db.Close() }()
		log, prof := slog.New(slog.DiscardHandler), profile.Yorkie()
		f.Watcher = topology.NewWatcher(f.Client, topology.Options{})
		_, err = f.Watcher.Load(t.Context())
		f.Must(err)
		keeper := placement.NewKeeper(f.Client, f.Watcher, prof, log)
		keeper.Poll(t.Context(), prof.Match(f.Watcher.Table()))
		duplicates := placement.NewDuplicateCheck(f.Client, f.Watcher, keeper, prof, log)
		budget := heat.NewBudget(0, nil)
		surveys := survey.New(f.Client, f.Watcher, keeper, prof, survey.Options{Store: db, Budget: budget, Log: log})
		e := engine.New(
			engine.Options{
				Admin:     f.Client,
				Reader:    f.Client,
				Counter:   f.Client,
				Journal:   db,
				Audit:     db,
				Tables:    f.Watcher,
				Directory: keeper,
				Profile:   prof,
			},
		)
		locator := placement.NewLocator(f.Client, f.Watcher, keeper, prof)
		ctx, end := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for _, run := range []func(context.Context) error{e.Serve, duplicates.Run, surveys.Run, f.Watcher.Run, keeper.Run} {
			all.Go(func() {
				if err := run(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			})
		}
		defer func() { end(); all.Wait() }()
		f.Engine = e
		f.Wired = func(d *site.Deps) {
			d.Now, d.Cluster.Watcher, d.Cluster.Keeper = time.Now, f.Watcher, keeper
			d.Locate.Locator, d.Locate.Duplicates, d.Measured.Surveys = locator, duplicates, surveys
			d.Locate.Prover = placement.NewProver(f.Client, f.Watcher)
			d.Locate.Metadata, d.Locate.Owners = f.Client, f.Client
		}
		f.Server = New(t, WithPeople, WithActions(e), f.Wired)
		test(f)
	})
}
