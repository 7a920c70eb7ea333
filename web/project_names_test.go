package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/placement"
	"shardboard/web"
	"shardboard/web/webtest"
)

var hexID = regexp.MustCompile(`[0-9a-f]{24}`)

// TestEveryIDOfAProjectOnAPageHasItsNameBesideIt walks the pages: where a project's id is read, its name stands
// in the same row or sentence, or heads the part that the id is in.
func TestEveryIDOfAProjectOnAPageHasItsNameBesideIt(t *testing.T) {
	s, v, p := pinnedProject(t, "Vega Boards")
	walked := 0
	for _, path := range pagesNamingProjects(s, v, p) {
		w := s.Do("GET", path)
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		walked++
		doc := webtest.ParseHTML(t, w.Body.String())
		for _, x := range textNodes(doc.Selection) {
			for _, id := range hexID.FindAllString(x.Text(), -1) {
				if of, ok := v.Dir.ByID(webtest.Must(bson.ObjectIDFromHex(id))); ok && !namedNear(x, of.Name) {
					t.Errorf("%s: the name %q is not near %q", path, of.Name, strings.TrimSpace(x.Text()))
				}
			}
		}
	}
	if walked < 60 {
		t.Errorf("only %d pages were walked", walked)
	}
}

// pagesNamingProjects are all pages with an example of each address, the forms of all changes of the pinned
// project and its zone, and a few pages behind each link.
func pagesNamingProjects(s *webtest.Server, v answer.View, p placement.Project) []string {
	c := v.Table.Collection(webtest.DocumentsNS)
	ref := url.QueryEscape(answer.ChunkRef(c, c.Chunks.At(3).Min))
	zone := url.QueryEscape(answer.PinZone(p.ID))
	queue := webtest.PagesWithChanges()
	for _, pattern := range web.Pages() {
		queue = append(queue, webtest.AddressOf(pattern))
	}
	for _, plan := range []string{"split", "move", "pin", "isolate", "blocked", "done", "hot"} {
		queue = append(queue, "/plans/"+webtest.RecordID(plan))
	}
	for _, d := range actions.Descriptions() {
		queue = append(queue, answer.PlanURL(d.Kind)+"&ns=yorkie-meta.documents&chunk="+ref+"&project="+p.ID.Hex()+"&zone="+zone)
	}
	queue = append(queue, "/locate?q="+p.ID.Hex(), "/locate?q="+p.ID.Hex()+"&why=1",
		answer.ChunkURL(c.NS, answer.ChunkRef(c, c.Chunks.At(3).Min)),
		answer.ChunkURL(c.NS, answer.ChunkRef(c, c.Chunks.At(2).Min)), "/collections/yorkie-meta.documents?zone="+zone)
	seen, ofRoute := map[string]bool{}, map[string]int{}
	var out []string
	for len(queue) > 0 && len(out) < 250 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		w := s.Do("GET", path)
		if w.Code != http.StatusOK {
			continue
		}
		out = append(out, path)
		for _, found := range regexp.MustCompile(` href="(/[^"#]*)`).FindAllStringSubmatch(w.Body.String(), -1) {
			to := html.UnescapeString(found[1])
			if route := hexID.ReplaceAllString(regexp.MustCompile(`=[^&]*|chunks/.*`).ReplaceAllString(to, ""), "id"); ofRoute[route] < 3 {
				ofRoute[route]++
				queue = append(queue, to)
			}
		}
	}
	return out
}

// textNodes are the texts of a page that people read.
func textNodes(part *goquery.Selection) (out []*goquery.Selection) {
	part.Contents().Each(func(_ int, c *goquery.Selection) {
		switch goquery.NodeName(c) {
		case "#text":
			out = append(out, c)
		case "script", "style", "textarea":
		default:
			out = append(out, textNodes(c)...)
		}
	})
	return out
}

// namedNear tells whether a name stands in the row or the sentence of a text, or in the head of the part around it.
func namedNear(text *goquery.Selection, name string) bool {
	has := func(s *goquery.Selection) bool { return strings.Contains(s.Text(), name) }
	for a := text.Parent(); a.Length() > 0 && !a.Is("main, body"); a = a.Parent() {
		if a.Is("tr, li, p, caption, option, title, summary, label, a, h1, h2") && has(a) || a.Is("dd") && has(a.Parent()) ||
			a.Is("section, article, details, div, li") && has(a.Find("h1, h2, h3, strong, dt")) {
			return true
		}
	}
	return false
}
