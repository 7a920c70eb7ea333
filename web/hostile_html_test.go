package web_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/sheet"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// skeleton counts the elements of a page by name and attributes' names, and
// collects everything that it says: text and attributes' values.
func skeleton(t testing.TB, doc *goquery.Document) (bag map[string]int, says string) {
	t.Helper()
	const text, element, comment = 1, 3, 4 // of golang.org/x/net/html
	bag = map[string]int{}
	var b strings.Builder
	for n := doc.Nodes[0]; n != nil; {
		switch n.Type {
		case text:
			b.WriteString(n.Data + "\n")
		case comment:
			t.Errorf("a comment: %.80s", n.Data)
		case element:
			var names []string
			for _, a := range n.Attr {
				b.WriteString(a.Val + "\n")
				if a.Key != "title" { // depends on how long a text is once it is quoted
					names = append(names, a.Key)
				}
			}
			slices.Sort(names)
			bag[n.Data+" "+strings.Join(names, " ")]++
		}
		if n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != nil && n.NextSibling == nil {
			n = n.Parent
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return bag, b.String()
}

// difference tells what the one has that the other has not.
func difference(a, b map[string]int) string {
	var out []string
	for k, n := range a {
		if b[k] != n {
			out = append(out, fmt.Sprintf("<%s>: %d, not %d", k, n, b[k]))
		}
	}
	for k, n := range b {
		if a[k] == 0 {
			out = append(out, fmt.Sprintf("<%s>: 0, not %d", k, n))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// details are the pages about the i-th of everything.
func (e enemy) details(v answer.View, i int) []string {
	ask := func(sink string) string { return "/locate?q=" + url.QueryEscape(e.name(i, sink)) }
	return []string{
		"/shards/" + url.PathEscape(e.name(i, "shard")), answer.CollectionURL(e.ns(i)), webtest.ChunkPath(v,
			e.ns(i), 1), "/projects/" + e.ids()[i].Hex(),
		ask("asked"), ask("refused"), ask("broken"),
		"/projects?q=" + url.QueryEscape(e.name(i, "project")),
		answer.CollectionURL(e.ns(i)) + "?zone=none&shard=x" + url.QueryEscape(e.name(i, "shard")) + "&q=" +
			url.QueryEscape(e.name(i, "filter")),
	}
}

var wholePages = []string{
	"/", "/collections", "/collections?page=2", "/collections?page=3", "/matrix", "/matrix?by=projects&measure=writes",
	"/projects", "/zones", "/map",
	"/map?by=size", "/layout", "/activity?kind=all", "/activity?kind=all&page=2", "/activity?kind=all&page=3",
	"/activity?kind=all&page=4", "/activity?kind=all&from=2000-01-01T00:00", "/locate", "/locate/bulk",
	"/checks/duplicates",
}

// A page about a cluster whose names are markup has the elements and attributes of one whose names are harmless:
// nothing of a name became markup. Time stands still meanwhile: how many remedies a page tries depends on how long that
// takes.
func TestHostileNamesAddNoElementAndNoAttribute(t *testing.T) {
	synctest.Test(t, hostileNamesAddNothing)
}

func hostileNamesAddNothing(t *testing.T) {
	step := every()
	pages := 0
	for n, batch := range batches(payloads(t)) {
		if n > 0 && testing.Short() {
			break
		}
		e, h := enemy{payloads: batch}, enemy{payloads: batch, harmless: true}
		evil, v := e.site(t)
		good, hv := h.site(t)
		var said strings.Builder
		compare := func(path, harmless string) {
			pages++
			got, want := evil.Do("GET", path), good.Do("GET", harmless)
			if got.Code == http.StatusBadRequest && strings.Contains(path, "%00") {
				return // no address of ours can mean it
			}
			a, says := skeleton(t, webtest.ParseHTML(t, got.Body.String()))
			b, _ := skeleton(t, webtest.ParseHTML(t, want.Body.String()))
			said.WriteString(says)
			d := difference(a, b)
			expect.That(t, d == "" && got.Code == want.Code, "%s: %d, with harmless names %d; elements differ:\n%s", path, got.Code, want.Code, d)
		}
		for _, path := range wholePages {
			compare(path, path)
		}
		for i := n % step; i < len(batch); i += step {
			paths, harmless := e.details(v, i), h.details(hv, i)
			for k := range paths {
				compare(paths[k], harmless[k])
			}
		}
		e.saysAll(t, said.String(), n%step, step)
	}
	t.Logf("%d pages", pages)
}

// every is how many payloads lie between two that get pages of their own: a
// browser opens those of all of them (TestBrowserExecutesNothing…).
func every() int {
	switch os.Getenv("SHARDBOARD_LONG") {
	case "":
		return 24
	case "hours":
		return 1
	}
	return 6
}

func TestMarkupThatIsNotEscapedIsNoticed(t *testing.T) {
	seen := 0
	want, _ := skeleton(t, webtest.ParseHTML(t, "<p>x</p>"))
	quiet := &testing.T{} // comments are markup too
	for _, p := range payloads(t) {
		if got, _ := skeleton(quiet, webtest.ParseHTML(t, "<p>"+p+"</p>")); difference(got, want) != "" {
			seen++
		}
	}
	expect.That(t, seen >= 100, "only %d payloads change a page that shows them raw", seen)
}

// saysAll makes sure that the payloads were really there.
func (e enemy) saysAll(t *testing.T, said string, from, step int) {
	t.Helper()
	said = shown(said)
	for i := range e.payloads {
		for _, sink := range sinks {
			name := e.name(i, sink)
			switch sink {
			case "db":
				name = e.db(i)
			case "field":
				name = without(name, "\x00$.")
			case "lower":
				name = e.payloads[i] + "~lower"
			case "document", "public":
				if strings.Contains(name, "\x00") || i < from || (i-from)%step != 0 {
					continue // on its own page
				}
			}
			if !strings.Contains(said, shown(name)) && !strings.Contains(said, quoted(name)) {
				t.Errorf("%q is on no page as %s", e.payloads[i], sink)
			}
		}
	}
}

// quoted is a text as bounds in Extended JSON have it.
func quoted(s string) string {
	doc := webtest.Must(bson.MarshalExtJSON(bson.D{{Key: "s", Value: s}}, false, false))
	return string(doc[len(`{"s":"`) : len(doc)-len(`"}`)])
}

// shown is a text as a browser has it after parsing: line ends are one
// character, and NUL is dropped or replaced.
func shown(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "", "\ufffd", "").Replace(s)
}

func TestHostileNamesStayJSON(t *testing.T) {
	for n, batch := range batches(payloads(t)) {
		if n > 1 && testing.Short() {
			break
		}
		e := enemy{payloads: batch}
		s, v := e.site(t)
		paths := []string{"cluster", "shards", "collections", "projects", "layout", "zones", "activity", "checks/duplicates"}
		for i := 0; i < len(batch); i += every() {
			ns := url.PathEscape(string(e.ns(i)))
			paths = append(paths, "shards/"+url.PathEscape(e.name(i, "shard")), "collections/"+ns,
				"collections/"+ns+"/chunks", "collections/"+ns+"/map", "projects/"+e.ids()[i].Hex(),
				strings.TrimPrefix(webtest.ChunkPath(v, e.ns(i), 1), "/")+"/why",
				"locate?why=1&q="+url.QueryEscape(e.name(i, "asked")),
				"locate?q="+url.QueryEscape(e.name(i, "refused")), url.PathEscape(batch[i]))
		}
		var said strings.Builder
		for _, path := range paths {
			w := s.Do("GET", "/api/v1/"+path)
			var doc any
			expect.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc), "%s", path)
			if ct := w.Header().Get("Content-Type"); !strings.Contains(ct, "json") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %s, %q", path, ct, w.Header().Get("X-Content-Type-Options"))
			}
			expect.That(t, !strings.ContainsAny(w.Body.String(), "<>&\u2028\u2029"), "%s: raw markup", path)
			fmt.Fprint(&said, doc)
		}
		for i := range batch {
			for _, name := range []string{e.name(i, "shard"), e.name(i, "coll"), e.name(i, "project"), e.name(i, "host"), e.name(i, "what"),
				e.name(i, "zone")} {
				expect.That(t, strings.Contains(said.String(), name) || strings.Contains(batch[i], "\x00"), "%q is in no answer", name)
			}
		}
	}
}

// starts are what spreadsheets take for the beginning of a formula or for the
// end of a cell, after what they strip or fold, too.
var starts = []string{
	"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "  @x", "\u00a0=1", "\ufeff=1", "\u200b=1", "\u3000=1",
	"\u202e=1", "\x00=1", "\x0b=1", "'\n=1", "\u2212" + "1", "\"=1",
	"\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "|calc", "%0A=1", ";=1", ",=1", "a\n=1", "a\r\n=1,2", "-", "=", "--1", "-1e5x", "-1 2", "-x",
}

// mayRun tells that a spreadsheet could take a cell for a formula.
func mayRun(cell string) bool {
	trimmed := strings.TrimLeftFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
	})
	if strings.ContainsAny(cell, "\x00\r\n\t\x0b") {
		return true // what comes after may be taken for a cell of its own
	}
	r := []rune(trimmed + "x")[0]
	if _, err := strconv.ParseFloat(trimmed, 64); err == nil && r == '-' {
		return false // a negative number
	}
	return strings.ContainsRune("=+-@|\uff1d\uff0b\uff0d\uff20\u2212", r)
}

