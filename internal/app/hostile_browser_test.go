package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// contentGuard runs in every document before the document's own scripts. It reports on the
// console, which works even while a page unloads, what was executed and what the policy
// blocked. It also counts the live frames of the page.
const contentGuard = `(() => {
	const tell = console.error.bind(console);
	for (const f of ["alert", "confirm", "prompt", "print", "open"]) window[f] = (...a) => { tell("EXECUTED", f, location.href) };
	document.addEventListener("securitypolicyviolation", e => tell("REPORT", e.effectiveDirective, e.blockedURI, e.sample, location.href));
	const Socket = window.WebSocket;
	window.frames_ = 0;
	window.WebSocket = class extends Socket {
		constructor(...a) { super(...a); this.addEventListener("message", e => { if (JSON.parse(e.data).topic) window.frames_++ }); }
	};
})()`

// incidents collects what must not happen in a browser, by kind.
type incidents struct {
	mu                  sync.Mutex
	executed, reported  []string
	elsewhere, unwanted []string
	requests            int
}

// watchTab collects the incidents of a tab; home is the only host it may request.
func watchTab(t *testing.T, ctx context.Context, home string) *incidents {
	t.Helper()
	in := &incidents{}
	err := chromedp.Listen(ctx, func(ev any) {
		in.mu.Lock()
		defer in.mu.Unlock()
		switch e := ev.(type) {
		case *page.EventJavascriptDialogOpening:
			in.executed = append(in.executed, "dialog "+e.Message)
		case *runtime.EventConsoleAPICalled:
			in.console(e)
		case *runtime.EventExceptionThrown:
			in.unwanted = append(in.unwanted, "exception "+e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			if strings.Contains(e.Entry.Text, "Content Security Policy") || e.Entry.Source == "security" {
				in.reported = append(in.reported, e.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			in.requests++
			// Chromium draws the icon of a field for dates from its own data: address.
			if u, err := url.Parse(e.Request.URL); (err != nil || u.Host != home) && !strings.HasPrefix(e.Request.URL, dateIcon) {
				in.elsewhere = append(in.elsewhere, e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	err = inPage(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: contentGuard})
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// dateIcon begins the address of Chromium's icon of a field for dates.
const dateIcon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxNiIgaGVpZ2h0PSIxNSIg"

func (in *incidents) console(e *runtime.EventConsoleAPICalled) {
	var words []string
	for _, a := range e.Args {
		var s string
		_ = json.Unmarshal(a.Value, &s)
		words = append(words, s)
	}
	switch line := strings.Join(words, " "); {
	case strings.HasPrefix(line, "EXECUTED"):
		in.executed = append(in.executed, line)
	case strings.HasPrefix(line, "REPORT"):
		in.reported = append(in.reported, line)
	case e.Type == runtime.ConsoleAPICalledTypeError:
		in.unwanted = append(in.unwanted, line)
	}
}

func (in *incidents) check(t *testing.T) {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	for what, list := range map[string][]string{"executed": in.executed, "reported": in.reported, "asked elsewhere": in.elsewhere,
		"complained": in.unwanted} {
		if len(list) > 0 {
			t.Errorf("%s: %d times: %s", what, len(list), strings.Join(list[:min(len(list), 5)], "\n"))
		}
	}
	if in.requests == 0 {
		t.Error("no request was seen, so the tab was not watched")
	}
}

// says returns all text of a page and all values of its attributes.
const says = `[document.documentElement.textContent, ...[...document.querySelectorAll("*")].flatMap(e => [...e.attributes].map(a => a.value))].join("\n")`

// turned returns the first element whose text changes the writing direction beyond the
// element.
const turned = `([...document.querySelectorAll("body *")].find(e => !e.namespaceURI.endsWith("svg") &&
	[...e.childNodes].some(n => n.nodeType === 3 && /[\u202a-\u202e\u2066-\u2069]/.test(n.data)) &&
	!/isolate|plaintext/.test(getComputedStyle(e).unicodeBidi))?.outerHTML ?? "").slice(0, 200)`

// asParsed returns a text as a browser has it after parsing.
func asParsed(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "", "\ufffd", "", "\ufffe", "").Replace(s)
}

// openPage opens a page, waits for its first live frame and returns all its text.
func openPage(t *testing.T, ctx context.Context, address string) string {
	t.Helper()
	if err := inPage(ctx, chromedp.Navigate(address),
		waitUntil(`document.querySelector("main h1") && (frames_ > 0 || !document.body.dataset.topics)`)); err != nil {
		t.Fatalf("%s: unexpected error: %v", address, err)
	}
	return asParsed(eval[string](t, ctx, says))
}

// This tests the detection: unescaped payloads are executed without a policy and
// reported with ours.
func TestBrowserDetectsUnescapedPayloads(t *testing.T) {
	ctx := newBrowser(t)
	policy := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><title>x</title>" + r.URL.Query().Get("p")))
	}))
	defer server.Close()
	d := startDemo(t, quietCluster(), topology.Options{})
	res, _ := d.get(t, "")
	in := watchTab(t, ctx, strings.TrimPrefix(server.URL, "http://"))
	for _, own := range []string{"", res.Header.Get("Content-Security-Policy")} {
		policy = own
		for _, p := range hostilePayloads(t) {
			if !strings.Contains(p, "=alert(1)") && !strings.Contains(p, "<script>alert") {
				continue
			}
			if err := inPage(ctx, chromedp.Navigate(server.URL+"/?p="+url.QueryEscape(p))); err != nil {
				t.Fatal(err)
			}
		}
		in.mu.Lock()
		t.Logf("policy %.20q: %d executed, %d reported, %d requests to other hosts",
			policy, len(in.executed), len(in.reported), len(in.elsewhere))
		if policy == "" && len(in.executed) < 30 || policy != "" && (len(in.executed) > 0 || len(in.reported) < 30) {
			t.Errorf("an unexpected number of payloads was executed: %v", in.executed)
		}
		in.executed, in.reported = nil, nil
		in.mu.Unlock()
	}
}

func TestBrowserExecutesNothingFromAHostileCluster(t *testing.T) {
	all, pages, first := hostilePayloads(t), 0, true
	for batch := range slices.Chunk(all, 78) {
		t.Run(fmt.Sprintf("from %.20q", batch[0]), func(t *testing.T) { pages += showCluster(t, newHostileCluster(batch), first) })
		first = false
	}
	t.Logf("%d payloads on %d pages", len(all), pages)
}

// showCluster opens the pages of one hostile cluster. For the first cluster the projects
// appear while pages are open, which is slow; for the others they exist before.
func showCluster(t *testing.T, e *hostileCluster, first bool) (pages int) {
	ctx := newBrowser(t)
	settle := func(c *mongo.Client) {
		if !first {
			e.writeProjects(t, c)
		}
	}
	d := startDemoOver(
		t,
		simcluster.Options{Projects: 3, Documents: 20, Still: true},
		topology.Options{Routing: 200 * time.Millisecond, Slow: 500 * time.Millisecond, Statistics: 2 * time.Second, StatisticsPerSecond: 1000},
		nil,
		settle,
	)
	said := d.openPagesWhileNamesAppear(t, ctx, e, first)
	in := watchTab(t, ctx, d.app.Addr())
	paths := []string{"?shards=all", "collections", "zones", "layout", "checks/duplicates", "locate/bulk"}
	for n := range (len(e.payloads)*3+3)/50 + 1 {
		paths = append(paths, fmt.Sprintf("collections?page=%d", n+1))
	}
	for n := range (len(e.payloads)*3+3)/30 + 1 {
		paths = append(paths, fmt.Sprintf("activity?kind=all&page=%d", n+1))
	}
	for n := range (len(e.payloads)+3)/50 + 1 {
		paths = append(paths, fmt.Sprintf("projects?page=%d", n+1))
	}
	for _, path := range paths {
		said += openPage(t, ctx, d.app.URL()+path)
		pages++
	}
	for i := range e.payloads {
		for k, p := range e.pages(i) {
			if strings.Contains(p.path, "%00") {
				continue // no address can name it
			}
			if os.Getenv("SHARDBOARD_LONG") == "" && (i%3 > 0 || k != i/3%len(e.pages(i))) {
				continue // all are in the lists; only some pages are opened
			}
			text := openPage(t, ctx, d.app.URL()+p.path)
			pages++
			if loose := eval[string](t, ctx, turned); loose != "" {
				t.Errorf("/%s: direction marks reach beyond %s", p.path, loose)
			}
			if want := strings.TrimSpace(asParsed(p.shows)); !strings.Contains(text, want) {
				t.Errorf("/%s does not show %q", p.path, want)
			}
		}
	}
	said += openPage(t, ctx, d.app.URL()+"collections")
	e.checkAllNamesShown(t, said)
	in.check(t)
	return pages
}

// openPagesWhileNamesAppear opens the live pages, each in its own tab, before the names
// appear, and returns all text of the pages at the end.
func (d *demo) openPagesWhileNamesAppear(t *testing.T, ctx context.Context, e *hostileCluster, projects bool) string {
	t.Helper()
	type tab struct {
		ctx  context.Context
		in   *incidents
		path string
	}
	var tabs []tab
	paths := []string{"", "collections", "zones", "activity"}
	if projects {
		paths = append(paths, "projects")
	}
	for _, path := range paths {
		ctx, cancel := chromedp.NewContext(ctx)
		defer cancel()
		in := watchTab(t, ctx, d.app.Addr())
		openPage(t, ctx, d.app.URL()+path)
		eval[bool](t, ctx, "window.notReloaded = true")
		tabs = append(tabs, tab{ctx, in, path})
	}
	e.writeNames(t, d.driver)
	if projects {
		e.writeProjects(t, d.driver)
	}
	said := ""
	for _, tab := range tabs {
		if err := inPage(tab.ctx, waitUntil(`notReloaded && /~[a-z]+0\d\d/.test(document.querySelector("main").textContent)`)); err != nil {
			t.Fatalf("/%s did not change: %v", tab.path, err)
		}
		said += asParsed(eval[string](t, tab.ctx, says))
		tab.in.check(t)
	}
	return said
}

// checkAllNamesShown checks that the names were really shown.
func (e *hostileCluster) checkAllNamesShown(t *testing.T, said string) {
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
			if !strings.Contains(said, asParsed(name)) {
				t.Errorf("%q is on no page as %s: %q", p, sink, name)
			}
		}
	}
}
