package changes_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/problems"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/changes"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// remedyCase is a situation in which a rule offers plans.
type remedyCase struct {
	name    string
	rule    rules.Rule
	change  func(*rules.Situation)
	offered []string // kinds that must be offered
	refused []string // kinds that must be refused with a reason
}

func storySituation(f func(*rules.Situation)) rules.Situation {
	v := webtest.NewStory().View()
	s := rules.Situation{Table: v.Table, Directory: v.Dir, Profile: v.Profile, Now: v.Now, Counting: true, Pins: map[string]rules.Pin{}}
	f(&s)
	return s
}

func offNow(s *rules.Situation) { s.Table.Balancer.Mode, s.Table.Balancer.Stopped = "off", true }

// rangeOn puts a zone's range around chunks [from, to) of a collection.
func rangeOn(s *rules.Situation, ns topology.Namespace, zone string, from, to int, carriers ...string) {
	c := s.Table.Collection(ns)
	lo, hi := c.Chunks.At(from).Min, c.Chunks.At(to-1).Max
	s.Table.Zones = append(
		s.Table.Zones,
		topology.ZoneRange{
			NS:     ns,
			Zone:   zone,
			Min:    lo,
			Max:    hi,
			RawMin: webtest.Must(c.Key.Document(lo)),
			RawMax: webtest.Must(c.Key.Document(hi)),
		},
	)
	for i := range s.Table.Shards {
		if slices.Contains(carriers, s.Table.Shards[i].Name) {
			s.Table.Shards[i].Zones = append(s.Table.Shards[i].Zones, zone)
		}
	}
}

// rebuilt changes the chunks of a collection.
func rebuilt(s *rules.Situation, ns topology.Namespace, f func(i int, ch *topology.Chunk)) {
	c := *s.Table.Collection(ns)
	var rows []topology.Chunk
	for i, ch := range c.Chunks.All() {
		f(i, &ch)
		rows = append(rows, ch)
	}
	c.Chunks = webtest.Must(topology.BuildChunks(c.Key, rows))
	for i, o := range s.Table.Collections {
		if o.NS == ns {
			s.Table.Collections[i] = &c
		}
	}
}

func otherShard(s *rules.Situation, than string) string {
	for _, x := range s.Table.Shards {
		if x.Name != than {
			return x.Name
		}
	}
	return ""
}

// hotNow has chunk i of changes take most writes, by a judgement on a split.
func hotNow(s *rules.Situation, i int, split heat.Splitting) {
	c := s.Table.Collection("yorkie-meta.changes")
	ch := c.Chunks.At(i)
	rate := func(r, share float64) heat.Rate {
		return heat.Rate{PerSecond: r, Share: share, Rows: int64(r * 900), Exact: true}
	}
	w := rules.Writes{NS: c.NS, Over: rules.Window, Seconds: 900, To: s.Now, Total: rate(1000, 1),
		Chunks: []rules.ChunkWrites{{Min: ch.Min, Split: split, Line: heat.Line{Chunk: i, Shard: ch.Shard, Rate: rate(600, 0.6)}}}}
	for _, x := range s.Table.Shards {
		if x.Name == ch.Shard {
			w.Shards = append(w.Shards, heat.Line{Shard: x.Name, Rate: rate(900, 0.9)})
		} else {
			w.Shards = append(w.Shards, heat.Line{Shard: x.Name, Rate: rate(50, 0.05)})
		}
	}
	s.Writes = []rules.Writes{w}
}