func TestNoSheetHoldsAFormula(t *testing.T) {
	all := append(payloads(t), starts...)
	if testing.Short() {
		all = append(all[:24], starts...)
	}
	cells := 0
	var said strings.Builder
	for n, batch := range batches(all) {
		e := enemy{payloads: batch}
		s, _ := e.site(t)
		for i := n % 2; i < len(batch); i += 2 {
			lines := must.Get(json.Marshal(map[string][]string{"lines": {e.name(i, "asked"), e.name(i, "refused")}}))
			name := url.PathEscape(e.name(i, "shard"))
			for _, w := range []*httptest.ResponseRecorder{
				s.Do("GET", "/shards/"+name+".csv"), s.Do("GET", "/api/v1/shards/"+name, webtest.Header("Accept", "text/csv")), s.Do("GET",
					"/collections.csv"),
				s.Do("POST", "/api/v1/locate", webtest.Header("Accept", "text/csv"), webtest.Header("Content-Type", "application/json"),
					webtest.Body(string(lines))),
				s.Do("POST", "/locate/bulk", webtest.Header("Content-Type", "application/x-www-form-urlencoded"),
					webtest.Body(url.Values{"lines": {e.name(i, "asked")}, "as": {"csv"}, "format": {"csv"}}.Encode()), webtest.Header("Accept",
						"text/csv")),
			} {
				if w.Code == http.StatusBadRequest && strings.Contains(batch[i], "\x00") {
					continue
				}
				cells += e.checkSheet(t, w, &said)
			}
			for _, sink := range []string{"shard", "document"} {
				name := sanitize.Line(e.name(i, sink))
				expect.That(t, strings.Contains(said.String(), name) || strings.Contains(name, `\u{0000}`), "%q is in no sheet", name)
			}
			said.Reset()
		}
	}
	for _, f := range starts {
		got := sheet.Inert(f)
		expect.That(t, !mayRun(got) && (got != f || !mayRun(f)), "%q becomes %q", f, got)
	}
	expect.That(t, cells >= 1_000, "only %d cells", cells)
}

