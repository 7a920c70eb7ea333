package rowsample_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const documents = topology.Namespace("yorkie-meta.documents")

// commands counts what is sent for the database of the rows, and the rows that come back.
type commands struct {
	mu        sync.Mutex
	started   []bson.Raw
	documents int
}

func (c *commands) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if e.CommandName == "aggregate" && strings.Contains(e.Command.String(), "bsonSize") {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.started = append(c.started, slices.Clone(e.Command))
			}
		},
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			if e.DatabaseName != documents.Database() || e.CommandName != "aggregate" && e.CommandName != "getMore" {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, name := range []string{"firstBatch", "nextBatch"} {
				if list, ok := e.Reply.Lookup("cursor", name).ArrayOK(); ok {
					rows, _ := list.Values()
					c.documents += len(rows)
				}
			}
		},
	}
}

// rows is how many came back so far.
func (c *commands) rows() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.documents
}

// reads are the commands that were sent so far.
func (c *commands) reads() []bson.Raw {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.started)
}

// onSim runs a test with a sampler of a simulated cluster whose sizes are known.
func onSim(t *testing.T, version string, docs int, test func(t *testing.T, s *rowsample.Sampler, sent *commands)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), simcluster.Options{Still: true, Projects: 5, Documents: docs, ServerVersion: version})
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		sent := &commands{}
		client, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: sent.monitor()})
		must.Do(t, err)
		defer func() { _ = client.Close(context.Background()) }()
		watcher := topology.NewWatcher(client, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer func() { cancel(); all.Wait() }()
		all.Go(func() { _ = watcher.Run(ctx) })
		time.Sleep(70 * time.Second) // until the sizes of all collections are read
		sampler := rowsample.New(client, watcher, heat.NewBudget(0, nil), 0, nil)
		all.Go(func() { _ = sampler.Run(ctx) })
		sent.mu.Lock()
		sent.started, sent.documents = nil, 0
		sent.mu.Unlock()
		test(t, sampler, sent)
	})
}

func ask(t *testing.T, s *rowsample.Sampler, q rowsample.Query) rowsample.Reading {
	t.Helper()
	r, err := s.Ask(t.Context(), q)
	must.Do(t, err)
	return r
}

func TestSmallCollectionIsReadAsAWhole(t *testing.T) {
	onSim(t, "5.0", 300, func(t *testing.T, s *rowsample.Sampler, sent *commands) {
		q := rowsample.Query{NS: documents, Fields: []string{"project_id", "key"}, Rows: 200}
		r := ask(t, s, q)
		if r.Result == nil || !r.Result.Whole || len(r.Result.Rows) != 300 || r.Left != 0 {
			t.Fatalf("%+v", r)
		}
		for _, row := range r.Result.Rows {
			elements, err := row.Doc.Elements()
			if err != nil || row.Bytes < 50 {
				t.Fatalf("%s of %d bytes", row.Doc, row.Bytes)
			}
			for _, e := range elements {
				if !slices.Contains([]string{"_id", "project_id", "key", "__shardboard_bytes"}, e.Key()) {
					t.Fatalf("the field %q was read", e.Key())
				}
			}
		}
		if !slices.ContainsFunc(r.Result.Unique, func(x []string) bool { return slices.Equal(x, []string{"project_id", "key", "removed_at"}) }) {
			t.Errorf("unique indexes %v", r.Result.Unique)
		}
		for _, cmd := range sent.reads() {
			if mode, _ := cmd.Lookup("$readPreference", "mode").StringValueOK(); mode != "secondaryPreferred" {
				t.Errorf("read with the preference %q", mode)
			}
			if ms, ok := cmd.Lookup("maxTimeMS").AsInt64OK(); !ok || ms <= 0 {
				t.Error("read without maxTimeMS")
			}
		}
		n := len(sent.reads())
		if again := ask(t, s, q); n == 0 || len(sent.reads()) != n || again.Result != r.Result {
			t.Errorf("%d reads, %d after asking again", n, len(sent.reads()))
		}
	})
}

