package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/cluster"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/mongodb"
	"shardboard/internal/topology"
)

// replicas are two servers over one simulated cluster, with another one as their store.
type replicas struct {
	*testing.T
	demo  *demo
	store string // address of the simulated cluster that is the store
	audit string
	with  func(*Config) // changes the configuration of both
	a, b  *replica      // a leads first
}

// replica is one of the servers. Its connections to the store can be cut.
type replica struct {
	apiClient
	prefix string // of the API of the cluster
	app    *App
	net    *cuttable
}

// cuttable dials, and can be cut.
type cuttable struct {
	net.Dialer
	mu    sync.Mutex
	isCut bool
	open  []net.Conn
}

func (d *cuttable) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	cut := d.isCut
	d.mu.Unlock()
	if cut {
		return nil, io.ErrClosedPipe
	}
	c, err := d.Dialer.DialContext(ctx, network, address)
	if err == nil {
		d.mu.Lock()
		d.open = append(d.open, c)
		d.mu.Unlock()
	}
	return c, err
}

func (d *cuttable) cut(cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isCut = cut
	for _, c := range d.open {
		_ = c.Close()
	}
	d.open = nil
}

// testLease is short, so that a test needs not wait for long until another replica leads.
const testLease = 1500 * time.Millisecond

func startReplicas(t *testing.T) *replicas {
	t.Helper()
	return startReplicasWith(t, func(*Config) {})
}

func startReplicasWith(t *testing.T, with func(*Config)) *replicas {
	t.Helper()
	d := &demo{addr: "127.0.0.1:0"}
	d.restartCluster(t, quietCluster())
	t.Cleanup(func() { d.stopCluster(t) })
	kept := &demo{addr: "127.0.0.1:0"}
	kept.restartCluster(t, simcluster.Options{Empty: true, Still: true})
	t.Cleanup(func() { kept.stopCluster(t) })
	uri, err := cluster.ParseURI("mongodb://" + d.addr + "/?directConnection=true")
	if err != nil {
		t.Fatal(err)
	}
	d.config = Config{URI: uri, Log: slog.New(slog.DiscardHandler)}
	r := &replicas{T: t, demo: d, with: with, audit: t.TempDir() + "/audit.key",
		store: "mongodb://" + kept.addr + "/shardboard?directConnection=true"}
	r.a = r.start()
	r.b = r.start()
	if !r.a.leads() || r.b.leads() {
		t.Fatal("the first replica does not lead")
	}
	return r
}

func (r *replicas) start() *replica {
	r.Helper()
	at, err := ReadStore(r.store, "")
	if err != nil {
		r.Fatal(err)
	}
	n := &cuttable{}
	c := Config{URI: r.demo.config.URI, Listen: "127.0.0.1:0", AuditKey: r.audit, Actions: true, Store: at, Watcher: topology.Options{},
		StoreOptions: mongodb.Options{Dialer: n, Lease: testLease, Timeout: 2 * time.Second}, Auth: Auth{Mode: "none"}}
	r.with(&c)
	a := r.demo.startBeside(r.T, c)
	s := &replica{apiClient{T: r.T, at: strings.TrimSuffix(a.URL(), "/")}, api.Prefix, a, n}
	if !eventually(30*time.Second, func() bool { return statusOf(r.T, http.DefaultClient, s.at+"/readyz") == http.StatusOK }) {
		r.Fatal("not ready after 30 s")
	}
	return s
}

func (s *replica) leads() bool { return s.app.current().store.Leads() }

// plan makes a plan and returns its id and hash.
func (s *replica) plan(body string) (id, confirm string) {
	s.Helper()
	p := s.expect(http.StatusCreated, "POST", s.prefix+"/plans", body)
	id, _ = p["id"].(string)
	hash, _ := p["hash"].(string)
	return id, `{"hash":"` + hash + `"}`
}

func (s *replica) waitForRun(id string) answer {
	s.Helper()
	var got answer
	if !eventually(20*time.Second, func() bool {
		got = s.expect(http.StatusOK, "GET", s.prefix+"/runs/"+id, "")
		return got["open"] == false
	}) {
		s.Fatalf("the run has not ended: %v", got)
	}
	return got
}

// verifyAudit checks that what all replicas wrote is one unbroken record.
func (r *replicas) verifyAudit(s *replica) {
	r.Helper()
	if rep, err := audit.Verify(audit.Records(r.Context(), s.app.current().store, 0), audit.Expect{}); err != nil || rep.Break != nil {
		r.Errorf("the audit record: %+v, %v", rep, err)
	}
}

// What people ask at the replica that follows is done by the one that leads, and answered as if it had
// been asked there. When the leader is lost, the other one leads, and the pages stay.
func TestTwoReplicasServeTheSame(t *testing.T) {
	r := startReplicas(t)
	id, confirm := r.b.plan(`{"kind":"balancer-on","args":{},"reason":"a test"}`)
	refused := r.b.expect(http.StatusConflict, "POST", api.Prefix+"/plans/"+id+"/run", `{"hash":"another"}`)
	same := r.a.expect(http.StatusConflict, "POST", api.Prefix+"/plans/"+id+"/run", `{"hash":"another"}`)
	if !reflect.DeepEqual(refused, same) || refused["changed"] == nil {
		t.Errorf("the follower refuses with %v, the leader with %v", refused, same)
	}
	run := r.b.expect(http.StatusAccepted, "POST", api.Prefix+"/plans/"+id+"/run", confirm)
	runID, _ := run["id"].(string)
	if got := r.b.waitForRun(runID); got["state"] != "succeeded" {
		t.Errorf("the run is %v", got)
	}
	if again := r.b.expect(http.StatusOK, "POST", api.Prefix+"/plans/"+id+"/run", confirm); again["id"] != runID {
		t.Errorf("it ran again: %v", again)
	}

	table := r.b.app.Watcher().Table()
	r.a.net.cut(true)
	if !eventually(15*time.Second, r.b.leads) {
		t.Fatal("nobody leads")
	}
	if r.a.leads() {
		t.Error("two replicas lead")
	}
	if r.b.app.Watcher().Table() != table && r.b.app.Watcher().Table().Seq < table.Seq {
		t.Error("the routing table was loaded again")
	}
	id, confirm = r.b.plan(`{"kind":"balancer-off","args":{},"reason":"a test"}`)
	run = r.b.expect(http.StatusAccepted, "POST", api.Prefix+"/plans/"+id+"/run", confirm)
	runID, _ = run["id"].(string)
	if got := r.b.waitForRun(runID); got["state"] != "succeeded" {
		t.Errorf("the run at the new leader is %v", got)
	}
	if code := statusOf(t, http.DefaultClient, r.a.at+"/"); code != http.StatusOK {
		t.Errorf("the start page without a store: %d", code)
	}
	r.a.net.cut(false)
	if !eventually(15*time.Second, func() bool { return r.a.app.current().db.Condition().Hold == store.Owned }) {
		t.Fatal("the former leader does not find the store again")
	}
	if got := r.a.expect(http.StatusOK, "GET", api.Prefix+"/runs/"+runID, ""); got["state"] != "succeeded" {
		t.Errorf("the former leader shows %v", got)
	}
	if r.a.leads() || !r.b.leads() {
		t.Error("the lead went back by itself")
	}
	r.verifyAudit(r.a)
}
