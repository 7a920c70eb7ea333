package changes_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/offering"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestChangesAreOfferedToOperatorsAndLeadToAForm(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople)
	for _, address := range webtest.PagesWithChanges() {
		for _, role := range []auth.Role{auth.Viewer, auth.Support} {
			page := s.Page(t, address, webtest.As("vera", role))
			expect.Equal(t, page.Find(".acts").Length(), 0, "%s offers changes to a %s", address, role)
		}
		page := s.Page(t, address, webtest.As("olga", auth.Operator))
		links := page.Find(".acts a")
		expect.That(t, links.Length() != 0 && page.Find("[data-live] .acts").Length() == 0,
			"%s: %d offers, in the live region %d", address, links.Length(), page.Find("[data-live] .acts").Length())
		for i := range links.Length() {
			to, _ := links.Eq(i).Attr("href")
			w := s.Do("GET", to, webtest.As("olga", auth.Operator))
			form := webtest.ParseHTML(t, w.Body.String()).Find("form[action='/plans'][method=post] #reason")
			expect.That(t, w.Code == 200 && form.Length() == 1, "%s leads to %s: %d", address, to, w.Code)
		}
	}
	locked := webtest.New(t, webtest.WithPeople, webtest.WithDataHeld(store.OwnedByAnother))
	page := locked.Page(t, "/zones", webtest.As("olga", auth.Operator))
	expect.That(t, page.Find(".acts a").Length() == 0 && strings.Contains(page.Find(".acts").Text(), "Another shardboard owns"),
		"read only: %s", page.Find(".acts").Text())
}

func TestImpossibleChangesTellWhy(t *testing.T) {
	why := func(a []string, m map[string]string) {
		for _, text := range a {
			expect.That(t, m[text] != "", "%s can be done", text)
		}
	}
	read := func(list []api.Offer, blocked ...string) {
		m := map[string]string{}
		for _, a := range list {
			expect.Equal(t, (a.URL == ""), (a.Why != ""),
				"whether %s has the address %q or the reason %q", a.Text, a.URL, a.Why)
			m[a.Text] = a.Why
		}
		why(blocked, m)
	}
	of := func(v answer.View) *offering.Offers { return &offering.Offers{Table: v.Table} }
	fine := webtest.NewStory().View()
	single := webtest.NewStory().With(func(t *topology.Table) { t.Shards = t.Shards[:1] }).View()
	project := fine.Dir.All()[3]
	c := fine.Table.Collection("yorkie-meta.changes")
	read(of(fine).Chunk(c, c.Chunks.Len()-1), "Merge with the next…", "Clear the jumbo flag…")
	read(of(single).Chunk(c, 0), "Move…")
	read(of(single).Project(project), "Pin to a shard…", "Isolate…", "Unpin…")
	pinned := webtest.NewStory().With(func(t *topology.Table) {
		t.Zones = append(t.Zones, topology.ZoneRange{NS: topology.Namespace(project.DB + ".documents"), Zone: "pin-" + project.ID.Hex()})
	}).View()
	read(of(pinned).Project(project), "Pin to a shard…", "Isolate…", "Spread…")
	read(of(fine).Balancer(), "Turn the balancer on…")
	off := webtest.NewStory().With(func(t *topology.Table) { t.Balancer.Stopped, t.Balancer.Mode = true, "off" }).View()
	read(of(off).Balancer(), "Turn the balancer off…")
	read(of(fine).Shard("shard-rs-1"), "Remove from a zone…")
	out := func(shard string) string { return fmt.Sprintf("Remove %s from %s…", shard, "tight") }
	zoned := func(ranged bool, shards ...int) answer.View {
		return webtest.NewStory().With(func(t *topology.Table) {
			t.Shards = slices.Clone(t.Shards)
			for _, i := range shards {
				t.Shards[i].Zones = []string{"tight"}
			}
			if ranged {
				t.Zones = []topology.ZoneRange{{NS: "yorkie-meta.changes", Zone: "tight"}}
			}
		}).View()
	}
	name := fine.Table.Shards[0].Name
	read(of(zoned(true, 0)).Shard(name), out(name)) // its ranges would have no shard
	for _, fit := range []answer.View{zoned(true, 0, 1), zoned(false, 0)} {
		list := of(fit).Shard(name)
		i := slices.IndexFunc(list, func(a api.Offer) bool { return a.Text == out(name) })
		expect.That(t, i >= 0 && list[i].Why == "", "%+v", list)
	}
}

