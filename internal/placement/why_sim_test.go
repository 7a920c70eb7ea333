package placement_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// commandRecorder keeps every command on user data.
type commandRecorder struct {
	mu   sync.Mutex
	seen []bson.Raw
}

func (w *commandRecorder) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.DatabaseName == "config" || e.DatabaseName == "admin" {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, append(bson.Raw{}, e.Command...))
	}}
}

func (w *commandRecorder) take() []bson.Raw {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.seen
	w.seen = nil
	return out
}

// proofFixture has a locator and a prover on a simulated cluster in a synctest bubble.
type proofFixture struct {
	sim     *simcluster.Cluster
	client  *cluster.Client
	watcher *topology.Watcher
	keeper  *placement.Keeper
	locator *placement.Locator
	prover  *placement.Prover
	witness commandRecorder
}

func onSimWithProofs(t *testing.T, o simcluster.Options, test func(t *testing.T, a *proofFixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), o)
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		a := &proofFixture{sim: sim}
		a.client, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: a.witness.monitor()})
		must.Do(t, err)
		defer func() { _ = a.client.Close(context.Background()) }()
		a.watcher = topology.NewWatcher(a.client, topology.Options{})
		table, err := a.watcher.Load(t.Context())
		must.Do(t, err)
		a.keeper = placement.NewKeeper(a.client, a.watcher, profile.Yorkie(), slog.New(slog.DiscardHandler))
		a.keeper.Poll(t.Context(), profile.Yorkie().Match(table))
		a.locator = placement.NewLocator(a.client, a.watcher, a.keeper, profile.Yorkie())
		a.prover = placement.NewProver(a.client, a.watcher)
		test(t, a)
	})
}

// someRows reads up to limit rows of the first projects.
func (a *proofFixture) someRows(t *testing.T, limit int) []bson.Raw {
	t.Helper()
	reply, err := a.sim.Command(t.Context(), "yorkie-meta", bson.D{{Key: "find", Value: "documents"}, {Key: "limit", Value: int64(limit)}})
	must.Do(t, err)
	list, err := reply.Lookup("cursor", "firstBatch").Array().Values()
	must.Do(t, err)
	var out []bson.Raw
	for _, v := range list {
		out = append(out, v.Document())
	}
	return out
}

func TestDocumentOfAProjectCostsAtMostTwoTargetedQueries(t *testing.T) {
	onSimWithProofs(t, simcluster.Options{Projects: 12, Documents: 400, Still: true}, func(t *testing.T, a *proofFixture) {
		for _, row := range a.someRows(t, 40) {
			p, ok := a.keeper.Directory().In("yorkie-meta", row.Lookup("project_id").ObjectID())
			if !ok {
				t.Fatal("no such project")
			}
			a.witness.take()
			found, err := a.locator.Ask(t.Context(), placement.Query{Text: p.ID.Hex() + "/" + row.Lookup("key").StringValue()})
			must.Do(t, err)
			sent := a.witness.take()
			if len(sent) == 0 || len(sent) > 2 || found.Cost.Targeted != len(sent) || found.Cost.Broadcast != 0 {
				t.Fatalf("%d queries were sent, the reported cost is %+v", len(sent), found.Cost)
			}
			for _, cmd := range sent {
				var filter bson.D
				must.Do(t, bson.Unmarshal(cmd.Lookup("filter").Document(), &filter))
				shards, err := a.client.TargetShards(t.Context(), topology.Namespace("yorkie-meta."+cmd.Lookup("find").StringValue()), filter)
				must.Do(t, err)
				if len(shards) != 1 {
					t.Errorf("%s goes to %v, want len 1", cmd, shards)
				}
			}
		}
	})
}

