package enginetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func onProjects(t *testing.T, test func(r *Rig, project, shard string)) {
	t.Helper()
	onProjectsOf(t, Setup{}, test)
}

func onProjectsOf(t *testing.T, s Setup, test func(r *Rig, project, shard string)) {
	t.Helper()
	s.Sim = simcluster.Options{Projects: 6, Documents: 120, Still: true}
	OnRig(t, s, func(r *Rig) {
		p := r.Keeper.Directory().All()[2]
		c := r.Watcher.Table().Collection("yorkie-meta.documents")
		// The shard with the fewest chunks.
		shard := "shard-rs-3"
		if n := c.Chunks.CountByShard(); n["shard-rs-2"] < n[shard] {
			shard = "shard-rs-2"
		}
		test(r, p.ID.Hex(), shard)
	})
}

func TestRunWaitsForTheBalancerToCarryOutAPinAcrossARestart(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		r.Admin(bson.D{{Key: "balancerStart", Value: 1}})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "balancer", At: simcluster.Targeted, Hold: true, Times: -1})
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard, Mode: actions.ModeBalancer})
		id := r.Start(p).ID
		waits := r.Wait(id, func(run engine.Run) bool { return run.Why.Code == "run.awaiting" })
		if p := waits.Steps[len(waits.Steps)-1].Progress; p.Done == p.Total && p.Total > 0 {
			r.Fatalf("nothing to wait for: %+v", p)
		}
		time.Sleep(time.Minute)
		r.Restart()
		time.Sleep(time.Minute)
		if run := r.runNow(id); run.State != engine.Running {
			r.Fatalf("%s %v", run.State, run.Why)
		}
		rule.Remove()
		run := r.succeeds(id)
		for _, s := range run.Steps {
			expect.Equal(r, len(s.Changed), 0, "proven, and yet changed: %+v", s.Changed)
		}
		r.checkReported(run)
	})
}

func TestPinAdaptsToAClusterThatChangedSinceThePlan(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		var first operation.Step
		for _, s := range p.Steps {
			if s.Op == operation.OpSplitAt {
				first = s
				break
			}
		}
		must.That(r, first.At != nil, "nothing is cut")
		r.Admin(bson.D{{Key: "split", Value: first.NS}, {Key: "middle", Value: first.At}})
		run := r.WaitEnd(r.Start(p).ID)
		r.checkReported(run)
		if run.State != engine.Succeeded || len(run.Adaptations) == 0 || run.Adaptations[0].Step != 0 || len(run.Adaptations[0].Because) == 0 {
			r.Errorf("%s %+v", run.State, run.Adaptations)
		}
		expect.Equal(r, len(run.Steps), len(p.Steps)-1, "steps of %d planned", len(p.Steps))
	})
}

// A plan that adapts to a changed cluster is not run when a check blocks what is left to do.
func TestPinIsNotRunWhenACheckBlocksItsRest(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		i := slices.IndexFunc(p.Steps, func(s operation.Step) bool { return s.Op == operation.OpSplitAt })
		r.Admin(bson.D{{Key: "split", Value: p.Steps[i].NS}, {Key: "middle", Value: p.Steps[i].At}})
		r.Admin(bson.D{{Key: "removeShard", Value: shard}}) // it takes no chunks any more
		r.refuses(Anna, p, fault.Conflict, "")
	})
}

func TestRestOfAStoppedPinCanBeFinished(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		id, rule := r.startAndHold(p, simcluster.Rule{Command: "addShardToZone", At: simcluster.Received})
		r.stop(id)
		rule.Remove()
		run := r.WaitEnd(id)
		if s := run.LastingChanges(); run.State != engine.Stopped || !run.CanFinish() || s.Splits == 0 || s.RangesSet != 0 {
			r.Fatalf("%s %+v", run.State, s)
		}
		expect.That(r, must.Err(r.Engine.Finish(r.Context(), Bert, "nosuchrun", "")) != nil, "the rest of no run")
		rest, err := r.Engine.Finish(r.Context(), Anna, id, "")
		r.Must(err)
		done := r.WaitEnd(r.Start(rest).ID)
		expect.That(r, done.State == engine.Succeeded && len(done.Steps) < len(p.Steps),
			"%s in %d steps, planned were %d", done.State, len(done.Steps), len(p.Steps))
		expect.That(r, must.Err(r.Engine.Finish(context.Background(), Anna, done.ID, "")) != nil, "the rest of what is done")
	})
}

// shopBy is the path of the tenant's field in the rows of a shop.
type shopBy string

// profile is of collections that have the tenant alone, before a hash, before another field, and as a hash.
func (by shopBy) profile() *profile.Profile {
	return must.Get(profile.Parse("shop.yaml", []byte(strings.ReplaceAll(`name: shop
tenants: {collection: tenants, name: name, called: {one: Tenant, many: Tenants}}
documents: {collection: orders, tenant: FIELD, called: {one: Order, many: Orders}}
collections:
  - {name: items, tenant: FIELD}
  - {name: visits, tenant: FIELD}
  - {name: clicks, tenant: FIELD}
`, "FIELD", string(by)))))
}

