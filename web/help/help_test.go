package help_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

func TestEveryPlaybookIsListedAndOpens(t *testing.T) {
	s := webtest.New(t)
	listed := map[string]bool{}
	s.Page(t, "/help").Find("main .playbooks h2 a").Each(func(_ int, a *goquery.Selection) {
		to := a.AttrOr("href", "")
		listed[to] = true
		page := s.Page(t, to).Find("main")
		title := page.Find("h1").Text()
		expect.That(t, title != "" && title == a.Text(), "%s is listed as %q and has the title %q", to, a.Text(), title)
		for _, heading := range []string{"How it shows", "Look", "Decide", "Plan and run", "Proof", "Undo", "If it goes wrong", "Tell the team"} {
			expect.Equal(t, page.Find("h2").FilterFunction(func(_ int, h *goquery.Selection) bool { return h.Text() == heading }).Length(), 1,
				"%s has no part %q", to, heading)
		}
		expect.That(t, page.Find("[data-copy]").Length() >= 5, "%s has no commands to copy", to)
		if text := page.Text(); strings.ContainsAny(text, "\x00\x01\uFFFD") || strings.Contains(text, "](") || strings.Contains(text, "```") {
			t.Errorf("%s shows its markup", to)
		}
	})
	for _, r := range rules.Rules() {
		for _, p := range r.Playbooks() {
			expect.That(t, listed[p.URL()], "%s leads to %s, which is not listed", r, p.URL())
		}
	}
}

// Who comes from a problem looks for its name, to be sure that this is the case.
func TestEachPlaybookNamesTheProblemsThatLeadToIt(t *testing.T) {
	s := webtest.New(t)
	for _, r := range rules.Rules() {
		for _, p := range r.Playbooks() {
			shows := s.Page(t, p.URL()).Find("main article h2").First().NextUntil("h2").Text()
			expect.That(t, strings.Contains(strings.Join(strings.Fields(shows), " "), r.Name()),
				"%s does not name %q under how it shows", p, r.Name())
		}
	}
}

// A link of a playbook or a runbook may lead only to another one and to pages that exist.
func TestLinksOfPlaybooksAndRunbooksLeadToPages(t *testing.T) {
	s := webtest.New(t)
	pages := map[string]bool{}
	for _, p := range web.Pages() {
		pages[p] = true
	}
	for _, index := range []string{"/help", "/runbooks"} {
		n := 0
		s.Page(t, index).Find("main .playbooks h2 a").Each(func(_ int, a *goquery.Selection) {
			s.Page(t, a.AttrOr("href", "")).Find("main article a").Each(func(_ int, a *goquery.Selection) {
				to := a.AttrOr("href", "")
				path, _, _ := strings.Cut(to, "?")
				n++
				expect.That(t, pages[path] || s.Do("GET", to).Code == http.StatusOK, "%s leads to %s, which is no page", index, to)
			})
		})
		expect.That(t, n >= 20, "only %d links of %s", n, index)
		for _, name := range []string{"nope", "hot-project.md", "balancer-off.md", "%2e%2e%2fREADME", "playbooks.go", "<script>"} {
			if w := s.Do("GET", index+"/"+name); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<script>") {
				t.Errorf("%s/%s: status %d", index, name, w.Code)
			}
		}
	}
}

// Without changes there is no page of plans, so nothing may lead there.
func TestPlaybooksWithoutChangesSaySoAndDoNotLinkToPlans(t *testing.T) {
	on := webtest.New(t).Page(t, "/help/hot-project").Find("main")
	off := webtest.New(t, func(d *site.Deps) { d.Changes.Actions = nil }).Page(t, "/help/hot-project").Find("main")
	const plans = `article a[href^="/plans"]`
	expect.That(t, on.Find(plans).Length() != 0 && off.Find(plans).Length() == 0,
		"%d links to plans, and %d without changes", on.Find(plans).Length(), off.Find(plans).Length())
	expect.That(t, on.Find(".note").Length() == 0 && strings.Contains(off.Find(".note").Text(), "Changes are turned off"),
		"the page does not say that changes are turned off")
}

// Below the base of a cluster a playbook leads to the pages of its own cluster.
func TestPlaybooksLeadToTheirOwnCluster(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Place.Base = templates.Base{Prefix: "/c/eu"} })
	a := s.Page(t, "/help/hot-project").Find("main article a")
	a.Each(func(_ int, a *goquery.Selection) {
		to := a.AttrOr("href", "")
		expect.That(t, strings.HasPrefix(to, "/c/eu/"), "a link to %s", to)
	})
	expect.That(t, a.Length() != 0, "no links")
}

func TestPlaybooksSpeakTheWordsOfTheProfile(t *testing.T) {
	shop := *profile.Yorkie()
	shop.Tenants, shop.Called = profile.Called{One: "Tenant", Many: "Tenants"}, profile.Called{One: "Order", Many: "Orders"}
	s := webtest.New(t, func(d *site.Deps) { d.Cluster.Profile = &shop })
	s.Page(t, "/help").Find("main .playbooks h2 a").Each(func(_ int, a *goquery.Selection) {
		page := s.Page(t, a.AttrOr("href", "")).Find("main")
		page.Find("code").Remove()
		expect.LacksAll(t, page.Find("article").Text(), []string{" project ", "Yorkie document"}, "%s speaks of projects", a.Text())
	})
	page := s.Page(t, "/help/hot-project").Find("main")
	expect.Contains(t, page.Find("h1").Text(), "enant", "its title")
	expect.Contains(t, page.Find("article code").Text(), "--project", "the commands")
}
