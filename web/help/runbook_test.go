package help_test

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.yaml.in/yaml/v3"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// alertRule is an alert of deploy/prometheus/rules.yaml.
type alertRule struct {
	Alert       string
	Annotations map[string]string
}

func alertRules(t *testing.T) (out []alertRule) {
	t.Helper()
	text := must.Get(os.ReadFile("../../deploy/prometheus/rules.yaml"))
	var file struct{ Groups []struct{ Rules []alertRule } }
	must.Do(t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	must.That(t, len(out) >= 20, "only %d rules", len(out))
	return out
}

// The address that docs/metrics.md and the chart replace by that of the server.
const placeholder = "https://shardboard.example"

func TestTheRunbookOfEachAlertIsServedWhereTheRuleSays(t *testing.T) {
	alone, several := webtest.New(t), webtest.New(t, webtest.OfServer(webtest.Clusters()))
	opened := map[string]bool{}
	for _, r := range alertRules(t) {
		address, ok := strings.CutPrefix(r.Annotations["runbook_url"], placeholder)
		if !ok {
			t.Errorf("%s: runbook_url %q", r.Alert, r.Annotations["runbook_url"])
			continue
		}
		address = strings.ReplaceAll(address, "{{ $labels.cluster | urlquery }}", url.QueryEscape(`eu "1"`))
		expect.That(t, !strings.Contains(address, "{{"), "%s: a template in %s is not tested", r.Alert, address)
		path, _, _ := strings.Cut(address, "?")
		opened[path] = true
		for _, s := range []*webtest.Server{alone, several} {
			page := s.Page(t, address).Find("main")
			expect.Contains(t, page.Find(".head").Text(), r.Alert, "%s is not about", address)
			for _, heading := range []string{"What it means", "How to look", "What to do", "Pages of shardboard"} {
				expect.Equal(t, page.Find("h2").FilterFunction(func(_ int, h *goquery.Selection) bool { return h.Text() == heading }).Length(), 1,
					"%s has no part %q", address, heading)
			}
			if text := page.Text(); strings.ContainsAny(text, "\x00\x01\uFFFD") || strings.Contains(text, "](") || strings.Contains(text, "```") {
				t.Errorf("%s shows its markup", address)
			}
		}
	}
	listed := alone.Page(t, "/runbooks").Find("main .playbooks h2 a")
	listed.Each(func(_ int, a *goquery.Selection) {
		expect.That(t, opened[a.AttrOr("href", "")], "%s is listed, and no alert leads there", a.AttrOr("href", ""))
	})
	expect.That(t, listed.Length() == len(opened), "%d are listed, alerts lead to %d", listed.Length(), len(opened))
}

// The rules know the name of the cluster, so on a server of several the links lead to its pages.
func TestLinksOfARunbookLeadToTheClusterOfTheAlert(t *testing.T) {
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()))
	links := func(address string) (out []string) {
		s.Page(t, address).Find("main article a").Each(func(_ int, a *goquery.Selection) { out = append(out, a.AttrOr("href", "")) })
		return out
	}
	of := links("/runbooks/balancer-off?cluster=prod")
	for _, want := range []string{"/c/prod/activity", "/c/prod/advice", "/c/prod/help/balancer-does-nothing"} {
		expect.Contains(t, strings.Join(of, " ")+" ", want+" ", "no link to %s in %v", want, of)
	}
	for _, name := range []string{"", "secret", "new", "nope", "../x"} { // not named, hidden, without pages, unknown
		page := s.Page(t, "/runbooks/balancer-off?cluster="+url.QueryEscape(name)).Find("main")
		if page.Find(`article a[href="/activity"]`).Length() == 0 || !strings.Contains(page.Find(".note").Text(), "the list of clusters first") {
			t.Errorf("cluster %q: %v", name, links("/runbooks/balancer-off?cluster="+url.QueryEscape(name)))
		}
	}
	of = links("/runbooks/audit-record-broken")
	expect.That(t, len(slices.Compact(of)) == 1 && of[0] == "/audit", "pages of the server itself: %v", of)
	of = links("/runbooks/zone-violations?cluster=prod")
	expect.That(t, strings.Contains(strings.Join(of, " "), "/runbooks/balancer-off"), "no link to another runbook: %v", of)
}

func TestRunbooksWithoutChangesDoNotLinkToRuns(t *testing.T) {
	const runs = `article a[href^="/runs"]`
	on := webtest.New(t).Page(t, "/runbooks/run-waiting").Find("main")
	off := webtest.New(t, func(d *site.Deps) { d.Changes.Actions = nil }).Page(t, "/runbooks/run-waiting").Find("main")
	expect.That(t, on.Find(runs).Length() != 0 && off.Find(runs).Length() == 0,
		"%d links to runs, and %d without changes", on.Find(runs).Length(), off.Find(runs).Length())
}
