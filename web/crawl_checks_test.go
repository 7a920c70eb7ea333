package web_test

import (
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-chi/chi/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/natural"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// checkSafe holds an answer to what each says of what a browser may do with it.
func checkSafe(t *testing.T, what string, w *httptest.ResponseRecorder) {
	t.Helper()
	h := w.Header()
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	for name, want := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"X-Frame-Options":            "DENY",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		got := h.Values(name)
		expect.That(t, len(got) == 1 && got[0] == want, "%s (%d): %s is %q", what, w.Code, name, got)
	}
	expect.That(t, h.Get("Permissions-Policy") != "" && (w.Body.Len() == 0 || h.Get("Content-Type") != ""),
		"%s (%d): no Permissions-Policy or no type", what, w.Code)
	for name := range h {
		expect.That(t, name != "Server" && name != "X-Powered-By" && !strings.HasPrefix(name, "Access-Control-"), "%s: %s", what, name)
	}
}

func checkSheet(t *testing.T, f fetched) {
	if f.Code != http.StatusOK || !f.is(site.MediaCSV) {
		return
	}
	rows, err := csv.NewReader(strings.NewReader(f.Body.String())).ReadAll()
	expect.That(t, err == nil && strings.HasPrefix(f.Header().Get("Content-Disposition"), "attachment; filename="),
		"%s: %v %v", f, err, f.Header())
	for _, cell := range slices.Concat(rows...) {
		expect.That(t, !mayRun(cell), "%s: formula %q", f, cell)
	}
}

// checkSchema compares the top-level fields of a JSON answer with the description.
func checkSchema(t *testing.T, of func(any) map[string]any, named map[string]any, f fetched) {
	got, ok := f.json.(map[string]any)
	if !ok || f.Code != http.StatusOK || f.route.Answer == nil {
		return
	}
	name := strings.TrimPrefix(of(f.route.Answer)["$ref"].(string), "#/components/schemas/")
	schema := named[name].(map[string]any)
	for field := range got {
		expect.That(t, schema["properties"].(map[string]any)[field] != nil, "%s: field %s is not described", f, field)
	}
	for _, field := range schema["required"].([]string) {
		_, ok := got[field]
		expect.That(t, ok, "%s: field %s is missing", f, field)
	}
}

func checkHead(t *testing.T, s *webtest.Server, f fetched) {
	head := s.Do("HEAD", f.address, webtest.Header("Accept", f.media))
	expect.That(t, head.Code == f.Code && (head.Body.Len() == 0 || f.route.Stream) &&
		(f.address == "/metrics" || head.Header().Get("Content-Length") == f.Header().Get("Content-Length")),
		"%s: HEAD is %d with %d bytes and %v", f, head.Code, head.Body.Len(), head.Header())
}

// serversOwn are addresses that are the same for all clusters.
var serversOwn = regexp.MustCompile(`^/(static|settings|logout|login|audit|data|runbooks|c/|healthz|readyz|metrics|` +
	`api/openapi\.json|api/v1/(me|sessions|tokens|users|audit|data))\b`)

func atBase(d *site.Deps) { d.Place.Base.Prefix, d.Place.Name = "/c/prod", "prod" }

// checkBase holds the addresses in an answer to the base of their cluster.
func checkBase(t *testing.T, f fetched) {
	below := func(what, address string) {
		local := strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//") && len(address) > 1
		within, is := strings.CutPrefix(address, "/c/prod/")
		expect.That(t, (!local || is || serversOwn.MatchString(address)) && (!is || !serversOwn.MatchString("/"+within)),
			"%s: %s is %s", f, what, address)
	}
	below("Location", f.Header().Get("Location"))
	eachText(f.json, func(text string) { below("JSON", text) })
	if f.doc == nil {
		return
	}
	f.doc.Find("*").Each(func(_ int, el *goquery.Selection) {
		for _, a := range el.Nodes[0].Attr {
			switch a.Key {
			case "value", "title", "content", "placeholder", "d", "data-key", "aria-label":
			default:
				below("<"+el.Nodes[0].Data+" "+a.Key+">", a.Val)
			}
		}
	})
}

// eachText calls f with every text in JSON.
func eachText(v any, f func(string)) {
	switch x := v.(type) {
	case map[string]any:
		for _, y := range x {
			eachText(y, f)
		}
	case []any:
		for _, y := range x {
			eachText(y, f)
		}
	case string:
		f(x)
	}
}

