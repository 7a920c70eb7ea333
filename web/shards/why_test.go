package shards_test

import (
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// served is the site over a story, where plans can be made.
func served(t *testing.T, v answer.View) *webtest.Server {
	t.Helper()
	s := webtest.New(t, func(d *site.Deps) { d.Changes.PlanForms = true })
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	return s
}

func why(t *testing.T, s *webtest.Server, of string) api.ShardWhy {
	t.Helper()
	return webtest.Decode[api.ShardWhy](t, s.Do("GET", "/api/v1/shards/"+of))
}

// addsUp fails unless the parts add up exactly and each says what would help, or why nothing does.
func addsUp(t *testing.T, a api.ShardWhy) {
	t.Helper()
	sum := 0.0
	for _, p := range a.Items {
		switch {
		case p.Kind == "unknown":
			expect.That(t, p.Difference == nil, "%q is unknown and has a difference", p.Text)
			continue
		case p.Here == nil || p.Even == nil || p.Difference == nil || math.Abs(*p.Here-*p.Even-*p.Difference) > 1e-9*math.Abs(*p.Here)+1e-9:
			t.Fatalf("%+v", p)
		case len(p.Plans) == 0 && p.WhyNot == "" && p.Kind != "rest":
			t.Errorf("%s %q: no plan and no reason", p.Kind, p.Text)
		case *p.Difference < 0 && len(p.Plans) > 0:
			t.Errorf("%q: less than an even share is here, and a plan takes more away", p.Text)
		}
		sum += *p.Difference
	}
	expect.That(t, a.Difference != nil && math.Round(sum*1000) == math.Round(*a.Difference*1000),
		"%s of %s %s %s: the parts add up to %v, the shard differs by %v", a.By, a.Shard, a.NS, a.Project, sum, a.Difference)
}

func TestThePartsAddUpToTheDifferenceOnEveryLevel(t *testing.T) {
	for name, v := range map[string]answer.View{
		"fine": webtest.NewStory().View(), "zones, jumbo, draining": webtest.NewStory().With(webtest.Troubled).View(),
	} {
		s, shards := served(t, v), v.Table.Shards
		if testing.Short() {
			shards = shards[:1]
		}
		for _, shard := range shards {
			for _, by := range []string{"bytes", "documents"} {
				top := why(t, s, shard.Name+"/why?by="+by)
				addsUp(t, top)
				few := why(t, s, shard.Name+"/why?limit=2&by="+by)
				addsUp(t, few)
				if *few.Difference != *top.Difference || few.Items[2].Kind != "others" {
					t.Errorf("%s: joined parts differ: %v and %v", name, *few.Difference, *top.Difference)
				}
				for _, p := range top.Items {
					if v.Table.Collection(topology.Namespace(p.NS)) == nil {
						continue
					}
					inside := why(t, s, shard.Name+"/why?by="+by+"&ns="+p.NS)
					addsUp(t, inside)
					if math.Abs(*inside.Difference-*p.Difference) > float64(len(top.Items)) {
						t.Errorf("%s: %s differs by %v, and its parts by %v", name, p.NS, *p.Difference, *inside.Difference)
					}
					for _, x := range inside.Items {
						if x.Kind == "project" {
							addsUp(t, why(t, s, shard.Name+"/why?by="+by+"&ns="+p.NS+"&project="+x.Project))
						}
					}
				}
			}
		}
	}
}

func TestTheEvenSharesOfAllShardsAreAllTheData(t *testing.T) {
	v := webtest.NewStory().With(webtest.Troubled).With(func(t *topology.Table) { t.Zones = t.Zones[:1] }).View()
	s := served(t, v)
	here, even := 0.0, 0.0
	for _, shard := range v.Table.Shards {
		a := why(t, s, shard.Name+"/why")
		here, even = here+*a.Here, even+*a.Even
		if shard.Draining && *a.Even != 0 {
			t.Errorf("%s drains, and %v of even share is asked of it", shard.Name, *a.Even)
		}
		expect.That(t, shard.Draining == strings.Contains(a.EvenMeans, "its even share is 0") && strings.Contains(a.EvenMeans, "zone"),
			"%s: %q", shard.Name, a.EvenMeans)
	}
	expect.That(t, math.Abs(here-even) <= float64(len(v.Table.Shards)), "%v is there, the even shares are %v", here, even)
}

func TestAZoneWithoutAShardHasNoEvenShare(t *testing.T) {
	v := webtest.NewStory().With(webtest.Troubled).View() // no shard is in zone mars
	s := served(t, v)
	here, even := 0.0, 0.0
	for _, shard := range v.Table.Shards {
		a := why(t, s, shard.Name+"/why?ns=yorkie-meta.documents")
		here, even = here+*a.Here, even+*a.Even
	}
	expect.That(t, even < here, "%v of %v may be somewhere, although no shard may hold zone mars", even, here)
}

func TestUnknownSizesAreAPartOfTheirOwn(t *testing.T) {
	s := served(t, webtest.NewStory().With(func(t *topology.Table) { delete(t.Sizes, "yorkie-meta.snapshots") }).View())
	a := why(t, s, "shard-rs-1/why")
	last := a.Items[len(a.Items)-1]
	expect.That(t, last.Kind == "unknown" && last.Count == 1 && strings.Contains(last.Reason, "snapshots") && !a.Exact, "%+v", last)
	addsUp(t, a)
	one := why(t, s, "shard-rs-1/why?ns=yorkie-meta.snapshots")
	expect.That(t, one.Here == nil && one.Reason != "", "%+v", one)
}

func TestEachPartLeadsToItsFilledInPlan(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) { t.Balancer.Mode, t.Balancer.Stopped = "off", true }).View()
	s := served(t, v)
	kinds := map[string]bool{}
	for _, shard := range v.Table.Shards {
		for _, of := range []string{"", "?ns=yorkie-meta.changes", "?ns=yorkie-meta.clients", "?ns=yorkie-meta.documents"} {
			doc := s.Page(t, "/shards/"+shard.Name+"/why"+of)
			doc.Find(".waterfall .helps a").Each(func(_ int, link *goquery.Selection) {
				href, _ := link.Attr("href")
				u, err := url.Parse(href)
				expect.That(t, err == nil && u.Path == "/plans/new" && u.Query().Get("reason") != "", "%q leads to %q", link.Text(), href)
				kinds[u.Query().Get("kind")] = true
				expect.Equal(t, s.Do("GET", href).Code, http.StatusOK, "%s", href)
			})
		}
	}
	for _, kind := range []string{"balancer-on", "move", "pin"} {
		expect.That(t, kinds[kind], "no part leads to %s: %v", kind, kinds)
	}
}

