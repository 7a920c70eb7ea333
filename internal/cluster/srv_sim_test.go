package cluster_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/dns"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// records is the DNS of a test: the targets of one SRV record; none: no such name.
type records struct {
	mu      sync.Mutex
	targets []string
}

func (r *records) set(targets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.targets = targets
}

// lookUp answers in place of the machine's resolver, which the driver asks through a
// variable of its package.
func (r *records) lookUp(t *testing.T) {
	t.Helper()
	before := *dns.DefaultResolver
	t.Cleanup(func() { *dns.DefaultResolver = before })
	dns.DefaultResolver.LookupTXT = func(string) ([]string, error) { return nil, nil }
	dns.DefaultResolver.LookupSRV = func(service, proto, name string) (string, []*net.SRV, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.targets) == 0 {
			return "", nil, &net.DNSError{Err: "no such host", Name: "_" + service + "._" + proto + "." + name, IsNotFound: true}
		}
		var out []*net.SRV
		for _, target := range r.targets {
			out = append(out, &net.SRV{Target: target + ".", Port: 27017})
		}
		return name, out, nil
	}
}

func TestServersOfASRVRecordAreFoundAndFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), simcluster.Options{Projects: 2, Documents: 10, Still: true}))
		defer func() { _ = sim.Close() }()
		var names records
		names.lookUp(t)
		uri := must.Get(cluster.ParseURI("mongodb+srv://db.example.com/?tls=false"))
		network := newHosts()
		c, err := cluster.Open(uri, cluster.Options{Dialer: network})
		must.Do(t, err)
		defer func() { _ = c.Close(context.Background()) }()

		if _, err := c.Shards(t.Context()); fault.Of(err) != fault.Unavailable ||
			!strings.Contains(fault.Text(err), "DNS knows no MongoDB servers of db.example.com") {
			t.Fatal(err)
		}
		network.lead("m1.example.com:27017", sim)
		names.set("m1.example.com")
		eventually(t, c, 15*time.Second)

		names.set("m2.example.com") // the driver asks every minute
		network.lead("m2.example.com:27017", sim)
		time.Sleep(2 * time.Minute)
		network.lead("m1.example.com:27017", nil)
		eventually(t, c, 15*time.Second)
		if e := c.Connection().Endpoints; len(e) != 1 || e[0].Address != "m2.example.com:27017" || !e[0].Up {
			t.Errorf("%+v", e)
		}
	})
}