func remedyCases() []remedyCase {
	id := func(s *rules.Situation) string { return s.Directory.All()[3].ID.Hex() }
	document := bson.NewObjectIDFromTimestamp(webtest.Epoch)
	return []remedyCase{
		{
			name:    "a shard drains and the balancer is off",
			rule:    rules.DrainingStuck,
			change:  func(s *rules.Situation) { offNow(s); s.Table.Shards[1].Draining = true },
			offered: []string{"balancer-on"},
		},
		{
			name: "a shard drains and is a primary shard", rule: rules.Draining,
			change:  func(s *rules.Situation) { s.Table.Shards[0].Draining = true },
			offered: []string{"move-primary"},
		},
		{
			name: "a large collection is not sharded", rule: rules.BigUnsharded,
			change: func(s *rules.Situation) {
				ns, on := s.Table.Unsharded[0], s.Table.Primary(s.Table.Unsharded[0].Database())
				big := topology.Figure{Known: true, Exact: true, Value: 5 << 30, At: s.Now}
				s.Table.Sizes[ns] = topology.Sizes{NS: ns, Shards: map[string]topology.Size{on: {Bytes: big}}}
			},
			offered: []string{"move-primary"},
		},
		{name: "the balancer is off", rule: rules.BalancerOff, change: offNow, offered: []string{"balancer-on"}},
		{name: "a run left the balancer off", rule: rules.BalancingPaused, change: func(s *rules.Situation) {
			offNow(s)
			s.Paused = []rules.PausedBalancing{{What: rules.PausedBalancer, Run: "r", Since: s.Now.Add(-time.Hour)}}
		}, offered: []string{"balancer-on"}},
		{name: "a run left a collection off", rule: rules.BalancingPaused, change: func(s *rules.Situation) {
			s.Table.Collection("yorkie-meta.changes").NoBalance = true
			s.Paused = []rules.PausedBalancing{{What: rules.PausedCollection, NS: "yorkie-meta.changes", Run: "r", Since: s.Now.Add(-time.Hour)}}
		}, offered: []string{"balance-collection"}},
		{
			name:    "a collection is not balanced",
			rule:    rules.BalancingOff,
			change:  func(s *rules.Situation) { s.Table.Collection("yorkie-meta.changes").NoBalance = true },
			offered: []string{"balance-collection"},
		},
		{name: "moves are blocked", rule: rules.MigrationsBlocked,
			change:  func(s *rules.Situation) { s.Table.Collection("yorkie-meta.changes").MigrationsBlocked = true },
			offered: []string{"allow-migrations"}},
		{name: "it is resharded meanwhile", rule: rules.BalancingOff, change: func(s *rules.Situation) {
			s.Table.Collection("yorkie-meta.changes").NoBalance, s.Table.Collection("yorkie-meta.changes").Resharding = true, true
		}, refused: []string{"balance-collection"}},
		{name: "zones violated, balancer off", rule: rules.ZonesStuck, change: func(s *rules.Situation) {
			offNow(s)
			ch := s.Table.Collection("yorkie-meta.changes").Chunks.At(2)
			rangeOn(s, "yorkie-meta.changes", "eu", 2, 3, otherShard(s, ch.Shard))
		}, offered: []string{"balancer-on"}},
		{name: "zones violated, collection off", rule: rules.ZonesStuck, change: func(s *rules.Situation) {
			c := s.Table.Collection("yorkie-meta.changes")
			c.NoBalance = true
			rangeOn(s, "yorkie-meta.changes", "eu", 2, 3, otherShard(s, c.Chunks.At(2).Shard))
		}, offered: []string{"balance-collection"}},
		{
			name:    "nobody carries a zone",
			rule:    rules.ZoneNoShard,
			change:  func(s *rules.Situation) { rangeOn(s, "yorkie-meta.changes", "eu", 2, 3) },
			offered: []string{"zone-add-shard", "zone-remove-range"},
		},
		{
			name:    "a zone without ranges",
			rule:    rules.ZoneEmpty,
			change:  func(s *rules.Situation) { s.Table.Shards[0].Zones = []string{"left"} },
			offered: []string{"zone-remove-shard"},
		},
		{name: "a zone of a collection that is gone", rule: rules.ZoneDropped, change: func(s *rules.Situation) {
			rangeOn(s, "yorkie-meta.changes", "eu", 2, 3, "shard-rs-1")
			s.Table.Zones[0].NS = "yorkie-meta.gone"
		}},
		{name: "a zone of a project that is gone", rule: rules.ZoneUnknown, change: func(s *rules.Situation) {
			rangeOn(s, "yorkie-meta.documents", "pin-0123456789abcdef01234567", 2, 3, "shard-rs-1")
		}, offered: []string{"zone-remove-range"}},
		{name: "a zone's edge in a chunk", rule: rules.ZoneCut, change: func(s *rules.Situation) {
			c := s.Table.Collection("yorkie-meta.changes")
			rangeOn(s, "yorkie-meta.changes", "eu", 2, 4, "shard-rs-1")
			mid := webtest.Must(c.Key.Bound(webtest.Must(bson.Marshal(bson.D{{Key: "doc_id", Value: int64(12345)}}))))
			s.Table.Zones[0].Max, s.Table.Zones[0].RawMax = mid, webtest.Must(c.Key.Document(mid))
		}, offered: []string{"split"}},
		{name: "a pin is violated", rule: rules.PinViolated, change: func(s *rules.Situation) {
			rangeOn(s, "yorkie-meta.documents", "pin-"+id(s), 0, s.Table.Collection("yorkie-meta.documents").Chunks.Len(), "shard-rs-3")
		}},
		{name: "a pin has expired", rule: rules.PinExpired, change: func(s *rules.Situation) {
			rangeOn(s, "yorkie-meta.documents", "pin-"+id(s), 1, 2, "shard-rs-1")
			s.Pins[id(s)] = rules.Pin{Expires: s.Now.Add(-time.Hour)}
		}, offered: []string{"unpin"}},
		{
			name:    "a hot chunk that a split divides",
			rule:    rules.HotChunk,
			change:  func(s *rules.Situation) { hotNow(s, 5, heat.Splitting{Can: true, Code: "divides"}) },
			offered: []string{"move"},
		},
		{name: "a hot chunk that is resharded", rule: rules.HotChunk, change: func(s *rules.Situation) {
			hotNow(s, 5, heat.Splitting{Can: true, Code: "divides"})
			s.Table.Collection("yorkie-meta.changes").Resharding = true
		}, refused: []string{"split-hot"}},
		{
			name:    "a hot shard",
			rule:    rules.HotShard,
			change:  func(s *rules.Situation) { hotNow(s, 5, heat.Splitting{Can: true, Code: "divides"}) },
			offered: []string{"move"},
		},
		{name: "a hot document", rule: rules.HotDocument, change: func(s *rules.Situation) {
			hotNow(s, 5, heat.Splitting{Can: true, Code: "document", Share: 0.9, DocumentText: document.Hex()})
			s.Table.Sizes["yorkie-meta.changes"] = small(s.Table, "yorkie-meta.changes")
		}, offered: []string{"move"}},
		{name: "a hot document in a jumbo chunk", rule: rules.HotDocument, change: func(s *rules.Situation) {
			rebuilt(s, "yorkie-meta.changes", func(i int, ch *topology.Chunk) { ch.Jumbo = i == 5 })
			hotNow(s, 5, heat.Splitting{Can: true, Code: "document", Share: 0.9, DocumentText: document.Hex()})
		}, refused: []string{"move"}},
		{name: "a hot project with neighbours", rule: rules.HotProject, change: func(s *rules.Situation) {
			rate := heat.Rate{PerSecond: 300, Share: 0.8, Rows: 270_000, Exact: true}
			s.Writes = []rules.Writes{
				{
					NS:       "yorkie-meta.changes",
					Over:     rules.Window,
					Seconds:  900,
					To:       s.Now,
					Total:    rate,
					Projects: []heat.Line{{Project: s.Directory.All()[3].ID, Rate: rate}},
				},
			}
		}, offered: []string{"isolate"}, refused: []string{"split-project"}},
		{name: "a large project in one chunk", rule: rules.ClientsUnsplit, change: func(s *rules.Situation) {
			s.Surveyed = func(ns topology.Namespace, project string) topology.Figure {
				return topology.Figure{
					Known:  ns == "yorkie-meta.clients" && project == s.Directory.All()[4].ID.Hex(),
					Value:  300 << 20,
					Method: "sample",
					At:     s.Now,
				}
			}
		}, offered: []string{"split-project"}},
		{name: "a pin whose chunks are elsewhere", rule: rules.PinViolated, change: func(s *rules.Situation) {
			id := s.Directory.All()[3].ID
			c := s.Table.Collection("yorkie-meta.documents")
			next := id // no project lies between
			next[11]++
			bound := func(id bson.ObjectID) (shardkey.Key, bson.Raw) {
				raw := webtest.Must(bson.Marshal(bson.D{{Key: "project_id", Value: id}}))
				return webtest.Must(c.Key.Bound(raw)), raw
			}
			z := topology.ZoneRange{NS: c.NS, Zone: placement.PinZone(id.Hex())}
			z.Min, z.RawMin = bound(id)
			z.Max, z.RawMax = bound(next)
			_, ch := c.Chunks.Find(z.Min)
			s.Table.Zones = []topology.ZoneRange{z}
			to := s.Table.Shard(otherShard(s, ch.Shard))
			to.Zones = append(to.Zones, placement.PinZone(id.Hex()))
		}, offered: []string{"pin"}},
		{name: "a jumbo chunk", rule: rules.Jumbo, change: func(s *rules.Situation) {
			rebuilt(s, "yorkie-meta.changes", func(i int, ch *topology.Chunk) { ch.Jumbo = i == 5 })
		}, offered: []string{"split", "clear-jumbo"}},
		{name: "a collection left alone is uneven", rule: rules.Imbalance, change: func(s *rules.Situation) {
			s.Table.Collection("yorkie-meta.changes").NoBalance = true
			z := s.Table.Sizes["yorkie-meta.changes"]
			z.Shards = map[string]topology.Size{
				"shard-rs-1": webtest.Size(40<<30, 9),
				"shard-rs-2": webtest.Size(1<<30, 9),
				"shard-rs-3": webtest.Size(1<<30, 9),
			}
			s.Table.Sizes["yorkie-meta.changes"] = z
		}, offered: []string{"balance-collection"}},
	}
}

