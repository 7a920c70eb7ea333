package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// says is all text of a page and all values of its attributes.
const says = `[document.documentElement.textContent, ...[...document.querySelectorAll("*")].flatMap(e => [...e.attributes].map(a => a.value))].join("\n")`

// asParsed returns a text as a browser has it after parsing.
func asParsed(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "", "\ufffd", "", "\ufffe", "").Replace(s)
}

// reads opens a page and returns all its text.
func (o *tab) reads(path string) string {
	o.Helper()
	o.open(path)
	return asParsed(eval[string](o, says))
}

// detectUnescapedPayloads tests the detection: payloads that are not escaped are executed without a policy, and
// reported with ours.
func detectUnescapedPayloads(t *testing.T) {
	t.Helper()
	d := sharedDemo(t)
	res, _ := d.get(t, "")
	policy := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><title>x</title>" + r.URL.Query().Get("p")))
	}))
	defer server.Close()
	o := newTab(t, nil, 1280)
	o.expect("favicon.ico") // asked for when the server may be closed
	for _, policy = range []string{"", res.Header.Get("Content-Security-Policy")} {
		for _, p := range hostilePayloads(t) {
			if strings.Contains(p, "=alert(1)") || strings.Contains(p, "<script>alert") {
				o.do(chromedp.Navigate(server.URL + "/?p=" + url.QueryEscape(p)))
			}
		}
		o.incidents.mu.Lock()
		executed, reported := 0, 0
		for _, line := range o.incidents.all {
			if strings.HasPrefix(line, "EXECUTED") {
				executed++
			} else if strings.HasPrefix(line, "REPORT") || strings.Contains(line, "Content Security Policy") {
				reported++
			}
		}
		expect.That(t, (policy != "" || executed >= 30) && (policy == "" || executed == 0 && reported >= 30),
			"with the policy %.20q %d payloads are executed, %d reported:\n%s", policy, executed, reported, strings.Join(o.incidents.all, "\n"))
		o.incidents.all = nil
		o.incidents.mu.Unlock()
	}
}

// TestBrowserExecutesNothingFromAHostileCluster gives everything in a cluster hostile names. Live pages are open while
// the names appear; then lists, and pages of some of the things, show them as text. Every payload is written in long
// runs, every third in others: web/ tests the HTML of all of them.
func TestBrowserExecutesNothingFromAHostileCluster(t *testing.T) {
	needBrowser(t)
	detectUnescapedPayloads(t)
	all := hostilePayloads(t)
	if os.Getenv("SHARDBOARD_LONG") == "" {
		var some []string
		for i := 0; i < len(all); i += 3 {
			some = append(some, all[i])
		}
		all = some
	}
	for batch := range slices.Chunk(all, 85) {
		showCluster(t, newHostileCluster(batch))
	}
}

func showCluster(t *testing.T, e *hostileCluster) {
	d := startDemo(t, simcluster.Options{Projects: 3, Documents: 20, Still: true}, topology.Options{Routing: 200 * time.Millisecond,
		Slow: 500 * time.Millisecond, Statistics: 2 * time.Second, StatisticsPerSecond: 1000})
	o := newTab(t, d, 1280)
	o.expect("status of 404") // a page about nothing
	said := d.openWhileNamesAppear(o, e)
	paths := []string{"shards", "collections", "zones", "layout", "checks/duplicates", "locate/bulk", "map", "matrix", "heat"}
	for list, n := range map[string]int{"collections": (len(e.payloads)*3+3)/50 + 1, "activity": (len(e.payloads)*3+3)/30 + 1,
		"projects": (len(e.payloads)+3)/50 + 1} {
		for page := range n {
			paths = append(paths, fmt.Sprintf("%s?kind=all&page=%d", list, page+1))
		}
	}
	for _, path := range paths {
		said += o.reads(path)
	}
	for i := range e.payloads {
		for k, p := range e.pages(i) {
			// All are in the lists; only some pages are opened. No address can name a zero byte.
			if strings.Contains(p.path, "%00") || os.Getenv("SHARDBOARD_LONG") == "" && (i%3 > 0 || k != i/3%len(e.pages(i))) {
				continue
			}
			text := o.reads(p.path)
			o.is("", turned)
			want := strings.TrimSpace(asParsed(p.shows))
			expect.That(t, strings.Contains(text, want), "/%s does not show %q", p.path, want)
		}
	}
	e.checkAllNamesShown(t, said+o.reads("collections"))
}

// openWhileNamesAppear opens the live pages, each in its own tab, before the names appear, and returns all text of the
// pages at the end.
func (d *demo) openWhileNamesAppear(o *tab, e *hostileCluster) (said string) {
	o.Helper()
	tabs := map[string]*tab{}
	for _, path := range []string{"", "collections", "zones", "activity", "projects"} {
		other := o.another()
		other.open(path)
		other.run("window.notReloaded = true")
		tabs[path] = other
	}
	e.writeNames(o, d.driver)
	e.writeProjects(o, d.driver)
	for _, other := range tabs {
		other.until(`notReloaded && /~[a-z]+0\d\d/.test(document.querySelector("main").textContent)`)
		said += asParsed(eval[string](other, says))
	}
	return said
}

// checkAllNamesShown checks that the names were really shown.
func (e *hostileCluster) checkAllNamesShown(t testing.TB, said string) {
	t.Helper()
	for i, p := range e.payloads {
		for _, sink := range []string{"shard", "set", "host", "zone", "coll", "project", "from", "to", "what", "lower", "min", "db"} {
			name := e.name(i, sink)
			switch {
			case sink == "db" && (strings.ContainsAny(name, "/\\ \"$.\x00") || i%4 > 0),
				(sink == "set" || sink == "host") && strings.ContainsAny(name, "/,"):
				continue // not a valid name in MongoDB
			case sink == "lower":
				kind, value, _ := bson.MarshalValue(name)
				name = strings.Trim(shardkey.DisplayValue(bson.RawValue{Type: kind, Value: value}), `"`)
			case sink == "min":
				quoted, _ := bson.MarshalExtJSON(bson.D{{Key: "", Value: name}}, false, false)
				name = string(quoted[len(`{"":"`) : len(quoted)-len(`"}`)])
			}
			expect.Contains(t, said, asParsed(name), "%q is on no page as %s: %q", p, sink, name)
		}
	}
}
