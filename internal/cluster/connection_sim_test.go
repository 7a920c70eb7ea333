package cluster_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// hosts is a network in which names lead to simulated clusters. A name that leads nowhere
// refuses connections.
type hosts struct {
	mu    sync.Mutex
	at    map[string]*simcluster.Cluster // by host:port
	mute  map[string]bool                // takes connections and never answers
	open  map[string][]net.Conn
	dials map[string]int
}

func newHosts() *hosts {
	return &hosts{at: map[string]*simcluster.Cluster{}, mute: map[string]bool{}, open: map[string][]net.Conn{}, dials: map[string]int{}}
}

func (h *hosts) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dials[address]++
	if h.mute[address] {
		here, there := net.Pipe()
		go func() {
			b := make([]byte, 1024)
			for {
				if _, err := there.Read(b); err != nil {
					return
				}
			}
		}()
		h.open[address] = append(h.open[address], here)
		return here, nil
	}
	sim := h.at[address]
	if sim == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	c, err := sim.DialContext(ctx, network, address)
	if err == nil {
		h.open[address] = append(h.open[address], c)
	}
	return c, err
}

// lead makes a name lead elsewhere; nil: nowhere. Its connections break.
func (h *hosts) lead(address string, sim *simcluster.Cluster) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at[address] = sim
	for _, c := range h.open[address] {
		_ = c.Close()
	}
	h.open[address] = nil
}

// cut breaks all connections. A driver that is disconnected while it begins one may wait for ever on it.
func (h *hosts) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, conns := range h.open {
		for _, c := range conns {
			_ = c.Close()
		}
	}
}

func (h *hosts) dialled(address string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dials[address]
}

// onHosts runs a test with a simulated cluster and an opened client for an address in a
// network in which nothing answers yet.
func onHosts(t *testing.T, address string, o simcluster.Options,
	test func(t *testing.T, net *hosts, sim *simcluster.Cluster, c *cluster.Client)) {
	t.Helper()
	o.Projects, o.Documents, o.Still = 2, 10, true
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), o))
		defer func() { _ = sim.Close() }()
		uri := must.Get(cluster.ParseURI(address))
		network := newHosts()
		defer network.cut()
		c, err := cluster.Open(uri, cluster.Options{Dialer: network})
		must.Do(t, err)
		defer func() { _ = c.Close(context.Background()) }()
		test(t, network, sim, c)
	})
}

// eventually reads the shards until that works, and returns how long it took.
func eventually(t *testing.T, c *cluster.Client, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		_, err := c.Shards(t.Context())
		if err == nil {
			return time.Since(began)
		}
		must.That(t, time.Since(began) <= within, "after %s still %v", within, err)
		time.Sleep(500 * time.Millisecond)
	}
}

