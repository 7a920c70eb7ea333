package placement_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// proofFixture has a locator and a prover on a simulated cluster.
type proofFixture struct {
	*simulated.Cluster
	locator *placement.Locator
	prover  *placement.Prover
}

func onSim(t *testing.T, o simcluster.Options, test func(t *testing.T, a *proofFixture)) {
	t.Helper()
	o.Still = true
	simulated.Run(t, o, func(t *testing.T, c *simulated.Cluster) {
		locator := placement.NewLocator(c.Client, c.Watcher, c.Keeper, profile.Yorkie())
		test(t, &proofFixture{c, locator, placement.NewProver(c.Client, c.Watcher)})
	})
}

// someRows returns rows of documents.
func (a *proofFixture) someRows(t *testing.T, limit int) []bson.Raw {
	return a.Rows(t, "yorkie-meta.documents")[:limit]
}

func TestDocumentOfAProjectCostsAtMostTwoTargetedQueries(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 12, Documents: 400}, func(t *testing.T, a *proofFixture) {
		for _, row := range a.someRows(t, 40) {
			p, ok := a.Keeper.Directory().In("yorkie-meta", row.Lookup("project_id").ObjectID())
			must.That(t, ok, "no such project")
			a.Log.Take()
			found, err := a.locator.Ask(t.Context(), placement.Query{Text: p.ID.Hex() + "/" + row.Lookup("key").StringValue()})
			must.Do(t, err)
			sent := a.Log.Take()
			if len(sent) == 0 || len(sent) > 2 || found.Cost.Targeted != len(sent) || found.Cost.Broadcast != 0 {
				t.Fatalf("%d queries were sent, the reported cost is %+v", len(sent), found.Cost)
			}
			for _, s := range sent {
				cmd := s.Command
				var filter bson.D
				must.Do(t, bson.Unmarshal(cmd.Lookup("filter").Document(), &filter))
				shards, err := a.Client.TargetShards(t.Context(), topology.Namespace("yorkie-meta."+cmd.Lookup("find").StringValue()), filter)
				must.Do(t, err)
				expect.Equal(t, len(shards), 1, "%s goes to %v", cmd, shards)
			}
		}
	})
}

func TestBareIDCostsOneReportedBroadcastPerCandidateCollection(t *testing.T) {
	onSim(t, simcluster.Options{Projects: 5, Documents: 60}, func(t *testing.T, a *proofFixture) {
		for _, id := range []bson.ObjectID{bson.NewObjectID(), a.someRows(t, 1)[0].Lookup("_id").ObjectID()} {
			a.Log.Take()
			found, _ := a.locator.Ask(t.Context(), placement.Query{Text: id.Hex()}) // "not found" is a valid answer here
			broadcasts := map[string]int{}
			sent := a.Log.Take()
			for _, s := range sent {
				broadcasts[s.Command.Lookup("find").StringValue()]++
			}
			for coll, n := range broadcasts {
				expect.That(t, n <= 1, "%d queries of %s, want at most 1", n, coll)
			}
			if len(sent) == 0 || found.Cost.Broadcast+found.Cost.Targeted != len(sent) || found.Cost.Broadcast == 0 {
				t.Errorf("%d queries were sent, the reported cost is %+v", len(sent), found.Cost)
			}
		}
	})
}