var shardName = regexp.MustCompile(`shard-rs-\d+`)

// bytewise are the names of a list in byte order (1, 10, 11, 2), which is what a list has that nobody sorted as people
// read it. A list by size is in neither order.
func bytewise(names []string) bool {
	names = slices.Compact(slices.Clone(names))
	return len(names) > 2 && slices.IsSorted(names) && !slices.IsSortedFunc(names, natural.Compare[string])
}

func TestByteOrderIsTold(t *testing.T) {
	if !bytewise([]string{"shard-rs-1", "shard-rs-10", "shard-rs-2"}) || bytewise([]string{"shard-rs-1", "shard-rs-2", "shard-rs-10"}) {
		t.Error("byte order is not told")
	}
}

// checkOrder looks at each list of shards in an answer, and counts them.
func checkOrder(t *testing.T, f fetched) (lists int) {
	check := func(where string, names []string) {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) > 2 {
			lists++
		}
		expect.That(t, !bytewise(names), "%s %s: %q", f, where, names)
	}
	named := func(where, text string) { check(where, shardName.FindAllString(text, -1)) }
	switch {
	case f.Code != http.StatusOK:
	case f.doc != nil:
		f.doc.Find("select, p, li, td, dd, h1, title").Each(func(_ int, x *goquery.Selection) { named(goquery.NodeName(x), x.Text()) })
		f.doc.Find("[title], [aria-label]").Each(func(_ int, x *goquery.Selection) {
			named("title", x.AttrOr("title", ""))
			named("label", x.AttrOr("aria-label", ""))
		})
		f.doc.Find("table, ul, ol, dl, svg").Each(func(_ int, x *goquery.Selection) {
			check(goquery.NodeName(x), x.Find("tbody tr, li, dt, g, path").Map(func(_ int, row *goquery.Selection) string {
				return shardName.FindString(row.Text())
			}))
			named("thead", x.Find("thead").Text())
		})
	case f.is(site.MediaCSV):
		rows, _ := csv.NewReader(strings.NewReader(f.Body.String())).ReadAll()
		for column := range slices.Concat(rows[:min(len(rows), 1)]...) {
			var names []string
			for _, row := range rows[1:] {
				named("cell", row[column])
				names = append(names, shardName.FindString(row[column]))
			}
			check(rows[0][column], names)
		}
		named("columns", strings.Join(slices.Concat(rows[:min(len(rows), 1)]...), " "))
	case f.json != nil:
		checkOrderOfJSON("", f.json, check)
	}
	return lists
}

func checkOrderOfJSON(where string, value any, check func(string, []string)) {
	switch x := value.(type) {
	case map[string]any:
		for name, inner := range x {
			checkOrderOfJSON(where+"."+name, inner, check)
		}
	case string:
		check(where, shardName.FindAllString(x, -1))
	case []any:
		byField := map[string][]string{}
		for _, item := range x {
			switch item := item.(type) {
			case string:
				byField[""] = append(byField[""], shardName.FindString(item))
			case map[string]any:
				for _, field := range []string{"name", "shard"} {
					name, _ := item[field].(string)
					byField[field] = append(byField[field], shardName.FindString(name))
				}
			}
			checkOrderOfJSON(where+"[]", item, check)
		}
		for field, names := range byField {
			check(where+"[]."+field, names)
		}
	}
}

var hexID = regexp.MustCompile(`[0-9a-f]{24}`)