func TestBareIDCostsOneReportedBroadcastPerCandidateCollection(t *testing.T) {
	onSimWithProofs(t, simcluster.Options{Projects: 5, Documents: 60, Still: true}, func(t *testing.T, a *proofFixture) {
		for _, id := range []bson.ObjectID{bson.NewObjectID(), a.someRows(t, 1)[0].Lookup("_id").ObjectID()} {
			a.witness.take()
			found, _ := a.locator.Ask(t.Context(), placement.Query{Text: id.Hex()}) // "not found" is a valid answer here
			broadcasts := map[string]int{}
			sent := a.witness.take()
			for _, cmd := range sent {
				broadcasts[cmd.Lookup("find").StringValue()]++
			}
			for coll, n := range broadcasts {
				if n > 1 {
					t.Errorf("%d queries of %s, want at most 1", n, coll)
				}
			}
			if len(sent) == 0 || found.Cost.Broadcast+found.Cost.Targeted != len(sent) || found.Cost.Broadcast == 0 {
				t.Errorf("%d queries were sent, the reported cost is %+v", len(sent), found.Cost)
			}
		}
	})
}

func TestEveryPlaceIsProvenByMongosOnEveryVersion(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			o := simcluster.Options{ServerVersion: version, Projects: 8, Documents: 200, Still: true}
			onSimWithProofs(t, o, func(t *testing.T, a *proofFixture) {
				proven, counted := 0, 0
				ask := func(text string) {
					found, err := a.locator.Ask(t.Context(), placement.Query{Text: text})
					must.Do(t, err)
					for _, it := range found.Items {
						for _, p := range it.Places {
							proof := a.prover.Prove(t.Context(), p)
							switch {
							case p.Exists == "absent":
								if proof.State != placement.ProofSkipped {
									t.Errorf("%s: %+v, want State %v", p.NS, proof, placement.ProofSkipped)
								}
								continue
							case proof.State != placement.ProofAgrees:
								t.Errorf("%s: %+v", p.NS, proof)
							}
							proven++
							if f := a.prover.Count(t.Context(), p); f.Known {
								counted++
								if p.Exists == "yes" && it.Kind == "document" && f.Value != 1 {
									t.Errorf("%s of a document: %d rows", p.NS, f.Value)
								}
							} else if f.Reason != "notTargeted" {
								t.Errorf("%s: not counted: %s", p.NS, f.Reason)
							}
							if w := placement.WhyOf(a.watcher.Table(), p); len(w.Shards) != len(p.Shards) || w.Basis == placement.WhyUnknown {
								t.Errorf("%s: %+v", p.NS, w)
							}
						}
					}
				}
				for _, row := range a.someRows(t, 6) {
					ask(row.Lookup("project_id").ObjectID().Hex() + "/" + row.Lookup("key").StringValue())
					ask(row.Lookup("project_id").ObjectID().Hex())
				}
				if proven < 60 || counted < 40 {
					t.Errorf("%d proven, %d counted, want proven at least 60, counted at least 40", proven, counted)
				}
			})
		})
	}
}

func TestCountHasATimeLimitOnTheServer(t *testing.T) {
	onSimWithProofs(t, simcluster.Options{Projects: 3, Documents: 30, Still: true}, func(t *testing.T, a *proofFixture) {
		p := a.keeper.Directory().All()[0]
		found, err := a.locator.Ask(t.Context(), placement.Query{Text: p.ID.Hex()})
		must.Do(t, err)
		a.witness.take()
		if f := a.prover.Count(t.Context(), found.Items[0].Places[0]); !f.Known {
			t.Fatalf("got %+v, want Known true", f)
		}
		sent := a.witness.take()
		if len(sent) != 1 {
			t.Fatalf("%d commands, want 1", len(sent))
		}
		limit, ok := sent[0].Lookup("maxTimeMS").AsInt64OK()
		if !ok || limit <= 0 || limit > 2000 || strings.Count(sent[0].String(), "maxTimeMS") != 1 {
			t.Errorf("maxTimeMS %d in %s", limit, sent[0])
		}
	})
}