func TestEveryPlaceIsProvenByMongosOnEveryVersionAndLayout(t *testing.T) {
	for version, layout := range map[string]string{"4.4": "yorkie-0.4", "5.0": "yorkie-head", "6.0": "yorkie-0.5.7",
		"7.0": "yorkie-0.6.20", "8.0": "yorkie-0.6.38"} {
		t.Run(version, func(t *testing.T) {
			o := simcluster.Options{ServerVersion: version, Layout: layout, Projects: 8, Documents: 200}
			onSim(t, o, func(t *testing.T, a *proofFixture) {
				proven, counted := 0, 0
				ask := func(text string) {
					found, err := a.locator.Ask(t.Context(), placement.Query{Text: text})
					must.Do(t, err)
					for _, it := range found.Items {
						for _, p := range it.Places {
							proof := a.prover.Prove(t.Context(), p)
							switch {
							case p.Exists == "absent":
								expect.Equal(t, proof.State, placement.ProofSkipped,
									"%s: %+v, want State", p.NS, proof)
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
							if w := placement.WhyOf(a.Watcher.Table(), p); len(w.Shards) != len(p.Shards) || w.Basis == placement.WhyUnknown {
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
	onSim(t, simcluster.Options{Projects: 3, Documents: 30}, func(t *testing.T, a *proofFixture) {
		p := a.Keeper.Directory().All()[0]
		found, err := a.locator.Ask(t.Context(), placement.Query{Text: p.ID.Hex()})
		must.Do(t, err)
		a.Log.Take()
		if f := a.prover.Count(t.Context(), found.Items[0].Places[0]); !f.Known {
			t.Fatalf("got %+v, want Known true", f)
		}
		sent := a.Log.Take()
		must.That(t, len(sent) == 1, "%d commands, want 1", len(sent))
		limit, ok := sent[0].Command.Lookup("maxTimeMS").AsInt64OK()
		if !ok || limit <= 0 || limit > 2000 || strings.Count(sent[0].Command.String(), "maxTimeMS") != 1 {
			t.Errorf("maxTimeMS %d in %s", limit, sent[0].Command)
		}
	})
}

func TestDuplicateIDOnTwoShardsIsFoundThroughMongos(t *testing.T) {
	simulated.Run(t, simcluster.Options{Projects: 12, Documents: 1500, Still: true}, func(t *testing.T, r *simulated.Cluster) {
		// Two projects whose documents are on different shards get a document with the same id.
		id, all := bson.NewObjectID(), r.Keeper.Directory().All()
		documents := r.Watcher.Table().Collection("yorkie-meta.documents")
		owner := func(p placement.Project) string {
			return must.Get(placement.Owner(documents, placement.ObjectIDValue(p.ID)))
		}
		other := slices.IndexFunc(all, func(p placement.Project) bool { return owner(p) != owner(all[0]) })
		for i, p := range []placement.Project{all[0], all[other]} {
			r.Insert(t, "yorkie-meta.documents", bson.D{{Key: "_id", Value: id}, {Key: "project_id", Value: p.ID},
				{Key: "key", Value: fmt.Sprintf("twice-%d", i)}})
		}
		prof := profile.Yorkie()
		d := placement.NewDuplicateCheck(r.Client, r.Watcher, r.Keeper, prof, slog.New(slog.DiscardHandler))
		defer simulated.Start(t, d.Run)()
		must.Do(t, d.Start(false, nil))
		time.Sleep(5 * time.Minute)
		report := d.Report()
		if report.State != placement.CheckDone || report.FoundCount != 1 || report.Found[0].ID != id || len(report.Found[0].Shards()) != 2 {
			t.Fatalf("%s %s, %d found: %+v", report.State, report.Problem, report.FoundCount, report.Found)
		}
		if read := report.Collections[0].Read; read < 1502 {
			t.Errorf("read %d documents, want at least 1502", read)
		}
		l := placement.NewLocator(r.Client, r.Watcher, r.Keeper, prof)
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
			expect.Equal(t, codes, "note.duplicateID note.sharedID ", "%s", it.Name)
		}
	})
}

// injectionAttempts are texts that try to be operators or patterns, for every part of a
// query.
func injectionAttempts() []string {
	parts := []string{
		`{"$gt":""}`, `{"$ne":null}`, `{"$regex":".*"}`, `/.*/`, `.*`, `^a`, `$where`, `{"$where":"sleep(1000)"}`, `a\b`,
		`'; return true; '`, `[$ne]=1`, `{"$oid":"x"}`, `{"$regularExpression":{"pattern":".*","options":""}}`, "\u202Ecba",
		"a\u2066b\u2069", "a\x00b", "\xff\xfe", "app\x00", "%00", "${jndi:x}", "<script>alert(1)</script>", `ObjectId("zz")`, `true`,
		`null`, `1e400`, `{"$code":"1"}`, `{"$minKey":1}`, `{"$undefined":true}`, `{"a":{"b":{"c":1}}}`, strings.Repeat("[", 500),
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
	onSim(t, simcluster.Options{Projects: 5, Documents: 50}, func(t *testing.T, a *proofFixture) {
		asked, queries, proofs := 0, 0, 0
		about := func(text string, places ...placement.Place) {
			for _, p := range places {
				a.prover.Prove(t.Context(), p)
				a.prover.Count(t.Context(), p)
			}
			for _, sent := range a.Log.Take() {
				proofs++
				if err := checkPlainCommand(sent.Command); err != nil {
					t.Errorf("%q: %v in %s", text, err, sent.Command)
				}
			}
		}
		check := func(q placement.Query) {
			asked++
			found, err := a.locator.Ask(t.Context(), q)
			if err != nil {
				if k := fault.Of(err); k != fault.NotFound && k != fault.Invalid {
					t.Errorf("%+v: %v", q, err)
				}
				if text := fault.Text(err); strings.ContainsAny(text, "\x00\u202e") || len(text) < 20 || len(text) > 600 {
					t.Errorf("%+v: sentence %.100q", q, text)
				}
			}
			finds := a.Log.Take()
			if len(finds) != found.Cost.Targeted+found.Cost.Broadcast {
				t.Errorf("%+v: %d queries were sent, the reported cost is %+v", q, len(finds), found.Cost)
			}
			queries += len(finds)
			for _, sent := range finds {
				if err := checkPlainCommand(sent.Command); err != nil {
					t.Errorf("%+v: %v in %s", q, err, sent.Command)
				}
			}
			for _, it := range found.Items {
				about(q.Text+q.Key, it.Places...)
			}
		}
		name := a.Keeper.Directory().All()[0].Name
		documents := a.Watcher.Table().Collection("yorkie-meta.documents").Key
		for _, text := range injectionAttempts() {
			check(placement.Query{Text: text})
			check(placement.Query{Text: strings.ReplaceAll(strings.ReplaceAll(text, "APP", name), "app", name)})
			check(placement.Query{Text: text, Near: true})
			check(placement.Query{Text: text, In: placement.InProjects})
			check(placement.Query{Text: text, In: placement.InCollections})
			check(placement.Query{NS: "yorkie-meta.changes", Key: text})
			check(placement.Query{NS: "yorkie-meta.changes", Key: `{"doc_id":` + text + `}`})
			check(placement.Query{NS: "yorkie-meta.documents", Text: text})
			check(placement.Query{NS: "yorkie-meta.documents", Key: `{"project_id":` + string(must.Get(json.Marshal(text))) + `}`})
			// A place's values are sent both as text and as the value that the text spells.
			_, value, err := bson.MarshalValue(strings.ToValidUTF8(text, "?"))
			must.Do(t, err)
			whole := placement.Place{NS: "yorkie-meta.documents", Sharded: true, Shards: []string{"shard-rs-1"}, Pattern: documents,
				Match: []placement.Equal{{Field: "project_id", Value: bson.RawValue{Type: bson.TypeString, Value: value}}}}
			about(text, whole)
			var spelled struct{ V bson.RawValue }
			if bson.UnmarshalExtJSON([]byte(`{"v":`+text+`}`), false, &spelled) == nil {
				whole.Match[0].Value = spelled.V
				about(text, whole)
			}
		}
		if asked < 300 || queries < 50 || proofs < 300 {
			t.Errorf("only %d inputs, %d queries and %d proofs were tested", asked, queries, proofs)
		}
	})
}

// checkPlainCommand returns an error unless the command is a find, an explained find or a count whose filter compares
// only for equality with plain values.
func checkPlainCommand(cmd bson.Raw) error {
	filter, operators := cmd.Lookup("filter"), []string{"$eq"}
	switch name := cmd.Index(0).Key(); name {
	case "find":
		operators = append(operators, "$in")
	case "explain":
		find := cmd.Lookup("explain").Document()
		filter = find.Lookup("filter")
		if elems, _ := find.Elements(); len(elems) != 2 {
			return fmt.Errorf("the find has more than a filter")
		}
	case "aggregate":
		stages, err := cmd.Lookup("pipeline").Array().Values()
		if err != nil || len(stages) != 2 || stages[1].Document().String() != `{"$group": {"_id": null,"n": {"$sum": {"$numberInt":"1"}}}}` {
			return fmt.Errorf("pipeline %v", stages)
		}
		filter = stages[0].Document().Lookup("$match")
	default:
		return fmt.Errorf("command %s", name)
	}
	elems, err := filter.Document().Elements()
	if err != nil || len(elems) == 0 {
		return fmt.Errorf("filter: %w", err)
	}
	for _, e := range elems {
		doc, ok := e.Value().DocumentOK()
		if !ok || strings.HasPrefix(e.Key(), "$") {
			return fmt.Errorf("%s is not compared", e.Key())
		}
		ops, err := doc.Elements()
		if err != nil || len(ops) != 1 || !slices.Contains(operators, ops[0].Key()) {
			return fmt.Errorf("%s is compared by %s", e.Key(), doc)
		}
		values := []bson.RawValue{ops[0].Value()}
		if ops[0].Key() == "$in" {
			if values, err = ops[0].Value().Array().Values(); err != nil {
				return err
			}
		}
		bad := []bson.Type{bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeRegex, bson.TypeJavaScript, bson.TypeCodeWithScope}
		for _, v := range values {
			if slices.Contains(bad, v.Type) {
				return fmt.Errorf("%s is compared with a value of type %s", e.Key(), v.Type)
			}
		}
	}
	return nil
}

// A chunk is taken out of config.chunks while the cluster is watched: a key in its place has no owner, any other has
// the owner that the metadata names, and other collections are located as before. An owner that the cluster does not
// have is told.
func TestAKeyOfADamagedCollectionHasTheOwnerOfTheMetadataOrNone(t *testing.T) {
	const ns, healthy, lost = topology.Namespace("app.orders"), topology.Namespace("app.users"), topology.Namespace("app.lost")
	simulated.Run(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simulated.Cluster) {
		sim.Do(t, "admin", bson.D{{Key: "enableSharding", Value: "app"}})
		for _, c := range []topology.Namespace{ns, healthy, lost} {
			sim.Do(t, "admin", bson.D{{Key: "shardCollection", Value: c}, {Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
			for _, at := range []int{10, 20} {
				sim.Do(t, "admin", bson.D{{Key: "split", Value: c}, {Key: "middle", Value: bson.D{{Key: "k", Value: at}}}})
			}
		}
		defer simulated.Start(t, sim.Watcher.Run)()
		time.Sleep(5 * time.Second)
		uuid := sim.Watcher.Table().Collection(ns).Incarnation.UUID
		sim.Do(t, "config", bson.D{{Key: "delete", Value: "chunks"}, {Key: "deletes", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "uuid", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: uuid[:]}},
				{Key: "min.k", Value: 10}}},
			{Key: "limit", Value: 1},
		}}}})
		other := sim.Watcher.Table().Collection(lost).Incarnation.UUID
		sim.Do(t, "config", bson.D{{Key: "update", Value: "chunks"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "uuid", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: other[:]}}, {Key: "min.k", Value: 10}}},
			{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "shard", Value: "gone"}, {Key: "lastmod", Value: bson.Timestamp{T: 9}}}}}},
		}}}})
		time.Sleep(3 * time.Minute) // no version changed, so the sweep finds it
		table := sim.Watcher.Table()
		d := table.DamageOf(ns)
		if d == nil || d.Kind != topology.DamageGap || table.Health[topology.PartRouting].Err != nil || table.Collection(ns) == nil {
			t.Fatalf("got damage %+v, health %+v, want a gap beside the last good picture", d, table.Health[topology.PartRouting])
		}
		l := placement.NewLocator(sim.Client, sim.Watcher, fixedTable{table}, profile.Yorkie())
		for _, tc := range []struct {
			ns   topology.Namespace
			key  string
			want []string
		}{
			{ns, `{"k": 5}`, []string{"shard-rs-1"}}, {ns, `{"k": 15}`, nil}, {ns, `{"k": 25}`, []string{"shard-rs-1"}},
			{healthy, `{"k": 15}`, []string{"shard-rs-1"}}, {lost, `{"k": 5}`, []string{"shard-rs-1"}}, {lost, `{"k": 15}`, []string{"gone"}},
		} {
			items := must.Get(l.Locate(t.Context(), placement.Query{NS: tc.ns, Key: tc.key}))
			p := items[0].Places[0]
			if !slices.Equal(p.Shards, tc.want) || (p.Damage != nil) != (tc.ns == ns) || (len(p.Missing) > 0) != slices.Contains(p.Shards, "gone") {
				t.Errorf("%s %s: got %v, damage %v, missing %v, want %v", tc.ns, tc.key, p.Shards, p.Damage, p.Missing, tc.want)
			}
		}
	})
}