func TestClientOfAClusterThatIsDownComesToLifeWithoutARestart(t *testing.T) {
	onHosts(t, "mongodb://a:1/", simcluster.Options{}, func(t *testing.T, network *hosts, sim *simcluster.Cluster, c *cluster.Client) {
		_, err := c.Shards(t.Context())
		if fault.Of(err) != fault.Unavailable || !strings.Contains(fault.Text(err), "Nothing listens there") {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		before := network.dialled("a:1")
		began := time.Now()
		for time.Since(began) < time.Minute {
			_, _ = c.Shards(t.Context())
			time.Sleep(100 * time.Millisecond)
		}
		if n := network.dialled("a:1") - before; n < 6 || n > 150 {
			t.Errorf("%d connections tried in a minute in which somebody asks all the time", n)
		}
		if down := c.Connection().Down(); len(down) != 1 || down[0].Address != "a:1" || !strings.Contains(down[0].Reason, "Nothing listens") {
			t.Errorf("%+v", c.Connection())
		}
		network.lead("a:1", sim)
		if took := eventually(t, c, 30*time.Second); took > 20*time.Second {
			t.Errorf("reached again after %s", took)
		}
		expect.That(t, len(c.Connection().Down()) == 0 && c.Connection().Endpoints[0].Up, "%+v", c.Connection())
	})
}

func TestPagesNeedNotWaitForAClusterThatHasJustFailed(t *testing.T) {
	onHosts(t, "mongodb://a:1/", simcluster.Options{}, func(t *testing.T, network *hosts, _ *simcluster.Cluster, c *cluster.Client) {
		network.mu.Lock()
		network.mute["a:1"] = true
		network.mu.Unlock()
		var longest, all time.Duration
		for range 40 {
			began := time.Now()
			_, err := c.Shards(t.Context())
			took := time.Since(began)
			longest, all = max(longest, took), all+took
			must.That(t, fault.Of(err) == fault.Unavailable && fault.Title(err) == fault.NoAnswerTitle, "%v", err)
			time.Sleep(time.Second)
		}
		if longest > 11*time.Second || all/40 > 5*time.Second {
			t.Errorf("an answer took up to %s, and %s on average", longest, all/40)
		}
	})
}

func TestOneMongosOfSeveralIsEnough(t *testing.T) {
	onHosts(t, "mongodb://a:1,b:2,c:3/", simcluster.Options{}, func(t *testing.T, network *hosts, sim *simcluster.Cluster, c *cluster.Client) {
		network.lead("b:2", sim)
		eventually(t, c, 10*time.Second)
		time.Sleep(time.Minute)
		for range 20 {
			must.Do(t, must.Err(c.Shards(t.Context())))
		}
		var down []string
		for _, e := range c.Connection().Down() {
			down = append(down, e.Address)
		}
		expect.That(t, len(c.Connection().Endpoints) == 3 && strings.Join(down, " ") == "a:1 c:3", "%+v", c.Connection())
		network.lead("c:3", sim)
		network.lead("b:2", nil)
		eventually(t, c, 15*time.Second)
		time.Sleep(time.Minute)
		if down := c.Connection().Down(); len(down) != 2 || down[1].Address != "b:2" {
			t.Errorf("%+v", down)
		}
	})
}

// uriFile writes an address into a file as a secret is mounted.
func uriFile(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	must.Do(t, os.WriteFile(path+".new", []byte(text), 0o600))
	must.Do(t, os.Chtimes(path+".new", at, at))
	must.Do(t, os.Rename(path+".new", path))
}

// withRotation runs a test with a client whose address comes from a file, as the user anna.
func withRotation(t *testing.T, test func(t *testing.T, r *rotationRig)) {
	t.Helper()
	users := []access.User{
		{Name: "anna", Password: "first", Roles: []string{"clusterMonitor"}},
		{Name: "ben", Password: "second", Roles: []string{"clusterMonitor"}},
		{Name: "nobody", Password: "third", Roles: []string{"read@other"}},
	}
	path := filepath.Join(t.TempDir(), "uri")
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), simcluster.Options{Projects: 2, Documents: 10, Still: true, Users: users})
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		network := newHosts()
		network.lead("a:1", sim)
		r := &rotationRig{path: path, network: network, sim: sim}
		r.write(t, "mongodb://anna:first@a:1/")
		uri, err := cluster.ReadURI(path)
		must.Do(t, err)
		r.client, err = cluster.Open(uri, cluster.Options{Dialer: network, File: path})
		must.Do(t, err)
		defer func() { _ = r.client.Close(context.Background()) }()
		must.Do(t, must.Err(r.client.Server(t.Context())))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.client.Watch(ctx) }()
		defer func() { cancel(); <-done }()
		test(t, r)
	})
}

type rotationRig struct {
	path    string
	network *hosts
	sim     *simcluster.Cluster
	client  *cluster.Client
}

func (r *rotationRig) write(t *testing.T, text string) { uriFile(t, r.path, text, time.Now()) }

func (r *rotationRig) user(t *testing.T) string {
	t.Helper()
	id, err := r.client.Identity(t.Context())
	must.Do(t, err)
	return strings.Join(id.Users, " ")
}

func TestChangedCredentialsAreTakenOverWithoutARestart(t *testing.T) {
	withRotation(t, func(t *testing.T, r *rotationRig) {
		if got := r.user(t); got != "anna@admin" {
			t.Fatal(got)
		}
		held := r.sim.Faults().Add(simcluster.Rule{Command: "find", NS: "config.shards", At: simcluster.Received,
			Delay: 20 * time.Second, Times: 1})
		answered := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := r.client.Shards(ctx)
			answered <- err
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		r.write(t, "mongodb://ben:second@a:1/")
		time.Sleep(10 * time.Second)
		if got := r.user(t); got != "ben@admin" {
			t.Fatal(got)
		}
		if now := r.client.Connection(); now.FileError != "" || now.Replaced.IsZero() {
			t.Errorf("%+v", now)
		}
		expect.NoError(t, <-answered, "a request that was under way")
		held.Remove()
	})
}

func TestCredentialsThatDoNotWorkChangeNothingAndAreReported(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"wrong password": {"mongodb://ben:s3cret@a:1/", "refused the user name or password"},
		"not an address": {"s3cret", "the log has the cause"},
		"nobody there":   {"mongodb://ben:second@b:2/?serverSelectionTimeoutMS=500", "b:2 cannot be reached"},
		"may not read":   {"mongodb://nobody:third@a:1/", "may not read config.version"},
	} {
		t.Run(name, func(t *testing.T) {
			withRotation(t, func(t *testing.T, r *rotationRig) {
				time.Sleep(time.Second)
				r.write(t, c.text)
				time.Sleep(30 * time.Second)
				if got := r.client.Connection().FileError; !strings.Contains(got, c.says) || strings.Contains(got, "s3cret") {
					t.Errorf("reported: %q", got)
				}
				expect.Equal(t, r.user(t), "anna@admin", "the user of the connection")
				r.write(t, "mongodb://ben:second@a:1/")
				time.Sleep(15 * time.Second)
				if got := r.user(t); got != "ben@admin" || r.client.Connection().FileError != "" {
					t.Errorf("afterwards as %s: %+v", got, r.client.Connection())
				}
			})
		})
	}
}

