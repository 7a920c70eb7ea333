package rowsample_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/heat"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const documents = topology.Namespace("yorkie-meta.documents")

// onSim runs a test with a sampler of a simulated cluster whose sizes are known.
func onSim(t *testing.T, version string, docs int, test func(t *testing.T, s *rowsample.Sampler, log *simulated.Log)) {
	t.Helper()
	o := simcluster.Options{Still: true, Projects: 5, Documents: docs, ServerVersion: version}
	simulated.RunWatched(t, o, func(t *testing.T, c *simulated.Cluster) {
		sampler := rowsample.New(c.Client, c.Watcher, heat.NewBudget(0, nil), 0, nil)
		defer simulated.Start(t, sampler.Run)()
		test(t, sampler, &c.Log)
	})
}

// reads are the reads of rows that were sent so far.
func reads(log *simulated.Log) []simulated.Sent {
	return slices.DeleteFunc(log.All(), func(s simulated.Sent) bool {
		return s.Name != "aggregate" || !strings.Contains(s.Command.String(), "bsonSize")
	})
}

func ask(t *testing.T, s *rowsample.Sampler, q rowsample.Query) rowsample.Reading {
	t.Helper()
	r, err := s.Ask(t.Context(), q)
	must.Do(t, err)
	return r
}

func TestSmallCollectionIsReadAsAWhole(t *testing.T) {
	onSim(t, "5.0", 300, func(t *testing.T, s *rowsample.Sampler, log *simulated.Log) {
		q := rowsample.Query{NS: documents, Fields: []string{"project_id", "key"}, Rows: 200}
		r := ask(t, s, q)
		must.That(t, r.Result != nil && r.Result.Whole && len(r.Result.Rows) == 300 && r.Left == 0, "%+v", r)
		for _, row := range r.Result.Rows {
			elements, err := row.Doc.Elements()
			must.That(t, err == nil && row.Bytes >= 50, "%s of %d bytes", row.Doc, row.Bytes)
			for _, e := range elements {
				if !slices.Contains([]string{"_id", "project_id", "key", "__shardboard_bytes"}, e.Key()) {
					t.Fatalf("the field %q was read", e.Key())
				}
			}
		}
		if !slices.ContainsFunc(r.Result.Unique, func(x []string) bool { return slices.Equal(x, []string{"project_id", "key", "removed_at"}) }) {
			t.Errorf("unique indexes %v", r.Result.Unique)
		}
		for _, sent := range reads(log) {
			cmd := sent.Command
			if mode, _ := cmd.Lookup("$readPreference", "mode").StringValueOK(); mode != "secondaryPreferred" {
				t.Errorf("read with the preference %q", mode)
			}
			if ms, ok := cmd.Lookup("maxTimeMS").AsInt64OK(); !ok || ms <= 0 {
				t.Error("read without maxTimeMS")
			}
		}
		n := len(reads(log))
		if again := ask(t, s, q); n == 0 || len(reads(log)) != n || again.Result != r.Result {
			t.Errorf("%d reads, %d after asking again", n, len(reads(log)))
		}
	})
}

func TestLargeCollectionIsSampledWithinTheBudgetWhileSomebodyAsks(t *testing.T) {
	onSim(t, "5.0", 20_000, func(t *testing.T, s *rowsample.Sampler, log *simulated.Log) {
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
		read, most := log.Documents(began), int(time.Since(began).Seconds()*heat.PerSecond)+10*heat.PerSecond
		if len(seen) != 5000 || read > most {
			t.Errorf("%d different rows; %d documents were read, at most %d may be", len(seen), read, most)
		}

		log.Take()
		began = time.Now()
		q = rowsample.Query{NS: documents, Rows: 9000}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		must.That(t, must.Err(s.Ask(ctx, q)) != nil, "the request was answered although it was cancelled")
		time.Sleep(30 * time.Second)
		n := log.Documents(began)
		time.Sleep(time.Minute)
		if later := log.Documents(began); n == 0 || n >= 9000 || later > n {
			t.Errorf("%d documents were read in half a minute, %d later", n, later)
		}
		if r := ask(t, s, q); r.Err != nil || r.Done == 0 {
			t.Errorf("asked again: %+v", r)
		}
	})
}

func TestServerAnalyzesKeysFrom70OnAndQueriesHaveLimits(t *testing.T) {
	for version, want := range map[string]bool{"5.0": false, "7.0": true} {
		onSim(t, version, 300, func(t *testing.T, s *rowsample.Sampler, _ *simulated.Log) {
			r := ask(t, s, rowsample.Query{NS: documents, Rows: 200, Keys: []shardkey.Pattern{routing.Pattern("project_id")}})
			must.That(t, r.Result != nil && len(r.Result.Analyses) == 1, "%s: %+v", version, r)
			if a := r.Result.Analyses[0]; (a.Reason == "") != want || want && (a.Values != 5 || a.Rows != 300 || a.Common == 0) {
				t.Errorf("%s: %+v", version, a)
			}
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
}
