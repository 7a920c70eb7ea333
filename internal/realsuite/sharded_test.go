package realsuite_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// sharded is a sharded cluster that a test may hurt. Members are named as the shards, or
// realcluster.ConfigServer and realcluster.Router.
type sharded interface {
	Release() string // such as 8.0.10
	Address() string // of the router
	URI() string     // of the router, for a user with all privileges
	Shards() []string

	// Freeze stops a member as SIGSTOP does; Thaw lets all that is frozen go on.
	Freeze(ctx context.Context, member string) error
	Thaw() error
	// Kill ends a member at once; Revive starts what was killed and thaws what is frozen. The simulated
	// cluster cannot lose a member: there a killed shard or config server is a frozen one.
	Kill(ctx context.Context, member string) error
	Revive(ctx context.Context) error
	// Restart ends a member as an operator does and starts it again.
	Restart(ctx context.Context, member string) error
	// StepDown makes the primary of a shard step down. The simulated cluster does that at the next step
	// of a migration.
	StepDown(ctx context.Context, member string) error
	// Addresses are those of all members but the routers; the simulated cluster has none.
	Addresses() map[string]string
	Stop() error
}

var (
	_ sharded = (*realcluster.Cluster)(nil)
	_ sharded = (*simulated)(nil)
)

// wanted is what a test needs of its cluster.
type wanted struct {
	access      bool
	orphanDelay time.Duration // 0: the server's default of 15 minutes
	threeFirst  bool          // the first shard has three members
	slowMoves   bool          // a move of some thousand documents takes some seconds
	slowReshard bool          // a resharding takes ten minutes, unless somebody ends it
	sessions    bool          // the simulated cluster has config.system.sessions, as real ones do
}

// target is one kind of cluster of one release.
type target struct {
	release   string
	simulated bool
	servers   realcluster.Servers
}

func (g target) name() string {
	if g.simulated {
		return "simulated-" + g.release
	}
	return g.release
}

// start starts a cluster that ends with the test.
func (g target) start(t testing.TB, w wanted) sharded {
	t.Helper()
	begun := time.Now()
	c, err := g.begin(t, w)
	must.Do(t, err)
	t.Cleanup(func() {
		expect.NoError(t, c.Stop(), "Stop")
	})
	t.Logf("a cluster of %s started within %s", g.name(), time.Since(begun).Round(time.Millisecond))
	return c
}

func (g target) begin(t testing.TB, w wanted) (sharded, error) {
	if g.simulated {
		return newSimulated(t.Context(), g.release, w)
	}
	o := realcluster.Options{Servers: g.servers, Access: w.access, Parameters: map[string]string{}, Log: func(s string) { t.Log(s) }}
	if w.orphanDelay > 0 {
		o.Parameters["orphanCleanupDelaySecs"] = fmt.Sprint(int(w.orphanDelay.Seconds()))
	}
	if w.slowMoves {
		o.Parameters["migrateCloneInsertionBatchSize"] = "100"
		o.Parameters["migrateCloneInsertionBatchDelayMS"] = "50"
	}
	if w.slowReshard && g.servers.AtLeast(5, 0) {
		o.Parameters["reshardingMinimumOperationDurationMillis"] = "600000"
	}
	if w.threeFirst {
		o.Members = []int{3}
	}
	return realcluster.Start(t.Context(), o)
}

// simulated is the simulated cluster behind a proxy, which stands for what happens to its router.
type simulated struct {
	release string
	sim     *simcluster.Cluster
	served  chan struct{}
	router  *realcluster.Proxy
	access  bool

	mu    sync.Mutex
	rules []*simcluster.Planted // of StepDown
}

// pace makes the simulated cluster's own work fast; what a test waits for are real seconds.
const pace = 0.1

func newSimulated(ctx context.Context, release string, w wanted) (sharded, error) {
	o := simcluster.Options{ServerVersion: release, Empty: true, Still: !w.slowReshard, Pace: pace, OrphanDelay: w.orphanDelay,
		Reshard: 2 * time.Second, Sessions: w.sessions}
	if w.slowReshard {
		o.Reshard = 10 * time.Minute
	}
	if w.access {
		o.Users = []access.User{{Name: realcluster.RootUser, Password: realcluster.RootPassword}}
	}
	sim, err := simcluster.New(ctx, o)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, sim.Close())
	}
	s := &simulated{release: release, sim: sim, served: make(chan struct{}), access: w.access}
	go func() { defer close(s.served); _ = sim.Serve(l) }()
	s.router, err = realcluster.NewProxy(func() string { return l.Addr().String() })
	if err != nil {
		return nil, errors.Join(err, sim.Close())
	}
	if w.slowMoves {
		sim.Faults().Add(simcluster.Rule{Command: "move", NS: faultsNS, At: simcluster.Cloned, Delay: time.Second, Times: -1})
	}
	sim.Start(context.WithoutCancel(ctx))
	return s, nil
}

func (s *simulated) Release() string  { return s.release }
func (s *simulated) Address() string  { return s.router.Address() }
func (s *simulated) Shards() []string { return []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"} }

func (s *simulated) URI() string {
	if s.access {
		return fmt.Sprintf("mongodb://%s:%s@%s/?directConnection=true", realcluster.RootUser, realcluster.RootPassword, s.Address())
	}
	return "mongodb://" + s.Address() + "/?directConnection=true"
}

func (s *simulated) Freeze(_ context.Context, member string) error {
	if member == realcluster.Router {
		s.router.Freeze()
	} else {
		s.sim.Faults().Freeze(member)
	}
	return nil
}

func (s *simulated) Thaw() error {
	for _, name := range s.sim.Faults().Frozen() {
		s.sim.Faults().Thaw(name)
	}
	s.router.Restore()
	return nil
}

func (s *simulated) Kill(ctx context.Context, member string) error {
	if member == realcluster.Router {
		s.router.Cut()
		return nil
	}
	return s.Freeze(ctx, member)
}

func (s *simulated) Revive(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		r.Remove()
	}
	s.rules = nil
	return s.Thaw()
}

func (s *simulated) Restart(_ context.Context, member string) error {
	if member == realcluster.Router {
		s.router.Cut()
		s.router.Restore()
	}
	return nil // the others have no processes
}

func (s *simulated) StepDown(context.Context, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range []simcluster.Step{simcluster.Cloned, simcluster.CaughtUp, simcluster.Critical, simcluster.Committing} {
		s.rules = append(s.rules, s.sim.Faults().Add(simcluster.Rule{Command: "move", At: at, StepDown: true}))
	}
	return nil
}

func (s *simulated) Addresses() map[string]string { return nil }

func (s *simulated) Stop() error {
	err := errors.Join(s.router.Close(), s.sim.Close())
	<-s.served
	return err
}
