package changes_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
	"shardboard/web/changes"
	"shardboard/web/webtest"
)

func TestAPlanOfAHotChunkTellsTheWritesBeforeAndAfter(t *testing.T) {
	s := webtest.New(t)
	path := "/plans/" + webtest.RecordID("hot")
	p := webtest.Decode[api.Plan](t, s.Do("GET", "/api/v1"+path))
	args, err := actions.ReadArgs(p.Args.RawMessage)
	must.That(t, err == nil && p.Kind == "split-hot" && !p.Blocked && len(args.Cuts) == 1 && args.Chunk == "" && len(p.Commands) == 2,
		"%v: %+v", err, p)
	cut := args.Cuts[0]
	page := s.Page(t, path)
	rows := page.Find("table.writes tbody tr")
	must.That(t, len(p.Effect.Writes) == 3 && rows.Length() == 3, "%+v, %d rows on the page", p.Effect.Writes, rows.Length())
	for i, w := range p.Effect.Writes {
		text := rows.Eq(i).Text()
		expect.That(t, strings.Contains(text, w.Shard) && strings.Contains(text, format.PerSecond(w.PerSecondAfter)+" writes/s") &&
			strings.Contains(text, "≈"), "%+v is told as %q", w, text)
		expect.Equal(t, w.PerSecondAfter > w.PerSecondBefore, (w.Shard == cut.To),
			"whether the writes of %+v grow, when it goes to %s", w, cut.To)
	}
	if strings.Contains(page.Find("main").Text(), "[check.") || !strings.Contains(page.Find("main").Text(), "leaves 50") {
		t.Error(page.Find("table.checks").Text())
	}

	// What was chosen comes back through the API and the form as it was.
	expect.That(t, bytes.Equal(args.JSON(), p.Args.RawMessage), "%s, want %s", args.JSON(), p.Args.RawMessage)
	formed, err := changes.FormArgs(url.Values{"ns": {string(args.NS)}, "cuts": {args.Texts()["cuts"]}})
	expect.That(t, err == nil && bytes.Equal(formed.JSON(), p.Args.RawMessage), "%v: %s", err, formed.JSON())
}

func TestPlanPageTellsThatOneValueMakesAChunkHot(t *testing.T) {
	s := webtest.New(t)
	page := s.Page(t, "/plans/"+webtest.RecordID("onevalue"))
	text := page.Find(".checks tr.is-block").Text()
	expect.ContainsAll(t, text, []string{"takes 83", "no split divides them", "Move the whole chunk",
		"project " + webtest.NewStory().View().Dir.All()[3].Name}, "the text")
	expect.Equal(t, page.Find("table.writes").Length(), 0, "nothing moves, and writes are told to change")
}

func TestTheFormOfHotChunksAsksForWhatIsNotSaid(t *testing.T) {
	s := webtest.New(t)
	c := s.Watcher.Value.Collection("yorkie-meta.changes")
	fields := func(address string) map[string]bool {
		out := map[string]bool{}
		for _, f := range s.Page(t, address).Find("form.plan [name]").EachIter() {
			if f.AttrOr("type", "") != "hidden" {
				out[f.AttrOr("name", "")] = true
			}
		}
		return out
	}
	one, several, bare := fields(writes.HotChunkPlan(c, "", 2)), fields(writes.HotChunkPlan(c, "", 1, 2)),
		fields(answer.PlanURL(actions.SplitHot, "ns", "yorkie-meta.changes"))
	expect.That(t, !one["chunks"] && !one["chunk"] && one["at"] && one["to"] && !one["cuts"], "of one chunk: %v", one)
	expect.That(t, several["chunks"] && !several["chunk"] && !several["at"] && several["to"], "of several: %v", several)
	expect.That(t, bare["chunk"] && bare["chunks"] && bare["at"] && !bare["cuts"], "of none: %v", bare)
	// No shard is chosen unless somebody chooses one.
	first := s.Page(t, writes.HotChunkPlan(c, "",
		2)).Find("select[name=to] option").First()
	expect.That(t, first.AttrOr("value", "") == "" && first.Text() != "", "the first choice is %q", first.Text())
	a, err := changes.FormArgs(url.Values{"chunks": {" x\ty,z\n"}})
	expect.That(t, err == nil && strings.Join(a.Chunks, "|") == "x|y|z", "%v %v", a.Chunks, err)
}

// planned are the arguments of the plan that helps a line of heat.
func planned(t *testing.T, l api.Heat) actions.Args {
	t.Helper()
	args, err := actions.ReadArgs(l.Plan.Args.RawMessage)
	must.Do(t, err)
	return args
}

// The page of heat and its JSON lead to the same plan, and only those who may plan.
func TestHotChunkLinksThePlanThatHelps(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 2*time.Minute+5*time.Second, nil)
	items := webtest.HeatListOf(t, s, "chunks?limit=1000&ns=yorkie-meta.changes").Items
	page := s.Page(t, "/heat")
	kinds := map[string]int{}
	for i, l := range items {
		if l.Plan == nil {
			continue
		}
		kinds[l.Plan.Kind]++
		want := map[string]string{"divides": "split-hot", "document": "move"}[l.Split]
		expect.That(t, l.Plan.Kind == want && planned(t, l).Chunk == l.ID, "%s: %+v", l.Split, l.Plan)
		if i >= writes.ShownHot {
			continue
		}
		to, err := url.Parse(page.Find(".hot tbody tr").Eq(i).Find("a.plan").AttrOr("href", ""))
		if q := to.Query(); err != nil || q.Get("kind") != l.Plan.Kind || q.Get("chunk") != l.ID || q.Get("to") != planned(t, l).To {
			t.Errorf("%d: the page leads to %s, the JSON to %+v", i, to, l.Plan)
		}
	}
	expect.That(t, kinds["split-hot"] != 0, "no plan to split: %v", kinds)
	s.Deps.Changes.Actions = nil
	for _, l := range webtest.HeatListOf(t, s, "chunks?limit=1000&ns=yorkie-meta.changes").Items {
		must.That(t, l.Plan == nil, "a plan where nothing can be changed")
	}
}
