package placement_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
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
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// findRecorder keeps every find that the driver sends.
type findRecorder struct {
	mu    sync.Mutex
	finds []bson.Raw
}

func (s *findRecorder) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if e.CommandName == "find" {
			s.finds = append(s.finds, append(bson.Raw{}, e.Command...))
		}
	}}
}

func (s *findRecorder) take() []bson.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.finds
	s.finds = nil
	return out
}

// fixture is a locator on a simulated cluster in a synctest bubble.
type fixture struct {
	client  *cluster.Client
	sim     *simcluster.Cluster
	watcher *topology.Watcher
	keeper  *placement.Keeper
	sent    findRecorder
}

func onSim(t *testing.T, o simcluster.Options, test func(t *testing.T, r *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), o)
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		r := &fixture{sim: sim}
		r.client, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: r.sent.monitor()})
		must.Do(t, err)
		defer func() { _ = r.client.Close(context.Background()) }()
		r.watcher = topology.NewWatcher(r.client, topology.Options{})
		table, err := r.watcher.Load(t.Context())
		must.Do(t, err)
		prof := profile.Yorkie()
		r.keeper = placement.NewKeeper(r.client, r.watcher, prof, slog.New(slog.DiscardHandler))
		r.keeper.Poll(t.Context(), prof.Match(table))
		test(t, r)
	})
}

// twoProjects returns two projects whose documents are on different shards.
func (r *fixture) twoProjects(t *testing.T) (a, b placement.Project) {
	t.Helper()
	c := r.watcher.Table().Collection("yorkie-meta.documents")
	owner := func(p placement.Project) string {
		shard, err := placement.Owner(c, placement.ObjectIDValue(p.ID))
		must.Do(t, err)
		return shard
	}
	all := r.keeper.Directory().All()
	for _, p := range all[1:] {
		if owner(p) != owner(all[0]) {
			return all[0], p
		}
	}
	t.Fatal("every project is on one shard")
	return a, b
}

func TestDuplicateIDOnTwoShardsIsFoundThroughMongos(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 1500, Still: true}, func(t *testing.T, r *fixture) {
		a, b := r.twoProjects(t)
		id := bson.NewObjectID()
		for i, p := range []placement.Project{a, b} {
			_, err := r.sim.Command(t.Context(), "yorkie-meta", bson.D{{Key: "insert", Value: "documents"}, {Key: "documents", Value: bson.A{
				bson.D{{Key: "_id", Value: id}, {Key: "project_id", Value: p.ID}, {Key: "key", Value: fmt.Sprintf("twice-%d", i)}}}}})
			must.Do(t, err)
		}
		prof := profile.Yorkie()
		d := placement.NewDuplicateCheck(r.client, r.watcher, r.keeper, prof, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- d.Run(ctx) }()
		defer func() { cancel(); must.Do(t, <-done) }()
		must.Do(t, d.Start(false, nil))
		time.Sleep(5 * time.Minute)
		report := d.Report()
		if report.State != placement.CheckDone || report.FoundCount != 1 || report.Found[0].ID != id || len(report.Found[0].Shards()) != 2 {
			t.Fatalf("%s %s, %d found: %+v", report.State, report.Problem, report.FoundCount, report.Found)
		}
		if read := report.Collections[0].Read; read < 1502 {
			t.Errorf("read %d documents, want at least 1502", read)
		}
		l := placement.NewLocator(r.client, r.watcher, r.keeper, prof)
		l.MarkShared(d)
		found, err := l.Ask(t.Context(), placement.Query{Text: id.Hex()})
		must.Do(t, err)
		if len(found.Items) != 2 || found.Cost.Broadcast == 0 {
			t.Fatalf("%d items, cost %+v, want len(found.Items) 2, found.Cost.Broadcast more than 0", len(found.Items), found.Cost)
		}
		for _, it := range found.Items {
			codes := ""
			for _, n := range it.Notes {
				codes += n.Code + " "
			}
			if codes != "note.duplicateID note.sharedID " {
				t.Errorf(`%s: %s, want "note.duplicateID note.sharedID "`, it.Name, codes)
			}
		}
	})
}