func TestEveryKindHasAFormWithItsWords(t *testing.T) {
	s := webtest.New(t)
	for _, k := range actions.Kinds() {
		w := s.Do("GET", answer.PlanURL(k))
		page := webtest.ParseHTML(t, w.Body.String())
		expect.That(t, w.Code == 200 && page.Find("form[action='/plans'] input[name=kind]").AttrOr("value", "") == string(k),
			"%s: %d", k, w.Code)
		title := page.Find("h1").Text()
		expect.That(t, title != string(k) && !strings.Contains(page.Find("main").Text(), "arg."), "%s has the title %q", k, title)
		page.Find("form.plan label").Each(func(_ int, l *goquery.Selection) {
			_, name := actions.ArgumentNamed(strings.TrimSpace(l.Text()))
			expect.That(t, !name, "%s: the field %q has no words", k, l.Text())
		})
	}
	expect.Equal(t, s.Do("GET", "/plans/new?kind=explode").Code, http.StatusBadRequest, "an unknown kind")
}

// Who has a form before him and doubts reads when the change is right, with a proof and a way back.
func TestEachFormLeadsToThePlaybooksThatPlanItsChange(t *testing.T) {
	s := webtest.New(t)
	leads := func(k actions.Kind) (out []string) {
		page := s.Page(t, answer.PlanURL(k))
		page.Find(`#newplan a[href^="/help/"]`).Each(func(_ int, a *goquery.Selection) {
			out = append(out, strings.TrimPrefix(a.AttrOr("href", ""), "/help/"))
		})
		return out
	}
	for _, k := range actions.Kinds() {
		books := leads(k)
		expect.That(t, len(books) != 0, "%s has no playbook", k)
		for _, b := range books {
			expect.Contains(t, s.Do("GET", "/help/"+b).Body.String(), "shardboard plan "+string(k),
				"the playbook %s plans %s", b, k)
		}
	}
	expect.EqualSlices(t, leads(actions.ClearJumbo), []string{"jumbo-chunk"}, "clear-jumbo leads to")
}

func TestPlanOfAnotherOperatorIsShownWithoutAWayToRunIt(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople)
	for _, c := range []struct {
		name, role string
		buttons    int
		says       string
	}{{"olga", "operator", 1, ""}, {"bert", "operator", 0, "was made by Olga"}, {"vera", "viewer", 0, "needs the role"}} {
		page := s.Page(t, "/plans/"+webtest.RecordID("move"), webtest.As(c.name, auth.Role(c.role)))
		n := page.Find(".confirm button.main:not([disabled])").Length()
		expect.That(t, n == c.buttons && strings.Contains(page.Find(".confirm").Text(), c.says),
			"%s: %d buttons, %s", c.name, n, page.Find(".confirm").Text())
	}
}

func TestARunIsFollowedLiveAndTheSameForAll(t *testing.T) {
	var stub *webtest.StubActions
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		id := webtest.RecordID("running")
		b := l.Open("t=run:" + id)
		time.Sleep(time.Second)
		synctest.Wait()
		run, _ := stub.RunByID(t.Context(), id)
		run.Steps = slices.Clone(run.Steps)
		for i := range run.Steps {
			run.Steps[i].Progress = engine.Progress{Done: 5, Total: 6}
		}
		stub.Change(run)
		time.Sleep(time.Second)
		synctest.Wait()
		f := b.Last(t)
		expect.That(t, f.Topic == "run:"+id && strings.Contains(f.HTML, "Phase 5 of 6 of the move"), "%+v", f)
		expect.That(t, !strings.Contains(f.HTML, "<form") && !strings.Contains(f.HTML, "<button"),
			"a fragment for all has what not all may press")
	}, func(d *site.Deps) { // its channel is of the bubble
		stub = webtest.CannedActions()
		d.Changes.Actions = stub
	})
}