// small are the sizes of a collection whose chunks can move.
func small(t *topology.Table, ns topology.Namespace) topology.Sizes {
	z := t.Sizes[ns]
	z.Shards = map[string]topology.Size{}
	for _, s := range t.Shards {
		z.Shards[s.Name] = webtest.Size(8<<20, 1000)
	}
	return z
}

// TestTheRemedyOfAProblemIsAPlanThatRunsOrSaysWhyNot goes over the rules that offer
// plans: the form that a link leads to, sent as it is, makes a plan that no check
// blocks; what is not offered says why.
func TestTheRemedyOfAProblemIsAPlanThatRunsOrSaysWhyNot(t *testing.T) {
	for _, c := range remedyCases() {
		t.Run(string(c.rule)+" "+c.name, func(t *testing.T) {
			s := webtest.New(t, func(d *site.Deps) { d.Changes.PlanForms = true })
			sit := storySituation(c.change)
			found := rules.View{Report: rules.Evaluate(sit)}
			v := answer.View{Table: sit.Table, Dir: sit.Directory, Profile: sit.Profile, Now: sit.Now, Found: &found}
			may := problems.AdviceMay{Plan: true, Try: s.Tries(v)}
			var offered, refused []string
			fired := false
			for i, rem := range problems.Advice(v, found, "", may).Items {
				p := found.Items[i]
				// As the worst one it leads from the overview to the same plan, or the advice says why there is none.
				alone := rules.View{Report: rules.Report{At: sit.Now, Items: []rules.Problem{p}}}
				one := answer.View{Table: sit.Table, Dir: sit.Directory, Profile: sit.Profile, Now: sit.Now, Found: &alone}
				worst, form := problems.WorstProblem(one, may.Try), problems.FirstPlan(one, p.ID, may)
				if (worst.PlanURL != "") != (form != "") || form == "" && rem.WhyNot == "" {
					t.Errorf("%s: the overview leads to %q, that to %q, and the advice says %q", p.Rule, worst.PlanURL, form, rem.WhyNot)
				} else if form != "" {
					checkRuns(t, sit, p, form)
				}
				expect.That(t, len(rem.Plans) != 0 || rem.WhyNot != "", "%s: neither a plan nor why there is none", p.Rule)
				for _, x := range rem.Plans {
					checkRuns(t, sit, p, string(x.URL))
				}
				for _, x := range rem.Refused {
					expect.That(t, x.URL == "" && x.Why != "" && !strings.HasPrefix(x.Why, "["), "%s: refused %+v", p.Rule, x)
				}
				if p.Rule == c.rule {
					fired = true
					for _, x := range rem.Plans {
						offered = append(offered, x.Kind)
					}
					for _, x := range rem.Refused {
						refused = append(refused, x.Kind)
						t.Log(x.Kind, x.Why)
					}
				}
			}
			must.That(t, fired, "%s does not fire", c.rule)
			for _, k := range c.offered {
				expect.That(t, slices.Contains(offered, k), "%s is not offered: %v, refused %v", k, offered, refused)
			}
			for _, k := range c.refused {
				expect.That(t, slices.Contains(refused, k) && !slices.Contains(offered, k),
					"%s is not refused: %v, offered %v", k, refused, offered)
			}
		})
	}
}

