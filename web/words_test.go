package web_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// shopWords is Yorkie's profile with the words of a shop.
func shopWords() *profile.Profile {
	p := *profile.Yorkie()
	p.Tenants, p.Called = profile.Called{One: "Tenant", Many: "Tenants"}, profile.Called{One: "Item", Many: "Items"}
	return &p
}

// ownWords are pages of the lab whose data is a model of Yorkie's or a game, which says project of it.
var ownWords = regexp.MustCompile(`^/lab(/keys|/game|)($|\?)`)

// Every page speaks of what the profile calls tenants and items; names of commands, arguments and addresses stay.
func TestAllPagesSpeakTheWordsOfTheProfile(t *testing.T) {
	t.Parallel()
	p := shopWords()
	speaks := func(d *site.Deps) {
		d.Cluster.Profile = p
		d.Locate.Locator = placement.NewLocator(nil, d.Cluster.Watcher, d.Cluster.Keeper, p)
		d.Problems.Advice = rules.NewAdvisor(rules.Sources{Tables: d.Cluster.Watcher, Directories: d.Cluster.Keeper, Profile: p,
			Heat: d.Measured.Heat, Now: d.Now})
	}
	calm := webtest.New(t, webtest.WithHistory(t), speaks)
	busy, v := chunkTrouble(t)
	speaks(&busy.Deps)
	more := formsOfPlans()
	for _, plan := range []string{"split", "move", "pin", "isolate", "blocked", "done", "hot"} {
		more = append(more, "/plans/"+webtest.RecordID(plan))
	}
	all := crawl(t, calm.Deps, getFrom(calm), more...)
	project, other := v.Dir.All()[3], v.Dir.All()[5]
	ref := answer.ChunkRef(v.Table.Collection(webtest.DocumentsNS), v.Table.Collection(webtest.DocumentsNS).Chunks.At(3).Min)
	for _, address := range slices.Concat(hiddenPaths(project.ID.Hex()), []string{
		"/locate?q=" + url.QueryEscape(project.Name), "/locate?q=" + url.QueryEscape(strings.ToUpper(project.Name)), "/locate?q=no",
		"/locate?q=" + url.QueryEscape(other.Name) + "&why=1", "/locate?q=a", "/projects?q=no-such", "/projects?page=2", "/projects/zzz",
		"/projects/" + other.ID.Hex() + "?shard=shard-rs-1", "/projects/ffffffffffffffffffffffff", "/matrix?by=projects",
		"/matrix?measure=reads", answer.ChunkURL(webtest.DocumentsNS, ref), "/runs?kind=pin", "/advice/past?rule=hotProject", "/lab/growth",
		"/activity?kind=all&last=7d&watch=project:" + project.ID.Hex(), "/?watch=bad", "/locate?ns=none&key=1",
	}) {
		if strings.HasPrefix(address, "/api/") {
			continue
		}
		f := fetched{ResponseRecorder: getFrom(busy)(address, site.MediaHTML), address: address}
		if f.is(site.MediaHTML) {
			f.doc = webtest.ParseHTML(t, f.Body.String())
		}
		all = append(all, f)
	}
	seen := map[string]bool{"": true}
	for _, f := range all {
		if f.doc == nil {
			continue
		}
		if ownWords.MatchString(f.address) {
			f.doc.Find("main").Remove()
		}
		for _, text := range wordsOn(f.doc) {
			if p.Words(text) != text && !seen[text] &&
				strings.TrimSuffix(text, ":") != "projects" { // a collection

				seen[text] = true
				t.Errorf("%s says %q", f.address, text)
			}
		}
	}
}

// wordsOn are the sentences of a page: what is read, and what scripts say. Code is not among them.
func wordsOn(doc *goquery.Document) (out []string) {
	doc.Find("code, pre, bdi, script, style, textarea").Remove()
	doc.Find("*").Contents().Each(func(_ int, x *goquery.Selection) {
		if goquery.NodeName(x) == "#text" {
			out = append(out, strings.Join(strings.Fields(x.Text()), " "))
		}
		for _, a := range x.Nodes[0].Attr {
			if slices.Contains([]string{"title", "aria-label", "placeholder", "alt", "data-label"}, a.Key) ||
				goquery.NodeName(x) == "template" && strings.HasPrefix(a.Key, "data-") {
				out = append(out, a.Val)
			}
		}
	})
	return out
}
