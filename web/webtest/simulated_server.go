package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// SimulatedServer is the site over the real engine, the real driver and a simulated cluster with the
// collection app.users: shard key {p: 1}, chunks at 0, 10 and 20, all on shard-rs-1.
type SimulatedServer struct {
	*Server
	*testing.T
	Sim     *simcluster.Cluster
	Watcher *topology.Watcher
	Keeper  *placement.Keeper
	Engine  *engine.Engine
}

// OnSimulatedCluster runs a test with simulated time (testing/synctest).
// The engine's options may be changed.
func OnSimulatedCluster(t *testing.T, test func(c *SimulatedServer), change ...func(*engine.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &SimulatedServer{T: t}
		var err error
		c.Sim, err = simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true})
		c.Must(err)
		defer func() { _ = c.Sim.Close() }()
		c.Sim.Start(t.Context())
		c.Admin(bson.D{{Key: "enableSharding", Value: "app"}, {Key: "primaryShard", Value: "shard-rs-1"}})
		c.Admin(bson.D{{Key: "shardCollection", Value: "app.users"}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
		for _, at := range []int{0, 10, 20} {
			c.Admin(bson.D{{Key: "split", Value: "app.users"}, {Key: "middle", Value: bson.D{{Key: "p", Value: at}}}})
		}
		uri, err := cluster.ParseURI(simcluster.URI())
		c.Must(err)
		client, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: c.Sim})
		c.Must(err)
		defer func() { _ = client.Close(context.Background()) }()
		db, err := sqlite.Open(t.Context(), t.TempDir())
		c.Must(err)
		defer func() { _ = db.Close() }()
		c.Watcher = topology.NewWatcher(client, topology.Options{})
		_, err = c.Watcher.Load(t.Context())
		c.Must(err)
		keeper := placement.NewKeeper(client, c.Watcher, profile.Yorkie(), nil)
		o := engine.Options{Admin: client, Reader: client, Journal: db, Audit: db,
			Tables: c.Watcher, Directory: keeper, Profile: profile.Yorkie()}
		for _, f := range change {
			f(&o)
		}
		e := engine.New(o)
		c.Keeper, c.Engine = keeper, e
		ctx, end := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		defer func() {
			end()
			c.Must(<-served)
		}()
		c.Server = New(t, WithPeople, WithActions(e), func(d *site.Deps) {
			d.Now, d.Cluster.Watcher, d.Cluster.Keeper = time.Now, c.Watcher, keeper
		})
		test(c)
	})
}

// Must fails the test on an error.
func (c *SimulatedServer) Must(err error) {
	c.Helper()
	must.Do(c.T, err)
}

// Admin runs a command as another administrator would, past shardboard.
func (c *SimulatedServer) Admin(cmd bson.D) {
	c.Helper()
	_, err := c.Sim.Command(context.Background(), "admin", cmd)
	c.Must(err)
}

// Sent counts the commands of shardboard that change the cluster.
func (c *SimulatedServer) Sent() int { return len(c.Sim.Faults().Seen()) }

// Post sends JSON as an operator of that name.
func (c *SimulatedServer) Post(who, path, text string) *httptest.ResponseRecorder {
	return c.Do("POST", path, As(who, auth.Operator), Body(text), Header("Content-Type", "application/json"))
}

// Plan makes a plan by the API from its JSON.
func (c *SimulatedServer) Plan(who, text string) api.Plan {
	c.Helper()
	w := c.Post(who, "/api/v1/plans", text)
	var p api.Plan
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusCreated {
		c.Fatalf("plan: %d %s", w.Code, w.Body)
	}
	return p
}

// Problem checks that a request was refused with a status and a sentence, and returns the answer.
func (c *SimulatedServer) Problem(w *httptest.ResponseRecorder, status int, says string) api.Problem {
	c.Helper()
	var p api.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != api.ProblemType {
		c.Fatalf("no problem: %d %s", w.Code, w.Body)
	}
	if w.Code != status || p.Status != status || !strings.Contains(p.Detail, says) {
		c.Errorf("%d %q, want %d with %q", w.Code, p.Detail, status, says) // the sentence names the case
	}
	return p
}

// Ended polls a run by the API until it has ended.
func (c *SimulatedServer) Ended(id string) api.Run {
	c.Helper()
	for range 600 {
		r := Decode[api.Run](c.T, c.Do("GET", "/api/v1/runs/"+id, As("anna", auth.Viewer)))
		if !r.Open {
			return r
		}
		time.Sleep(time.Second)
	}
	c.Fatal("the run does not end")
	return api.Run{}
}

// SplitAt is the JSON of a plan to split changes at a hash. Each hash is another plan.
func SplitAt(hash int) string {
	return fmt.Sprintf(`{"kind":"split","args":{"ns":"yorkie-meta.changes","at":{"doc_id":{"$numberLong":"%d"}}},"reason":"a test"}`, hash)
}
