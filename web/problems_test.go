package web_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// troubles are what can be wrong, each by itself; a generated situation has some.
var troubles = map[string]func(*topology.Table){
	"all": webtest.Troubled,
	"balancer off": func(t *topology.Table) {
		t.Balancer.Mode, t.Balancer.Stopped = "off", true
	},
	"balancer unknown": func(t *topology.Table) { t.Balancer = topology.Balancer{} },
	"routing stale": func(t *topology.Table) {
		t.Health[topology.PartRouting] = topology.Health{
			At:  webtest.Epoch.Add(-7 * time.Minute),
			Err: fault.New(fault.Unavailable, "The cluster does not answer."),
		}
	},
	"nothing permitted": func(t *topology.Table) {
		for _, p := range webtest.EveryPart() {
			if p != topology.PartRouting && p != topology.PartShards && p != topology.PartDatabases {
				t.Health[p] = topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find on config." + string(p)}
			}
		}
		t.Events, t.Zones, t.Sizes, t.Unsharded, t.Routers, t.Balancer = nil, nil, nil, nil, nil, topology.Balancer{}
	},
	"a shard drains": func(t *topology.Table) { t.Shards[len(t.Shards)-1].Draining = true },
	"no events":      func(t *topology.Table) { t.Events = nil },
	"disks full":     func(t *topology.Table) { t.Disks[t.Shards[0].Name] = webtest.DiskOf(470, 480, webtest.Epoch) },
	"zone empty":     func(t *topology.Table) { t.Shards[0].Zones = append(t.Shards[0].Zones, "left") },
	"failures": func(t *topology.Table) {
		for i := range 9 {
			d := webtest.Must(
				bson.Marshal(
					bson.D{
						{Key: "min", Value: bson.D{{Key: "doc_id", Value: int64(i)}}},
						{Key: "max", Value: bson.D{{Key: "doc_id", Value: int64(i + 1)}}},
						{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: "shard-rs-2"},
						{Key: "errmsg", Value: webtest.HostileName},
					},
				),
			)
			t.Events = append(
				[]topology.Event{
					{ID: fmt.Sprint("f", i), Time: webtest.Epoch.Add(-time.Minute), What: "moveChunk.error", NS: "yorkie-meta.changes", Details: d},
				},
				t.Events...)
		}
	},
	"not loaded": func(t *topology.Table) { *t = topology.Table{ClusterID: t.ClusterID} },
	"not reached": func(t *topology.Table) {
		*t = topology.Table{
			ClusterID: t.ClusterID,
			Health:    map[topology.Part]topology.Health{topology.PartRouting: {Err: fault.New(fault.Unavailable, "No answer.")}},
		}
	},
	"silent mongos": func(t *topology.Table) {
		t.Routers = append(t.Routers, topology.Router{Host: webtest.HostileName, Version: "5.0.6", Ping: webtest.Epoch.Add(-20 * time.Minute)})
	},
}