func TestCredentialsThatTheClusterLearnsLaterAreTriedAgain(t *testing.T) {
	withRotation(t, func(t *testing.T, r *rotationRig) {
		time.Sleep(time.Second)
		r.write(t, "mongodb://carla:fourth@a:1/")
		time.Sleep(time.Minute)
		if got := r.user(t); got != "anna@admin" || r.client.Connection().FileError == "" {
			t.Fatalf("as %s: %+v", got, r.client.Connection())
		}
		must.Do(t, run(t, r.sim, "admin", bson.D{{Key: "createUser", Value: "carla"}, {Key: "pwd", Value: "fourth"},
			{Key: "roles", Value: bson.A{bson.D{{Key: "role", Value: "clusterMonitor"}, {Key: "db", Value: "admin"}}}}}))
		time.Sleep(30 * time.Second)
		if got := r.user(t); got != "carla@admin" {
			t.Errorf("as %s: %+v", got, r.client.Connection())
		}
	})
}

func TestChangedAddressOfAnotherClusterIsRefused(t *testing.T) {
	withRotation(t, func(t *testing.T, r *rotationRig) {
		other := must.Get(simcluster.New(t.Context(), simcluster.Options{Projects: 2, Documents: 10, Still: true, Seed: 8}))
		defer func() { _ = other.Close() }()
		r.network.lead("b:2", other)
		time.Sleep(time.Second)
		r.write(t, "mongodb://b:2/")
		time.Sleep(30 * time.Second)
		if got := r.client.Connection(); !strings.Contains(got.FileError, "leads to another cluster") || got.Address != "a:1" {
			t.Errorf("%+v", got)
		}
	})
}

// Nothing is read from another cluster and nothing is sent to it, though its shards and
// collections have the same names.
func TestAnotherClusterAtTheAddressGetsNoCommands(t *testing.T) {
	onHosts(t, "mongodb://a:1/", simcluster.Options{Projects: 2, Documents: 10, Still: true},
		func(t *testing.T, network *hosts, sim *simcluster.Cluster, c *cluster.Client) {
			other := must.Get(simcluster.New(t.Context(), simcluster.Options{Projects: 2, Documents: 10, Still: true, Seed: 8}))
			defer func() { _ = other.Close() }()
			network.lead("a:1", sim)
			first, err := c.Server(t.Context())
			must.Do(t, err)
			network.lead("a:1", other)
			time.Sleep(time.Minute)
			for name, ask := range map[string]func() error{
				"hello":  func() error { _, err := c.Server(t.Context()); return err },
				"read":   func() error { _, err := c.Shards(t.Context()); return err },
				"cursor": func() error { _, err := c.Heads(t.Context(), topology.Window{}); return err },
				"change": func() error { return change.Send(t.Context(), c, "run-1", operation.Step{Op: operation.OpBalancerOff}) },
			} {
				err := ask()
				var found *topology.OtherClusterError
				if fault.Of(err) != fault.Unavailable || !errors.As(err, &found) || found.Watched != first.ClusterID ||
					!strings.Contains(fault.Text(err), "restart shardboard") || fault.Title(err) != topology.OtherClusterTitle {
					t.Errorf("%s: %v", name, err)
				}
			}
			network.lead("a:1", sim)
			time.Sleep(time.Minute)
			if again, err := c.Server(t.Context()); err != nil || again.ClusterID != first.ClusterID {
				t.Errorf("the first cluster is back: %v", err)
			}
		})
}

func TestAtlasIsDetectedAndItsRefusalsAreNoMissingGrants(t *testing.T) {
	onHosts(t, "mongodb://shop-shard-00.ab12c.mongodb.net:27016/", simcluster.Options{},
		func(t *testing.T, network *hosts, sim *simcluster.Cluster, c *cluster.Client) {
			network.lead("shop-shard-00.ab12c.mongodb.net:27016", sim)
			info, err := c.Server(t.Context())
			must.Do(t, err)
			if info.Product != topology.Atlas || !strings.HasPrefix(info.Release(), "MongoDB Atlas 5.0.") {
				t.Errorf("%+v", info)
			}
			refuse := simcluster.Fail(8000)
			refuse.Message = "CMD_NOT_ALLOWED: balancerStatus"
			sim.Faults().Add(simcluster.Rule{Command: "balancerStatus", At: simcluster.Received, Times: -1, Err: refuse})
			_, _, err = c.BalancerStatus(t.Context())
			var denied *topology.DeniedError
			if fault.Of(err) != fault.Forbidden || !errors.As(err, &denied) || denied.Product != topology.Atlas ||
				!strings.Contains(fault.Text(err), "MongoDB Atlas does not allow to") {
				t.Errorf("%v", err)
			}
			sim.Faults().Add(simcluster.Rule{Command: "balancerStop", At: simcluster.Received, Times: -1, Err: refuse})
			if err := change.Send(t.Context(), c, "run",
				operation.Step{Op: operation.OpBalancerOff}); fault.Of(err) != fault.Forbidden || !errors.As(err, &denied) {
				t.Errorf("%v", err)
			}
		})
}