// checkNames finds ids of projects on a page without their name in the same row or sentence, or at the head of the
// part that the id is in.
func checkNames(t *testing.T, v answer.View, f fetched) {
	if f.doc == nil || f.Code != http.StatusOK {
		return
	}
	for _, x := range textNodes(f.doc.Selection) {
		for _, id := range hexID.FindAllString(x.Text(), -1) {
			of, ok := v.Dir.ByID(webtest.Must(bson.ObjectIDFromHex(id)))
			expect.That(t, !ok || namedNear(x, of.Name), "%s: the name %q is not near %q", f, of.Name, strings.TrimSpace(x.Text()))
		}
	}
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

// checkLinks follows a few links of each form from the pages of a crawl.
func checkLinks(t *testing.T, s *webtest.Server, all []fetched) {
	seen, ofForm, most := map[string]bool{}, map[string]int{}, 3
	if testing.Short() {
		most = 1
	}
	for _, f := range all {
		seen[f.address] = true
	}
	values := regexp.MustCompile(`=[^&]*|chunks/.*`)
	for _, f := range all {
		if f.doc == nil {
			continue
		}
		f.doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
			href, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
			if strings.HasPrefix(href, "?") {
				path, _, _ := strings.Cut(f.address, "?")
				href = path + href
			}
			if strings.HasPrefix(href, "/lab/") || strings.Contains(href, "/ran") || strings.Contains(href, "cmd") {
				return // large, or of canned plans and surveys that know another cluster
			}
			form := hexID.ReplaceAllString(values.ReplaceAllString(href, ""), "id")
			if !strings.HasPrefix(href, "/") || seen[href] || ofForm[form] >= most {
				return
			}
			seen[href] = true
			ofForm[form]++
			if path, _, _ := strings.Cut(href, "?"); !s.Mux.Match(chi.NewRouteContext(), "GET", path) {
				t.Errorf("%s leads to %s, which is no page", f, href)
			} else if w := s.Do("GET", href); w.Code != http.StatusOK && w.Code != http.StatusSeeOther && path != "/locate" {
				t.Errorf("%s leads to %s: %d", f, href, w.Code)
			}
		})
	}
	expect.That(t, len(ofForm) >= 60, "only links of %d forms", len(ofForm))
}

// texts are many texts by how they begin.
type texts map[string][]string

const beginning = 4

func newTexts(all []string) texts {
	out := texts{}
	for _, text := range all {
		out[text[:beginning]] = append(out[text[:beginning]], text)
	}
	return out
}

// in is one of the texts that a body has.
func (x texts) in(body string) string {
	for i := 0; i+beginning <= len(body); i++ {
		for _, text := range x[body[i:i+beginning]] {
			if strings.HasPrefix(body[i:], text) {
				return text
			}
		}
	}
	return ""
}

// aboutOurselves are questions that shardboard answers without the cluster: what it stored, who may
// sign in, and what it is.
var aboutOurselves = regexp.MustCompile(`^(/api(/v1)?)?/(openapi.json|` + strings.Join([]string{
	"find", "data.*", "advice/past.*", "postmortem.*", "history.*", "audit.*", "alerts.*", "runs.*", "plans.*", "approvals", "me", "users.*",
	"tokens.*", "sessions.*", "settings.*", "help.*", "login.*", "healthz", "readyz", "static/.*", "live",
	"metrics", "history/step", "clusters.*", "actions.*", "problems/.*", "surveys.*", "docs.*", "lab.*",
}, "|") + `)$`)

// claims are what would be said of a cluster that was read.
var claims = regexp.MustCompile(`(?i)\b0 (of|chunks?|shards?|projects?|collections?|zones?|problems?|moves?|documents?|writes|databases|bytes|B)\b|` +
	`\bno (chunks|shards|projects|collections|zones|problems|moves|documents|writes|databases|jumbo|migrations|duplicates)\b|` +
	`\bthere (is|are) (none|no [a-z]+)\b|\bbalanced\b|\bnothing has happened|\bnothing moves|\bmatches? nothing|\bno such\b`)

func checkUnknown(t *testing.T, f fetched, says string) {
	t.Helper()
	own := aboutOurselves.MatchString(strings.TrimSuffix(f.route.Pattern, ".csv"))
	switch {
	case f.Code == http.StatusInternalServerError:
		t.Errorf("%s: %d %.300s", f, f.Code, f.Body)
	case f.route.Tag == site.TagPages && f.doc != nil && f.media == site.MediaHTML:
		f.doc.Find("dialog, script, .keys, noscript").Remove()
		main := strings.Join(strings.Fields(f.doc.Find("main").Text()), " ")
		expect.Contains(t, main, says, "%s: %d", f, f.Code)
		if at := claims.FindStringIndex(main); at != nil && !own {
			t.Errorf("%s claims …%s…", f, main[max(0, at[0]-80):min(len(main), at[1]+60)])
		}
	case own || f.Code == http.StatusSeeOther:
	case f.Code != http.StatusServiceUnavailable:
		t.Errorf("%s: %d %.200s", f, f.Code, f.Body)
	case f.media == site.MediaJSON && !f.is(api.ProblemType):
		t.Errorf("%s: %s %s", f, f.Header().Get("Content-Type"), f.Body)
	}
}