func (e enemy) checkSheet(t *testing.T, w *httptest.ResponseRecorder, said *strings.Builder) (cells int) {
	t.Helper()
	media, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if w.Code != http.StatusOK || media != site.MediaCSV || err != nil || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %s: %.200s", w.Code, media, w.Body)
		return 0
	}
	disposition, params, err := mime.ParseMediaType(w.Header().Get("Content-Disposition"))
	expect.That(t, err == nil && disposition == "attachment" &&
		strings.Trim(params["filename"], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" &&
		strings.HasSuffix(params["filename"], ".csv"), "the file is called %q: %v", w.Header().Get("Content-Disposition"), err)
	rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
	expect.That(t, err == nil, "not CSV: %v", err)
	for _, row := range rows {
		for _, cell := range row {
			cells++
			expect.That(t, !mayRun(cell), "formula %q", cell)
			said.WriteString(cell + "\n")
		}
	}
	return cells
}

// internals is what no answer to a failure may hold: Go's types and traces,
// paths of files, the driver's words and the cluster's inner addresses.
var internals = regexp.MustCompile(
	`goroutine \d+|\.go:\d+|\*?(errors|fault|bson|mongo|topology|placement|http|json|url|strconv|context)\.[A-Z]\w+|runtime error|panic|/usr/|/home/|/root/|0x[0-9a-f]{6,}|nil pointer|invalid character|cannot unmarshal|strconv\.|parse "|topology: |server selection|connection\(|dial tcp|mongodb://|inner\.example`,
)

func TestErrorPagesHideInternalErrors(t *testing.T) {
	s := webtest.New(t)
	causes := []func() error{
		func() error {
			return errors.New("connection(inner.example:27017[-5]) socket was unexpectedly closed: EOF")
		},
		func() error { return fmt.Errorf("read: %w", context.DeadlineExceeded) },
		func() error { return fmt.Errorf("%s", debug.Stack()) },
		func() error { return []error{}[len(s.Log.String())] }, // out of range
		func() error { var d *bson.ObjectID; _ = d.Hex(); return nil },
		func() error { panic(errors.New("dial tcp inner.example: mongodb://u:p@inner.example")) },
	}
	for i, cause := range causes {
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, cause() }
		for _, address := range []string{"/locate?q=x", "/api/v1/locate?q=x"} {
			w := s.Do("GET", address)
			expect.That(t, w.Code >= 500 && !internals.MatchString(w.Body.String()),
				"cause %d at %s: %d, %q", i, address, w.Code, internals.FindString(w.Body.String()))
		}
	}
}