func TestLargeCollectionIsSampledWithinTheBudget(t *testing.T) {
	onSim(t, "5.0", 20_000, func(t *testing.T, s *rowsample.Sampler, sent *commands) {
		began := time.Now()
		q := rowsample.Query{NS: documents, Fields: []string{"project_id"}, Rows: 5000}
		r := ask(t, s, q)
		if r.Result != nil || r.Done == 0 || r.Left <= 0 || r.Left > 30*time.Second || r.Total != 5000 {
			t.Fatalf("after three seconds: %+v", r)
		}
		for r.Result == nil && r.Err == nil {
			time.Sleep(time.Second)
			r = ask(t, s, q)
		}
		if r.Err != nil || r.Result.Whole || len(r.Result.Rows) != 5000 || r.Result.Total.Value != 20_000 {
			t.Fatalf("%v, %+v", r.Err, r.Result)
		}
		seen := map[bson.ObjectID]bool{}
		for _, row := range r.Result.Rows {
			seen[row.Doc.Lookup("_id").ObjectID()] = true
		}
		// A budget of 200 a second, of which ten seconds are saved up.
		if most := int(time.Since(began).Seconds()*heat.PerSecond) + 10*heat.PerSecond; len(seen) != 5000 || sent.rows() > most {
			t.Errorf("%d different rows; %d documents were read, at most %d may be", len(seen), sent.rows(), most)
		}
	})
}

func TestReadingStopsWhenNobodyAsks(t *testing.T) {
	onSim(t, "5.0", 20_000, func(t *testing.T, s *rowsample.Sampler, sent *commands) {
		q := rowsample.Query{NS: documents, Rows: 9000}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Ask(ctx, q); err == nil {
			t.Fatal("the request was answered although it was cancelled")
		}
		time.Sleep(30 * time.Second)
		n := sent.rows()
		time.Sleep(time.Minute)
		if n == 0 || n >= 9000 || sent.rows() > n+100 { // the watcher reads some sizes
			t.Errorf("%d documents were read in half a minute, %d later", n, sent.rows())
		}
		if r := ask(t, s, q); r.Err != nil || r.Done == 0 {
			t.Errorf("asked again: %+v", r)
		}
	})
}

func TestServerAnalyzesKeysFrom70On(t *testing.T) {
	raw := must.Get(bson.Marshal(bson.D{{Key: "project_id", Value: 1}}))
	key := must.Get(shardkey.ParsePattern(raw))
	for version, want := range map[string]bool{"5.0": false, "7.0": true} {
		onSim(t, version, 300, func(t *testing.T, s *rowsample.Sampler, _ *commands) {
			r := ask(t, s, rowsample.Query{NS: documents, Rows: 200, Keys: []shardkey.Pattern{key}})
			if r.Result == nil || len(r.Result.Analyses) != 1 {
				t.Fatalf("%s: %+v", version, r)
			}
			if a := r.Result.Analyses[0]; (a.Reason == "") != want || want && (a.Values != 5 || a.Rows != 300 || a.Common == 0) {
				t.Errorf("%s: %+v", version, a)
			}
		})
	}
}

func TestQueriesHaveLimits(t *testing.T) {
	onSim(t, "5.0", 10, func(t *testing.T, s *rowsample.Sampler, _ *commands) {
		for want, q := range map[string]rowsample.Query{
			"rows must be": {NS: documents, Rows: rowsample.MostRows + 1},
			"24":           {NS: documents, Rows: 100, Fields: make([]string, 25)},
		} {
			if _, err := s.Ask(t.Context(), q); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), want) {
				t.Errorf("got %v, expected %q", err, want)
			}
		}
		if r := ask(t, s, rowsample.Query{NS: "yorkie-meta.missing", Rows: 100}); r.Err != nil || r.Result == nil || len(r.Result.Rows) != 0 {
			t.Errorf("a collection that does not exist: %+v", r)
		}
	})
}