func TestADatabaseOfUnshardedCollectionsIsNoChunkToMove(t *testing.T) {
	a := why(t, served(t, webtest.NewStory().With(webtest.Troubled).View()), "shard-rs-1/why")
	for _, p := range a.Items {
		if p.NS == "yorkie-meta.snapshot_bodies" {
			must.That(t, len(p.Plans) == 1 && p.Plans[0].Kind == "move-primary", "%+v", p)
			expect.Equal(t, string(p.Plans[0].Args["db"]), `"yorkie-meta"`, "%+v", p)
			return
		}
	}
	t.Error("the large unsharded collection is no part")
}

func TestWritesAddUpByCollectionProjectAndChunk(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 5*time.Minute, nil)
	for _, shard := range v.Table.Shards {
		top := why(t, s, shard.Name+"/why?by=writes")
		addsUp(t, top)
		expect.That(t, top.Window != "" && top.CoveredSeconds != 0, "%+v", top)
		last := top.Items[len(top.Items)-1]
		expect.Equal(t, last.Kind, "unknown", "collections that are not counted are missing: %+v", last)
		inside := why(t, s, shard.Name+"/why?by=writes&ns=yorkie-meta.changes")
		addsUp(t, inside)
		must.That(t, inside.Level == "projects" && inside.Items[0].Project != "", "%+v", inside)
		addsUp(t, why(t, s, shard.Name+"/why?by=writes&ns=yorkie-meta.changes&project="+inside.Items[0].Project))
	}
	a := why(t, s, "shard-rs-1/why?by=writes&ns=yorkie-meta.documents")
	expect.That(t, a.Here == nil && strings.Contains(a.Reason, "not counted"), "%+v", a)
}

func TestWhyRefusesWhatItCannotMean(t *testing.T) {
	s := served(t, webtest.NewStory().View())
	for of, want := range map[string]int{
		"shard-rs-1/why?by=colour":                                     http.StatusBadRequest,
		"shard-rs-1/why?project=6920a1b2c3d4e5f60718293a":              http.StatusBadRequest, // of no collection
		"shard-rs-1/why?ns=yorkie-meta.documents&project=x":            http.StatusBadRequest,
		"shard-rs-1/why?limit=0":                                       http.StatusBadRequest,
		"shard-rs-1/why?ns=%00":                                        http.StatusBadRequest,
		"shard-rs-1/why?ns=yorkie-meta.nothing":                        http.StatusNotFound,
		"nobody/why":                                                   http.StatusNotFound,
		"shard-rs-1/why?ns=yorkie-meta.documents&project=several":      http.StatusOK,
		"shard-rs-1/why?ns=yorkie-meta.users":                          http.StatusNotFound, // not sharded
		"shard-rs-1/why?ns=yorkie-meta.documents&project=" + noProject: http.StatusOK,
	} {
		expect.Equal(t, s.Do("GET", "/api/v1/shards/"+of).Code, want, "%s", of)
	}
}

const noProject = "ffffffffffffffffffffffff"

func TestTheShardsPageShowsTheSameWaterfallWithoutPlans(t *testing.T) {
	s := served(t, webtest.NewStory().View())
	a := why(t, s, "shard-rs-1/why?limit=12")
	doc := s.Page(t, "/shards/shard-rs-1")
	expect.Equal(t, doc.Find(".waterfall tbody tr").Length(), len(a.Items)+2, "rows of %d parts", len(a.Items))
	expect.That(t, doc.Find(".waterfall .helps").Length() == 0 && doc.Find(`a[href="/shards/shard-rs-1/why"]`).Length() != 0,
		"the region that everybody shares has plans, or does not lead to them")
	expect.Equal(t, s.Page(t, "/").Find(`.shards a[href="/shards/shard-rs-2/why"]`).Length(), 1,
		"the overview does not lead to it")
}

func TestTheQuestionFollowsTheDifference(t *testing.T) {
	s := served(t, webtest.NewStory().View())
	for _, shard := range []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"} {
		for by, words := range map[string][2]string{"bytes": {"fuller", "emptier"}, "documents": {"fuller", "emptier"}} {
			a := why(t, s, shard+"/why?by="+by)
			title := s.Page(t, "/shards/"+shard+"/why?by="+by).Find("h1").Text()
			want := words[0]
			if *a.Difference < 0 {
				want = words[1]
			}
			differs := math.Abs(*a.Difference) > 0.02**a.Even
			if differs != strings.Contains(title, want) {
				t.Errorf("%s %s: %q, although it differs by %v of %v", shard, by, title, *a.Difference, *a.Even)
			}
		}
	}
}