func TestProofsAndCountsSendOnlyEqualityFilters(t *testing.T) {
	onSimWithProofs(t, simcluster.Options{Projects: 5, Documents: 50, Still: true}, func(t *testing.T, a *proofFixture) {
		payloads, commands := 0, 0
		about := func(text string, places ...placement.Place) {
			a.witness.take()
			for _, p := range places {
				a.prover.Prove(t.Context(), p)
				a.prover.Count(t.Context(), p)
			}
			for _, cmd := range a.witness.take() {
				commands++
				if err := checkPlainCommand(cmd); err != nil {
					t.Errorf("%q: %v in %s", text, err, cmd)
				}
			}
		}
		check := func(q placement.Query) {
			payloads++
			found, err := a.locator.Ask(t.Context(), q)
			if err != nil {
				return
			}
			for _, it := range found.Items {
				about(q.Text+q.Key, it.Places...)
			}
		}
		name := a.keeper.Directory().All()[0].Name
		for _, text := range injectionAttempts() {
			check(placement.Query{Text: strings.ReplaceAll(text, "app", name)})
			check(placement.Query{NS: "yorkie-meta.changes", Key: text})
			check(placement.Query{NS: "yorkie-meta.changes", Key: `{"doc_id":` + text + `}`})
			encoded := must.Get(json.Marshal(text))
			check(placement.Query{NS: "yorkie-meta.documents", Key: `{"project_id":` + string(encoded) + `}`})
			// A place's values are sent both as text and as the value that the text
			// spells.
			_, value, err := bson.MarshalValue(strings.ToValidUTF8(text, "?"))
			must.Do(t, err)
			whole := placement.Place{
				NS:      "yorkie-meta.documents",
				Sharded: true,
				Shards:  []string{"shard-rs-1"},
				Pattern: a.watcher.Table().Collection("yorkie-meta.documents").Key,
			}
			whole.Match = []placement.Equal{{Field: "project_id", Value: bson.RawValue{Type: bson.TypeString, Value: value}}}
			about(text, whole)
			var spelled struct{ V bson.RawValue }
			if bson.UnmarshalExtJSON([]byte(`{"v":`+text+`}`), false, &spelled) == nil {
				whole.Match[0].Value = spelled.V
				about(text, whole)
			}
		}
		if payloads < 300 || commands < 300 {
			t.Errorf("only %d inputs and %d commands were tested", payloads, commands)
		}
	})
}

// checkPlainCommand returns an error unless the command is an explained find or a count
// whose filter compares only for equality with plain values.
func checkPlainCommand(cmd bson.Raw) error {
	var filter bson.Raw
	switch name := cmd.Index(0).Key(); name {
	case "explain":
		find := cmd.Lookup("explain").Document()
		filter = find.Lookup("filter").Document()
		if elems, _ := find.Elements(); len(elems) != 2 {
			return fmt.Errorf("the find has more than a filter")
		}
	case "aggregate":
		stages, err := cmd.Lookup("pipeline").Array().Values()
		if err != nil || len(stages) != 2 || stages[1].Document().String() != `{"$group": {"_id": null,"n": {"$sum": {"$numberInt":"1"}}}}` {
			return fmt.Errorf("pipeline %v", stages)
		}
		filter = stages[0].Document().Lookup("$match").Document()
	default:
		return fmt.Errorf("command %s", name)
	}
	elems, err := filter.Elements()
	if err != nil {
		return err
	}
	for _, e := range elems {
		doc, ok := e.Value().DocumentOK()
		if !ok || strings.HasPrefix(e.Key(), "$") {
			return fmt.Errorf("%s is not compared", e.Key())
		}
		ops, err := doc.Elements()
		if err != nil || len(ops) != 1 || ops[0].Key() != "$eq" {
			return fmt.Errorf("%s is compared by %s", e.Key(), doc)
		}
		bad := []bson.Type{bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeRegex, bson.TypeJavaScript, bson.TypeCodeWithScope}
		if v := ops[0].Value(); slices.Contains(bad, v.Type) {
			return fmt.Errorf("%s is compared with a value of type %s", e.Key(), v.Type)
		}
	}
	return nil
}