// row has a tenant at the path.
func (by shopBy) row(tenant any) bson.D {
	if outer, inner, nested := strings.Cut(string(by), "."); nested {
		return madeup.Row(outer, madeup.Row(inner, tenant))
	}
	return madeup.Row(string(by), tenant)
}

// of has rows of tenants with these ids, each of which has several in each collection.
func (by shopBy) of(ids ...any) madeup.Schema {
	f := string(by)
	return madeup.Schema{DB: "shop",
		Keys: map[string]bson.D{"orders": madeup.Row(f, 1), "items": madeup.Row(f, 1, "_id", "hashed"),
			"visits": madeup.Row(f, 1, "page", 1), "clicks": madeup.Row(f, "hashed")},
		Rows: func(insert func(string, bson.D)) {
			for i, id := range ids {
				insert("tenants", madeup.Row("_id", id, "name", fmt.Sprintf("Tenant %d", i)))
				for k := range 6 {
					for _, coll := range []string{"orders", "items", "visits", "clicks"} {
						insert(coll, append(by.row(id), madeup.Row("page", k)...))
					}
				}
			}
		}}
}

// onShop runs a test with the second of the tenants.
func onShop(t *testing.T, by shopBy, test func(r *Rig, p placement.Project), ids ...any) {
	t.Helper()
	OnRig(t, Setup{Of: by.profile(), Data: func(r *Rig) {
		by.of(ids...).Fill(func(db string, cmd bson.D) {
			r.Helper()
			r.Must(must.Err(r.Sim.Command(r.Context(), db, cmd)))
		})
	}, Wrap: countRows}, func(r *Rig) {
		found := r.Keeper.Directory().Exactly("Tenant 1")
		must.That(r, len(found) == 1, "the list of tenants is %+v", r.Keeper.Directory().All())
		test(r, found[0])
	})
}

