package app

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	answers "shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/keyfile"
	"shardboard/internal/store/mongodb"
	"shardboard/internal/topology"
)

// replicas are two servers over one simulated cluster, with another one as their store.
type replicas struct {
	*testing.T
	demo  *demo
	store string // address of the simulated cluster that is the store
	audit string
	seal  string        // file of the session key
	with  func(*Config) // changes the configuration of both
	base  string        // of the cluster, as "/c/prod"; "" of the only one
	a, b  *replica      // a leads first
}

// replica is one of the servers. Its connections to the store can be cut.
type replica struct {
	apiClient // of the API of the cluster
	url       string
	app       *App
	net       *cuttable
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

// testLease is long enough for a busy machine, where a leader cannot renew it for seconds. A replica that follows looks
// every tenth of it whether the leader has stopped.
const testLease = 5 * time.Second

func startReplicas(t *testing.T) *replicas {
	t.Helper()
	return startReplicasBelow(t, "", func(*Config) {})
}

func startReplicasBelow(t *testing.T, base string, with func(*Config)) *replicas {
	t.Helper()
	d := &demo{addr: "127.0.0.1:0"}
	d.restartCluster(t, quietCluster())
	t.Cleanup(func() { d.stopCluster(t) })
	kept := &demo{addr: "127.0.0.1:0"}
	kept.restartCluster(t, simcluster.Options{Empty: true, Still: true})
	t.Cleanup(func() { kept.stopCluster(t) })
	uri := must.Get(cluster.ParseURI("mongodb://" + d.addr + "/?directConnection=true"))
	d.config = Config{URI: uri, Log: slog.New(slog.DiscardHandler)}
	r := &replicas{T: t, demo: d, with: with, base: base, audit: t.TempDir() + "/audit.key", seal: t.TempDir() + "/session.key",
		store: "mongodb://" + kept.addr + "/shardboard?directConnection=true"}
	must.Do(t, must.Err(keyfile.Sessions.Open(r.seal, "")))
	r.a = r.start()
	r.b = r.start()
	must.That(t, r.a.leads() && !r.b.leads(), "the first replica does not lead")
	return r
}

func (r *replicas) start() *replica {
	r.Helper()
	at, err := ReadStore(r.store, "")
	must.Do(r, err)
	n := &cuttable{}
	c := Config{URI: r.demo.config.URI, Listen: "127.0.0.1:0", AuditKey: r.audit, SessionKey: r.seal, Actions: true, Store: at,
		Watcher:      topology.Options{},
		StoreOptions: mongodb.Options{Dialer: n, Lease: testLease, Timeout: 10 * time.Second}, Auth: Auth{Mode: "none"}}
	r.with(&c)
	a := r.demo.startBeside(r.T, c)
	s := &replica{apiClient{T: r.T, at: strings.TrimSuffix(a.URL(), "/") + r.base + api.Prefix}, a.URL(), a, n}
	must.That(r, eventually(settledWithin, func() bool { return statusOf(r.T, http.DefaultClient, s.url+"readyz") == http.StatusOK }),
		"not ready")
	return s
}

func (s *replica) leads() bool { return s.app.current().store.Leads() }

// verifyAudit checks that what all replicas wrote is one unbroken record.
func (r *replicas) verifyAudit(s *replica) {
	r.Helper()
	rep, err := audit.Verify(audit.Records(r.Context(), s.app.current().store, 0), audit.Expect{})
	expect.That(r, err == nil && rep.Break == nil, "the audit record: %+v, %v", rep, err)
}

// startBatch starts a batch whose second move waits for an hour, and returns the address of its run.
func (s *replica) startBatch() string {
	s.Helper()
	const ns = "yorkie-meta.changes"
	table := s.app.Watcher().Table()
	c, shards := table.Collection(ns), table.Shards
	var items []string
	for i := range 2 {
		ch, to := c.Chunks.At(i), shards[0].Name
		if ch.Shard == to {
			to = shards[1].Name
		}
		items = append(items, `{"kind":"move","args":{"ns":"`+ns+`","chunk":"`+answers.ChunkRef(c, ch.Min)+`","to":"`+to+`"}}`)
	}
	p := s.plan("batch", `{"chunksPerHour":1,"plans":[`+strings.Join(items, ",")+`]}`)
	confirm, _ := json.Marshal(p["confirm"]) // a string or null
	return "/runs/" + s.run(http.StatusAccepted, p, `,"confirm":`+string(confirm))["id"].(string)
}

// What people ask at the replica that follows is done by the one that leads, and answered as if it had
// been asked there; a batch is paused and resumed there too. When the leader stops, the other one leads,
// goes on with the batch as it was, and the pages stay.
func TestTwoReplicasServeTheSame(t *testing.T) {
	r := startReplicas(t)
	p := r.b.plan("balancer-on", `{}`)
	another := answer{"id": p["id"], "hash": "another"}
	refused, same := r.b.run(http.StatusConflict, another, ""), r.a.run(http.StatusConflict, another, "")
	delete(refused, "request") // each has an id of its own
	delete(same, "request")
	expect.That(t, refused["changed"] != nil && reflect.DeepEqual(refused, same),
		"the follower refuses with %v, the leader with %v", refused, same)
	run := r.b.run(http.StatusAccepted, p, "")
	got := r.b.waitForRun(run)
	expect.That(t, got["state"] == "succeeded", "the run is %v", got)
	again := r.b.run(http.StatusOK, p, "")
	expect.That(t, again["id"] == run["id"], "it ran again: %v", again)
	batch := r.b.startBatch()
	batchOf := func(got answer) api.RunBatch { return as[api.RunBatch](t, got["batch"]) }
	read := func() api.RunBatch { return batchOf(r.b.expect(http.StatusOK, "GET", batch, "")) }
	must.That(t, eventually(settledWithin, func() bool { b := read(); return b.Done == 1 && b.Waits != "" }), "%+v", read())
	for _, do := range []string{"pause", "resume", "pause"} {
		b := batchOf(r.b.expect(http.StatusOK, "POST", batch+"/"+do, ""))
		expect.Equal(t, b.Paused, do == "pause", "%s: %+v", do, b)
	}
	undecided := r.b.expect(http.StatusConflict, "POST", batch+"/resume", `{"item":2,"do":"skip"}`)
	expect.Equal(t, undecided["detail"], "Item 2 does not wait for a decision.", "%v", undecided)

	table := r.b.app.Watcher().Table()
	must.Do(t, r.a.app.Stop(t.Context()))
	must.That(t, eventually(settledWithin, r.b.leads), "nobody leads")
	expect.That(t, r.b.app.Watcher().Table().Seq >= table.Seq, "the routing table was loaded again")
	must.That(t, eventually(settledWithin, func() bool { code, _ := r.b.send("POST", batch+"/resume", ""); return code == http.StatusOK }),
		"the new leader does not resume the batch")
	b := read()
	expect.That(t, !b.Paused && b.Done == 1, "%+v", b)
	r.b.expect(http.StatusOK, "POST", batch+"/stop", "")
	got = r.b.waitForRun(answer{"id": strings.TrimPrefix(batch, "/runs/")})
	expect.That(t, got["state"] == "stopped" && batchOf(got).Done == 1, "%v", got)
	next := r.start()
	got = next.waitForRun(run)
	expect.That(t, got["state"] == "succeeded", "the next replica shows %v", got)
	expect.That(t, !next.leads() && r.b.leads(), "a replica that has just started leads")
	r.verifyAudit(next)
}