func TestCommandsAreShownAsMongoshTakesThem(t *testing.T) {
	p := webtest.CannedActions().PlanList[1]
	got := changing.MongoshCommand(p.Commands[0])
	if !strings.HasPrefix(got,
		`db.getSiblingDB("admin").runCommand({"moveChunk": "yorkie-meta.changes", "bounds": [{"doc_id": NumberLong("-`) {
		t.Error(got)
	}
}

func TestRunOfADrainSaysThatStopDoesNotEndIt(t *testing.T) {
	for version, want := range map[string]string{
		"8.0.13": "Ending a draining needs MongoDB 8.3.",
		"8.3.0":  "kind=stop-draining&amp;shard=shard-rs-2",
	} {
		s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}),
			webtest.WithActions(webtest.WithBigRuns(webtest.CannedActions())))
		table := webtest.CannedTable(1, 250)
		webtest.Draining(table)
		table.ServerInfo.Version = version
		s.Watcher.Publish(table)
		page := s.Do("GET", "/runs/"+webtest.RecordID(webtest.DrainingRun)).Body.String()
		expect.That(t, strings.Contains(page, "shard-rs-2 keeps draining until it is empty") && strings.Contains(page, want),
			"%s: the page of the run lacks %q", version, want)
	}
}

// Forms of changes speak of what the profile calls tenants; names of arguments stay.
func TestFormsSpeakTheWordsOfTheProfile(t *testing.T) {
	shop := *profile.Yorkie()
	shop.Tenants = profile.Called{One: "Tenant", Many: "Tenants"}
	s := webtest.New(t, func(d *site.Deps) { d.Cluster.Profile = &shop })
	for path, says := range map[string]string{"/plans/new?kind=pin": "Pin a tenant",
		"/plans/new?kind=split-project": "Split a tenant’s chunks", "/plans/new": "Spread a tenant over the shards"} {
		w := s.Do("GET", path)
		main := webtest.ParseHTML(t, w.Body.String()).Find("main")
		if text := main.Text(); !strings.Contains(text, says) || strings.Contains(text, " project") || strings.Contains(text, "Project") {
			t.Errorf("%s: status %d, says %q", path, w.Code, text)
		}
		expect.That(t, path != "/plans/new?kind=pin" || main.Find("[name=project]").Length() == 1, "the argument has another name")
	}
}

// A link to a plan that was removed says what became of it.
func TestRemovedPlanIsNotFoundWithItsReason(t *testing.T) {
	webtest.OnBreakableCluster(t, simcluster.Options{Projects: 2, Documents: 10, Still: true}, func(f *webtest.BreakableServer) {
		p := f.Plan("anna", webtest.SplitAt(1))
		if n, err := f.DB.DropPlans(f.Context(), time.Now().Add(time.Minute), 10); err != nil || n != 1 {
			f.Fatal(n, err)
		}
		for path, says := range map[string]string{"/plans/" + p.ID: "never run and was removed after 30 days",
			"/plans/" + strings.Repeat("a", 26): "no such plan"} {
			for prefix, accept := range map[string]string{"": "text/html", "/api/v1": "application/json"} {
				w := f.Do("GET", prefix+path, webtest.As("anna", auth.Operator), webtest.Header("Accept", accept))
				expect.That(f, w.Code == http.StatusNotFound && strings.Contains(w.Body.String(), says),
					"%s%s: %d %s", prefix, path, w.Code, w.Body)
			}
		}
	})
}