// shardsOf is where the servers look for rows of a tenant.
func (r *Rig) shardsOf(by shopBy, coll string, tenant any) (out []string) {
	r.Helper()
	reply := must.Get(r.Sim.Command(r.Context(), "shop", madeup.Row("explain",
		madeup.Row("find", coll, "filter", madeup.Row(string(by), tenant)), "verbosity", "queryPlanner")))
	list := must.Get(reply.Lookup("queryPlanner", "winningPlan", "shards").Array().Values())
	for _, s := range list {
		out = append(out, s.Document().Lookup("shardName").StringValue())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// boundsIn are the ends of zone ranges that steps set, by collection.
func boundsIn(by shopBy, steps []operation.Step) string {
	var out []string
	for _, s := range steps {
		if s.Op == operation.OpSetRange {
			out = append(out, fmt.Sprintf("%s %s %s", s.NS.Collection(),
				shardkey.DisplayValue(s.Min.Lookup(string(by))), shardkey.DisplayValue(s.Max.Lookup(string(by)))))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestTenantIsPinnedByIDsOfEveryType(t *testing.T) {
	uuid := func(last byte) bson.Binary { return bson.Binary{Subtype: 4, Data: []byte{15: last}} }
	decimal := func(s string) bson.Decimal128 { return must.Get(bson.ParseDecimal128(s)) }
	for name, tc := range map[string]struct {
		before, id, after any
		end               string // of its range
	}{
		"ObjectID": {bson.ObjectID{11: 1}, bson.ObjectID{11: 2}, bson.ObjectID{11: 3}, `ObjectId("000000000000000000000003")`},
		"string":   {"t-0", "t-1", "t-10", `"t-1\x00"`},
		"hex text": {strings.Repeat("a", 24), strings.Repeat("b", 24), strings.Repeat("c", 24),
			`"` + strings.Repeat("b", 24) + `\x00"`},
		"int":      {int32(4), int32(5), int32(6), `6`},
		"long":     {int64(1) << 40, int64(1)<<40 + 1, int64(1)<<40 + 2, `NumberLong("1099511627778")`},
		"double":   {4.5, 5.0, 6.0, `6.0`},
		"between":  {int32(4), int32(5), 5.5, `5.5`},
		"fraction": {0.25, 0.5, 0.75, `0.5000000000000001`},
		"decimal":  {decimal("1.5"), decimal("7"), decimal("7.5"), `NumberDecimal("7.5")`},
		"UUID":     {uuid(1), uuid(2), uuid(3), `UUID("00000000-0000-0000-0000-000000000003")`},
		"date":     {bson.DateTime(1), bson.DateTime(2), bson.DateTime(3), `ISODate("1970-01-01T00:00:00.003Z")`},
		"bool":     {"x", false, true, `true`},
		"document": {madeup.Row("a", 1), madeup.Row("a", 2), madeup.Row("a", 2, "b", 1), `{a: 2, "": MinKey}`},
	} {
		if testing.Short() && name != "string" && name != "between" && name != "UUID" {
			continue
		}
		by := shopBy("tenant")
		if name == "string" || name == "UUID" {
			by = "meta.tenant"
		}
		t.Run(name, func(t *testing.T) {
			onShop(t, by, func(r *Rig, p placement.Project) {
				before := r.ReadState().String()
				plan := r.Plan(actions.Pin, actions.Args{Project: p.IDText(), Shard: "shard-rs-3"})
				hash := r.Watcher.Table().Collection("shop.clicks").Key
				lo := must.Get(hash.Values(must.Get(hash.PrefixRange(p.IDValue())).Min))[0].Int64()
				want := fmt.Sprintf(`clicks NumberLong("%d") NumberLong("%d")`, lo, lo+1)
				for _, coll := range []string{"items", "orders", "visits"} {
					want += fmt.Sprintf("\n%s %s %s", coll, shardkey.DisplayValue(p.IDValue()), tc.end)
				}
				if got := boundsIn(by, plan.Steps); got != want {
					r.Errorf("got\n%s\nwant\n%s", got, want)
				}
				run := r.succeeds(r.Start(plan).ID)
				for coll := range by.of().Keys {
					for i, id := range []any{tc.before, tc.id, tc.after} {
						if on := r.shardsOf(by, coll, id); slices.Equal(on, []string{"shard-rs-3"}) != (i == 1) && (coll != "clicks" || i == 1) {
							r.Errorf("rows of %v in %s are on %v", id, coll, on)
						}
					}
				}
				expect.Equal(r, len(run.Rows), 4, "rows are counted of %+v", run.Rows)
				for _, c := range run.Rows {
					expect.That(r, c.Before.Value == 6 && c.After.Value == 6, "rows of the tenant: %+v", c)
				}
				unpin := r.Plan(actions.Unpin, actions.Args{Project: p.IDText()})
				if len(unpin.Steps) != 5 { // four ranges and the zone
					r.Errorf("unpins by %+v", unpin.Steps)
				}
				time.Sleep(20 * time.Minute) // for the donor to clean up
				r.succeeds(r.Start(r.undo(run.ID)).ID)
				if now := r.ReadState().String(); now != before {
					r.Errorf("before:\n%safter:\n%s", before, now)
				}
			}, tc.before, tc.id, tc.after)
		})
	}
}

// A plan says of a tenant with the highest id why it cannot end its range.
func TestHighestIDIsNotPinned(t *testing.T) {
	last, by := bson.Binary{Subtype: 4, Data: slices.Repeat([]byte{255}, 16)}, shopBy("tenant")
	onShop(t, by, func(r *Rig, p placement.Project) {
		plan := r.Plan(actions.Pin, actions.Args{Project: p.IDText(), Shard: "shard-rs-3"})
		if got := boundsIn(by, plan.Steps); !strings.HasPrefix(got, "clicks ") || strings.Contains(got, "\n") {
			r.Errorf("pins %s", got)
		}
		expect.That(r, len(plan.Effect.Stays) == 3 && plan.Effect.Stays[0].Code == "highestID",
			"what stays: %v", plan.Effect.Stays)
		for _, s := range placement.SpreadOf(r.Watcher.Table(), by.profile(), p).Collections {
			if is := s.Pin.Can; is != (s.NS == "shop.clicks") {
				r.Errorf("%s: can be pinned is %v: %v", s.NS, is, s.Pin.Why)
			}
		}
	}, bson.Binary{Subtype: 4, Data: make([]byte, 16)}, last)
}

func TestTenantIsSpreadAndSplitByIDsOfOtherTypes(t *testing.T) {
	for by, ids := range map[shopBy][]any{"meta.tenant": {"a", "b", "c"}, "tenant": {int64(1), int64(2), int64(3)}} {
		onShop(t, by, func(r *Rig, p placement.Project) {
			r.succeeds(r.Start(r.Plan(actions.SplitProject, actions.Args{Project: p.IDText()})).ID)
			r.succeeds(r.Start(r.Plan(actions.Spread, actions.Args{Project: p.Name})).ID)
			got := map[string]int{}
			for coll := range by.of().Keys {
				got[coll] = len(r.shardsOf(by, coll, ids[1]))
			}
			if want := map[string]int{"orders": 1, "items": 3, "visits": 2, "clicks": 1}; !maps.Equal(got, want) {
				r.Errorf("on how many shards: got %v, want %v", got, want)
			}
		}, ids...)
	}
}

// Keys of a tenant's rows have ids of the tenants' types, and others are refused: no row has such a key.
func TestKeysHaveTheTypesOfTheTenantsIDs(t *testing.T) {
	onShop(t, "meta.tenant", func(r *Rig, p placement.Project) {
		for _, tc := range []struct {
			at any
			ok bool
		}{{"b", true}, {int32(5), false}, {bson.ObjectID{}, false}} {
			raw := must.Get(bson.Marshal(madeup.Row("meta.tenant", tc.at)))
			_, err := r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: actions.Split, Reason: "a test",
				Args: actions.Args{NS: topology.Namespace("shop.orders"), At: raw}})
			expect.Equal(r, (err == nil), tc.ok, "%v: %v", tc.at, err)
		}
	}, "a", "b")
}
