package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// afterTests ends what tests share; TestMain calls it, the last first.
var afterTests []func()

// demo is a running dashboard over a running simulated cluster, as started by
// `shardboard demo`, with a separate driver.
type demo struct {
	sim    *simcluster.Cluster
	addr   string // of the simulated cluster
	served chan error
	config Config
	app    *App
	driver *mongo.Client
}

func startDemo(t testing.TB, o simcluster.Options, w topology.Options) *demo {
	t.Helper()
	return startDemoOver(t, o, w, nil, nil)
}

// startDemoOver is startDemo with another profile than Yorkie's, over a cluster
// populated by fill.
func startDemoOver(t testing.TB, o simcluster.Options, w topology.Options, p *profile.Profile, fill func(*mongo.Client)) *demo {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	d := &demo{addr: "127.0.0.1:0"}
	d.restartCluster(t, o)
	t.Cleanup(func() { d.stopCluster(t) })
	uri := "mongodb://" + d.addr + "/?directConnection=true"
	parsed := must.Get(cluster.ParseURI(uri))
	driver := must.Get(mongo.Connect(options.Client().ApplyURI(uri)))
	t.Cleanup(func() { _ = driver.Disconnect(context.Background()) })
	if fill != nil {
		fill(driver)
	}
	d.driver = driver
	d.config = Config{URI: parsed, Listen: "127.0.0.1:0", Demo: true, Version: "test", Log: log, Watcher: w, Profile: p,
		Auth: Auth{Mode: "none"}}
	d.serve(t)
	d.config.Listen = d.app.Addr()
	d.waitReady(t)
	return d
}

// stillDemo is the demo of tests that change neither its cluster nor its server, but may start servers beside it. It
// lives until the last test has ended.
var stillDemo = sync.OnceValue(func() *demo { return startDemo(packageTB{}, quietCluster(), topology.Options{}) })

// packageTB is what demos of several tests are started with: they end after the last test.
type packageTB struct{ testing.TB }

func (packageTB) Helper()                   {}
func (packageTB) Context() context.Context  { return context.Background() }
func (packageTB) Cleanup(end func())        { afterTests = append(afterTests, end) }
func (packageTB) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (packageTB) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (packageTB) Error(args ...any)         { panic(fmt.Sprint(args...)) }
func (packageTB) Errorf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// serve starts the dashboard; stop stops it. It ends at the latest before the folders are removed that the test made
// for it, into which it writes until then.
func (d *demo) serve(t testing.TB) {
	t.Helper()
	a, err := New(t.Context(), d.config)
	must.Do(t, err)
	a.Start()
	d.app = a
	t.Cleanup(func() { stopApp(t, a) })
}

func (d *demo) stop(t testing.TB) {
	t.Helper()
	stopApp(t, d.app)
}

func stopApp(t testing.TB, a *App) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	expect.NoError(t, a.Stop(ctx), "Stop")
}

// restartCluster starts a simulated cluster at the demo's address.
func (d *demo) restartCluster(t testing.TB, o simcluster.Options) {
	t.Helper()
	sim := must.Get(simcluster.New(t.Context(), o))
	l := must.Get(net.Listen("tcp", d.addr))
	sim.Start(t.Context())
	d.sim, d.addr, d.served = sim, l.Addr().String(), make(chan error, 1)
	go func() { d.served <- sim.Serve(l) }()
}

// stopCluster stops the simulated cluster.
func (d *demo) stopCluster(t testing.TB) {
	t.Helper()
	expect.NoError(t, d.sim.Close(), "Close")
	<-d.served
}

// waitForTable waits for a table, using the notifications of the watcher.
func (d *demo) waitForTable(t testing.TB, what string, is func(*topology.Table) bool) {
	t.Helper()
	table, changed, stop := d.app.Watcher().Subscribe()
	defer stop()
	late := time.After(settledWithin)
	for !is(table) {
		select {
		case <-changed:
			table = d.app.Watcher().Table()
		case <-late:
			t.Fatalf("waited %s for %s: %+v", settledWithin, what, table.Health[topology.PartRouting])
		}
	}
}

// waitReady waits until the table is loaded and /readyz succeeds.
func (d *demo) waitReady(t testing.TB) {
	t.Helper()
	if !eventually(settledWithin, func() bool {
		res, err := http.Get(d.app.URL() + "readyz?cluster=required")
		must.Do(t, err)
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	}) {
		t.Fatal("not ready after ", settledWithin)
	}
}

// get requests a path and returns status, headers and body.
func (d *demo) get(t testing.TB, path string) (*http.Response, []byte) {
	t.Helper()
	res, err := http.Get(d.app.URL() + path)
	must.Do(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must.Do(t, err)
	return res, body
}

// getJSON requests a path, which must return 200 and JSON.
func (d *demo) getJSON(t testing.TB, path string, into any) {
	t.Helper()
	res, body := d.get(t, path)
	must.That(t, res.StatusCode == http.StatusOK, "GET /%s: %s\n%s", path, res.Status, body)
	err := json.Unmarshal(body, into)
	must.That(t, err == nil, "GET /%s: %v\n%s", path, err, body)
}

// admin runs an admin command with the separate driver.
func (d *demo) admin(t testing.TB, cmd bson.D) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := d.driver.Database("admin").RunCommand(ctx, cmd).Err()
	must.That(t, err == nil, "%v: unexpected error: %v", cmd, err)
}

// quietCluster is a small data set in which nothing moves by itself.
func quietCluster() simcluster.Options {
	return simcluster.Options{Projects: 12, Documents: 300, Still: true}
}