// injectionAttempts are texts that try to be operators or patterns, for every part of a
// query.
func injectionAttempts() []string {
	parts := []string{
		`{"$gt":""}`,
		`{"$ne":null}`,
		`{"$regex":".*"}`,
		`/.*/`,
		`.*`,
		`^a`,
		`$where`,
		`{"$where":"sleep(1000)"}`,
		`a\b`,
		`'; return true; '`,
		`[$ne]=1`,
		`{"$oid":"x"}`,
		`{"$regularExpression":{"pattern":".*","options":""}}`,
		"\u202Ecba",
		"a\u2066b\u2069",
		"a\x00b",
		"\xff\xfe",
		"app\x00",
		"%00",
		"${jndi:x}",
		"<script>alert(1)</script>",
		`ObjectId("zz")`,
		`true`,
		`null`,
		`1e400`,
		`{"$code":"1"}`,
		`{"$minKey":1}`,
		`{"$undefined":true}`,
		`{"a":{"b":{"c":1}}}`,
		strings.Repeat("[", 500),
		strings.Repeat("x", 5000),
	}
	var out []string
	for _, p := range parts {
		out = append(out, p, "app/"+p, p+"/doc", "http://x/projects/app/documents/"+p, "http://x/projects/"+p+"/documents/k", "Document ("+p+")",
			" "+p+" ", "507f1f77bcf86cd799439011"+p, "507f1f77bcf86cd799439011."+p, `"`+p+`"`, "APP/"+p)
	}
	return out
}

func TestInputNeverBecomesAnOperatorOrRegex(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 5, Documents: 50, Still: true}, func(t *testing.T, r *fixture) {
		l := placement.NewLocator(r.client, r.watcher, r.keeper, profile.Yorkie())
		name := r.keeper.Directory().All()[0].Name
		asked, queries := 0, 0
		check := func(q placement.Query) {
			asked++
			r.sent.take()
			a, err := l.Ask(t.Context(), q)
			if err != nil {
				if k := fault.Of(err); k != fault.NotFound && k != fault.Invalid {
					t.Errorf("%+v: %v", q, err)
				}
				if text := fault.Text(err); strings.ContainsAny(text, "\x00\u202e") || len(text) < 20 || len(text) > 600 {
					t.Errorf("%+v: sentence %.100q", q, text)
				}
			}
			finds := r.sent.take()
			if len(finds) != a.Cost.Targeted+a.Cost.Broadcast {
				t.Errorf("%+v: %d queries were sent, the reported cost is %+v, want %v", q, len(finds), a.Cost, a.Cost.Targeted+a.Cost.Broadcast)
			}
			queries += len(finds)
			for _, f := range finds {
				if err := checkOnlyEquality(f); err != nil {
					t.Errorf("%+v: %v in %s", q, err, f)
				}
			}
		}
		for _, text := range injectionAttempts() {
			check(placement.Query{Text: text})
			check(placement.Query{Text: strings.ReplaceAll(strings.ReplaceAll(text, "APP", name), "app", name)})
			check(placement.Query{Text: text, Near: true})
			check(placement.Query{Text: text, In: placement.InProjects})
			check(placement.Query{Text: text, In: placement.InCollections})
			check(placement.Query{NS: "yorkie-meta.changes", Key: text})
			check(placement.Query{NS: "yorkie-meta.documents", Text: text})
			encoded := must.Get(json.Marshal(text))
			check(placement.Query{NS: "yorkie-meta.documents", Key: `{"project_id":` + string(encoded) + `}`})
		}
		if asked < 300 || queries < 50 {
			t.Errorf("only %d inputs and %d queries were tested", asked, queries)
		}
	})
}

// checkOnlyEquality returns an error if a filter has anything but {field: {$eq: value}} or
// {field: {$in: [values]}} with ids, text or numbers as values.
func checkOnlyEquality(find bson.Raw) error {
	elems, err := find.Lookup("filter").Document().Elements()
	if err != nil || len(elems) == 0 {
		return fmt.Errorf("filter: %w", err)
	}
	for _, e := range elems {
		doc, ok := e.Value().DocumentOK()
		if !ok || strings.HasPrefix(e.Key(), "$") {
			return fmt.Errorf("%s is not compared", e.Key())
		}
		ops, err := doc.Elements()
		if err != nil || len(ops) != 1 || ops[0].Key() != "$eq" && ops[0].Key() != "$in" {
			return fmt.Errorf("%s is compared by %s", e.Key(), doc)
		}
		values := []bson.RawValue{ops[0].Value()}
		if ops[0].Key() == "$in" {
			if values, err = ops[0].Value().Array().Values(); err != nil {
				return err
			}
		}
		for _, v := range values {
			switch v.Type {
			case bson.TypeObjectID, bson.TypeString, bson.TypeInt64, bson.TypeDouble, bson.TypeBinary:
			default:
				return fmt.Errorf("%s is compared with a value of type %s", e.Key(), v.Type)
			}
		}
	}
	return nil
}