// checkRuns sends the form of a link, as a browser would, to the real planner.
func checkRuns(t *testing.T, s rules.Situation, p rules.Problem, address string) {
	t.Helper()
	u, err := url.Parse(address)
	must.That(t, err == nil && u.Path == "/plans/new" && u.Query().Get("reason") != "",
		"%s: %q is no form with a reason (%v)", p.Rule, address, err)
	kind := actions.Kind(u.Query().Get("kind"))
	args, err := changes.FormArgs(u.Query())
	must.That(t, err == nil, "%s: %s: %v", p.Rule, address, err)
	d, _, err := actions.PlanChange(actions.Situation{Table: s.Table, Directory: s.Directory, Profile: s.Profile, Now: s.Now,
		Release: balance.ReleaseOf(s.Table.ServerInfo.Version), Activity: operation.Activity{Known: true, At: s.Now}}, kind, args)
	must.That(t, err == nil, "%s: %s: %v", p.Rule, address, err)
	for _, c := range d.Checks {
		expect.That(t, c.Verdict != actions.Block, "%s: the plan of %s is blocked: %s %v", p.Rule, address, c.Text.Code, c.Text.Args())
	}
}

func TestTheFormOfARemedyIsFilledIn(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Changes.PlanForms = true })
	v := webtest.NewStory().With(func(t *topology.Table) { t.Balancer.Mode, t.Balancer.Stopped = "off", true }).View()
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	page := s.Page(t, "/advice")
	link, ok := page.Find(".remedies a").Attr("href")
	must.That(t, ok, "no remedy has a link")
	form := s.Page(t, link)
	reason, _ := form.Find(`[name="reason"]`).Attr("value")
	expect.That(t, reason != "" || form.Find(`textarea[name="reason"]`).Text() != "", "the form has no reason")
	kind, _ := form.Find(`[name="kind"]`).Attr("value")
	expect.Equal(t, kind, string(actions.BalancerOn), "the form is of")
}

func TestAChunksPageOffersNoPlanThatItsChecksBlock(t *testing.T) {
	s := webtest.New(t)
	v := webtest.NewStory().View()
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.schemas") // ranged by project: a chunk of one project cannot be cut
	offered, refused := 0, 0
	for i := range c.Chunks.Len() {
		r := s.Offers(request(t, auth.Local()), v.Table)
		for _, a := range r.Chunk(c, i) {
			if a.URL == "" {
				refused++
				continue
			}
			offered++
			came := offering.TryAddress(s.Tries(v), string(a.URL))
			expect.That(t, came.Why == "" || came.Asks, "chunk %d: %s is offered though %s", i, a.Text, came.Why)
		}
	}
	expect.That(t, offered != 0 && refused != 0, "%d offered, %d refused", offered, refused)
}

// request is one of somebody, as a handler gets it.
func request(t *testing.T, who auth.Principal) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(auth.With(t.Context(), who), "GET", "/", nil)
}