// generated is the i-th situation: some shards, some troubles.
func generated(i int) answer.View {
	rng := rand.New(rand.NewPCG(uint64(i), 11))
	s := webtest.NewStory()
	s.Rand = rng
	s.Shards = []int{1, 2, 3, 3, 12, 24}[rng.IntN(6)]
	names := make([]string, 0, len(troubles))
	for name := range troubles {
		names = append(names, name)
	}
	slices.Sort(names)
	for range rng.IntN(4) {
		name := names[rng.IntN(len(names))]
		s.With(func(t *topology.Table) {
			if len(t.Shards) >= 2 && len(t.Collections) > 0 || name == "no events" {
				troubles[name](t)
			}
		})
	}
	v := s.View()
	if rng.IntN(5) == 0 {
		v.Dir = placement.NewDirectory(1, []string{"yorkie-meta"}, nil,
			topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find"})
	}
	return v
}

// TestEveryPlaceShowsTheSameProblems holds overview, status dot, advice, alerts
// and the API against each other in many situations.
func TestEveryPlaceShowsTheSameProblems(t *testing.T) {
	levels := map[string]int{}
	n := 120
	if testing.Short() {
		n = 12
	}
	for i := range n {
		v := generated(i)
		s := webtest.New(t)
		s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
		found := problems.Problems(s.View())
		sum := found.Summary()
		var want []string
		for _, p := range found.Items {
			want = append(want, p.ID+" "+string(p.Severity))
		}
		doc := s.Page(t, "/")
		level := levelOf(doc)
		levels[level]++
		text := strings.TrimSpace(doc.Find("h1").Text())
		if counts := doc.Find("#live-headline .counts"); counts.Length() > 0 { // the title is the worst problem's sentence
			expect.That(t, slices.ContainsFunc(found.Items, func(p rules.Problem) bool {
				return p.Severity == sum.Worst() && v.Named(p.Text).At(v.Now) == text
			}), "%d: the title is %q, which none of the worst problems says", i, text)
			text = strings.TrimSuffix(strings.TrimSpace(counts.Text()), ".")
		}
		none := strings.HasPrefix(text, "No problems") || strings.HasPrefix(text, "No open problems")
		switch {
		case none != (sum.Open() == 0 && v.Table.Loaded):
			t.Errorf("%d: %q with %d problems", i, text, sum.Open())
		case text == "No problems" && !sum.Clear():
			t.Errorf("%d: %q with %d rules unchecked", i, text, sum.Unchecked)
		case (level == "bad") != (sum.Worst() == rules.Critical), level == "ok" && !sum.Clear():
			t.Errorf("%d: the headline is %s, the worst problem %q", i, level, sum.Worst())
		}
		checkOverview(t, i, doc, found)
		checkDot(t, i, doc, v, sum)

		advice := s.Page(t, "/advice")
		if got := strings.TrimSpace(advice.Find("h1").Text()); got != text || levelOf(advice) != level {
			t.Errorf("%d: the overview says %q (%s), advice %q (%s)", i, text, level, got, levelOf(advice))
		}
		var listed []string
		advice.Find(".findings > li").Each(func(_ int, li *goquery.Selection) {
			id, _ := li.Attr("data-key")
			severity, _ := li.Attr("data-severity")
			listed = append(listed, id+" "+severity)
		})
		expect.EqualSlices(t, listed, want, "%d: what advice lists", i)
		if !v.Table.Loaded {
			continue // the API has nothing to answer from
		}
		list, cluster := webtest.Decode[api.AdviceList](t,
			s.Do("GET", "/api/v1/advice")), webtest.Decode[api.Cluster](t, s.Do("GET", "/api/v1/cluster"))
		var ids, lines []string
		for _, x := range list.Items {
			ids = append(ids, x.ID+" "+x.Severity)
			expect.That(t, x.Rank == x.Severity, "%s: rank %s, severity %s", x.ID, x.Rank, x.Severity)
		}
		for _, x := range cluster.Problems.Items {
			lines = append(lines, x.ID+" "+x.Severity)
		}
		expect.That(t, slices.Equal(ids, want) && slices.Equal(lines, want), "%d: the API lists %v and %v, want %v", i, ids, lines, want)
		p := cluster.Problems
		expect.That(t, p.Worst == string(sum.Worst()) && p.Headline == text && p.Clear == sum.Clear() &&
			p.Critical+p.Warn+p.Info == len(want) && p.Headline == list.Summary.Headline, "%d: %+v for %q", i, p, text)
		observed, err := problems.AlertSource(s.Deps.Problems.Advice, false)(t.Context())
		must.Do(t, err)
		var alerts []string
		for _, x := range observed.Notices {
			alerts = append(alerts, x.ID+" "+string(x.Severity))
		}
		expect.EqualSlices(t, alerts, want, "%d: alerts", i)
	}
	expect.That(t, levels["bad"] != 0 && levels["note"] != 0, "the situations are all alike: %v", levels)
}

func levelOf(doc *goquery.Document) string {
	class, _ := doc.Find("h1.verdict").Attr("class")
	_, level, _ := strings.Cut(class, "is-")
	return level
}

// checkOverview: the list of the overview is the beginning of the list, each
// problem has its severity in words, and what is left out is counted.
func checkOverview(t *testing.T, i int, doc *goquery.Document, found rules.View) {
	t.Helper()
	rows := doc.Find("#attention .attention li")
	if want := min(len(found.Items), problems.ShownProblems); rows.Length() != want {
		t.Errorf("%d: the overview lists %d of %d", i, rows.Length(), len(found.Items))
		return
	}
	rows.Each(func(n int, li *goquery.Selection) {
		id, _ := li.Attr("data-key")
		p := found.Items[n]
		expect.That(t, id == p.ID && strings.TrimSpace(li.Find(".flag").Text()) == p.Severity.Name(),
			"%d: row %d is %s %q, want %s %s", i, n, id, li.Find(".flag").Text(), p.ID, p.Severity)
	})
	rest := doc.Find("#attention .rest").Text()
	more := len(found.Items) - problems.ShownProblems
	expect.That(t, more <= 0 || strings.Contains(rest, fmt.Sprint(more)), "%d: %d problems are left out and %q", i, more, rest)
	if s := found.Summary(); s.Unchecked > 0 && !strings.Contains(rest, fmt.Sprintf("%d of %d rules", s.Unchecked, s.Rules)) {
		t.Errorf("%d: %d rules are not checked and %q", i, s.Unchecked, rest)
	}
	s := found.Summary()
	expect.That(t, s.NotAvailable == 0 || strings.Contains(rest, fmt.Sprintf("%d of %d rules is not available", s.NotAvailable, s.Rules)),
		"%d: %d rules are not available and %q", i, s.NotAvailable, rest)
}

// checkDot: where the data is of now the dot is of the worst problem.
func checkDot(t *testing.T, i int, doc *goquery.Document, v answer.View, s rules.Summary) {
	t.Helper()
	level, _ := doc.Find("#status").Attr("data-level")
	want := "ok"
	switch {
	case !v.Table.Loaded, v.Table.Stale(topology.PartRouting, v.Now):
		expect.That(t, level != "ok" && level != "warn" && level != "critical", "%d: the dot is %s though the data is not of now", i, level)
		return
	case s.Worst() == rules.Critical, s.Worst() == rules.Warn:
		want = string(s.Worst())
	}
	expect.Equal(t, level, want, "%d: the dot", i)
	words := doc.Find("#status .words").Text()
	expect.That(t, want != "critical" || strings.Contains(words, "critical problem"), "%d: the dot says %q", i, words)
}

// TestZonesAreFineOnlyWhenTheirRulesWereChecked: what could not be checked, and
// what somebody dismissed, is not called fine.
func TestZonesAreFineOnlyWhenTheirRulesWereChecked(t *testing.T) {
	const fine = "Every chunk is in its zone"
	v := webtest.NewStory().With(func(t *topology.Table) {
		t.Shards = slices.Clone(t.Shards)
		t.Shards[0].Zones = []string{"eu"}
	}).View()
	found := problems.Problems(v)
	found.Items, found.Unsure = nil, nil
	v.Found = &found
	a := problems.Zones(v)
	expect.That(t, a.Verdict == fine && a.Level == "ok", "%s %q, want %q", a.Level, a.Verdict, fine)
	found.Unsure = []rules.Unsure{{Rule: rules.ZoneViolated}}
	if a := problems.Zones(v); a.Level != "note" || !strings.Contains(a.Verdict, "not every rule could be checked") {
		t.Errorf("unchecked: %s %q", a.Level, a.Verdict)
	}
	found.Unsure = []rules.Unsure{{Rule: rules.HotShard}}
	expect.Equal(t, problems.Zones(v).Verdict, fine, "a rule of another page")
	found.Dismissed = []rules.Dismissed{{Problem: rules.Problem{ID: "x", Rule: rules.ZonesStuck}}}
	expect.Contains(t, problems.Zones(v).Verdict, "1 dismissed", "dismissed")
}

// TestAHeadlineSaysThatSizesAreStillBeingRead while rules wait for nothing but the first read of statistics.
func TestAHeadlineSaysThatSizesAreStillBeingRead(t *testing.T) {
	const reading = "No problems found so far: sizes are being read"
	all := rules.Summary{Rules: len(rules.Rules()), Unchecked: 4}
	v := answer.View{Table: &topology.Table{Loaded: true}}
	level, text := problems.Headline(v, all)
	expect.That(t, level == "note" && text == reading, "before the first read: %s %q", level, text)
	v.Now = time.Now()
	v.Table.Health = map[topology.Part]topology.Health{topology.PartSizes: {At: v.Now}}
	_, text = problems.Headline(v, all)
	expect.That(t, text != reading, "after the first read: %q", text)
	all.Warn = 1
	v.Table.Health = nil
	_, text = problems.Headline(v, all)
	expect.Equal(t, text, "1 warning", "with a problem")
}

// TestAClearClusterSaysNoProblems: only then, and by the same words everywhere.
func TestAClearClusterSaysNoProblems(t *testing.T) {
	for _, c := range []struct {
		s     rules.Summary
		level string
		want  string
	}{
		{rules.Summary{Rules: 30}, "ok", "No problems"},
		{rules.Summary{Rules: 30, Unchecked: 2}, "note", "No problems found, but not every rule could be checked"},
		{rules.Summary{Rules: 30, NotAvailable: 1}, "ok", "No problems"},
		{rules.Summary{Rules: 30, Dismissed: 1}, "ok", "No open problems, 1 dismissed"},
		{rules.Summary{Rules: 30, Info: 1}, "note", "1 note"},
		{rules.Summary{Rules: 30, Warn: 2, Info: 1}, "warn", "2 warnings, 1 note"},
		{rules.Summary{Rules: 30, Critical: 1, Warn: 2, Unchecked: 4}, "bad", "1 critical problem, 2 warnings"},
	} {
		level, text := problems.Headline(answer.View{Table: &topology.Table{Loaded: true}}, c.s)
		expect.That(t, level == c.level && text == c.want, "%+v: %s %q", c.s, level, text)
	}
}
