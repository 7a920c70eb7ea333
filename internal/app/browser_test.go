package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// waitLimit is how long a test waits for a state of a page, which a busy machine reaches late.
const waitLimit = 2 * time.Minute

// needBrowser skips browser tests unless SHARDBOARD_BROWSER=1 asks for them, so that plain `go test` works on machines
// without a browser. SHARDBOARD_REQUIRE_ALL=1 makes a missing browser a failure.
func needBrowser(t testing.TB) {
	t.Helper()
	if os.Getenv("SHARDBOARD_BROWSER") == "" {
		t.Skip("starts a browser: with SHARDBOARD_BROWSER=1")
	}
	if chromiumPath() == "" {
		const missing = "Chromium is not installed, so browser tests cannot run; sh scripts/setup installs it."
		must.That(t, os.Getenv("SHARDBOARD_REQUIRE_ALL") != "1", "%v", missing)
		t.Skip(missing)
	}
}

func chromiumPath() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startedBrowser is the browser of all tests. Each test has a profile of its own in it.
var startedBrowser = sync.OnceValues(func() (context.Context, error) {
	dir, err := os.MkdirTemp("", "shardboard-browser")
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromiumPath()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true), chromedp.UserDataDir(dir))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	afterTests = append(afterTests, func() {
		closeBrowser()
		stop()
		chromedp.FromContext(ctx).Allocator.Wait() // until its files are closed
		_ = os.RemoveAll(dir)
	})
	return ctx, chromedp.Do(ctx)
})

// tab is a page that a person looks at. It notes what must not happen in any page; the end of the test reports it.
type tab struct {
	testing.TB
	ctx       context.Context
	d         *demo // nil: the pages are not of a demo
	incidents *incidents
	acts      int // keys and clicks so far
}

// newTab opens an empty page of a width, in a profile that no other test uses. Its colours are the light ones.
func newTab(t testing.TB, d *demo, width int64) *tab {
	t.Helper()
	needBrowser(t)
	browser, err := startedBrowser()
	must.Do(t, err)
	o := &tab{TB: t, d: d}
	o.start(browser, chromedp.WithNewBrowserContext())
	o.do(screen(width, "light"))
	return o
}

// another opens a second page of the same person.
func (o *tab) another() *tab {
	o.Helper()
	other := &tab{TB: o.TB, d: o.d}
	other.start(o.ctx)
	other.do(screen(1280, "light"))
	return other
}

func (o *tab) start(from context.Context, options ...chromedp.ContextOption) {
	o.Helper()
	ctx, closeTab := chromedp.NewContext(from, options...)
	o.ctx, o.incidents = ctx, &incidents{}
	if o.d != nil {
		o.incidents.hosts = []string{o.d.app.Addr()}
	}
	o.Cleanup(func() {
		o.incidents.report(o.TB)
		_ = chromedp.Cancel(ctx) // waits until the page is closed
		closeTab()
	})
	must.Do(o, chromedp.Do(ctx))
	must.Do(o, chromedp.Listen(ctx, o.incidents.note))
	o.do(call(network.Enable, network.EnableParams{}), call(page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: inEveryPage}),
		// A page that is not in front of others is drawn and has the focus too.
		call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
}

// call sends a command of the browser's protocol.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// screen sets the page width, of a laptop or a phone, and the colour scheme. Nothing moves by itself.
func screen(width int64, scheme string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (v chromedp.Void, err error) {
		if v, err = call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})(ctx, t); err != nil {
			return v, err
		}
		return media("", scheme, "reduce")(ctx, t)
	}
}

// media is how the page is shown: on the screen ("") or in print.
func media(kind, scheme, motion string) chromedp.Action[chromedp.Void] {
	return call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind, Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}})
}

// scripts sets whether pages run scripts.
func scripts(run bool) chromedp.Action[chromedp.Void] {
	return call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
}

// inEveryPage runs in every document before its own scripts. It reports on the console, which works even while a page
// unloads, what was executed and what the policy blocked. It counts the live frames and keeps the socket, so that a
// test can send frames as the server does.
const inEveryPage = `(() => {
	const tell = console.error.bind(console);
	for (const f of ["alert", "confirm", "prompt", "print", "open"]) window[f] = (...a) => { tell("EXECUTED", f, location.href) };
	document.addEventListener("securitypolicyviolation", e => tell("REPORT", e.effectiveDirective, e.blockedURI, e.sample, location.href));
	const Socket = window.WebSocket;
	window.frames_ = 0;
	window.WebSocket = class extends Socket {
		constructor(...a) {
			super(...a);
			window.socket_ = this;
			this.addEventListener("message", e => { if (JSON.parse(e.data).topic) window.frames_++ });
		}
	};
})()`

// incidents are what must not happen in a page: scripts of others, requests to others, complaints of the browser.
type incidents struct {
	mu       sync.Mutex
	all      []string
	hosts    []string // that the page may request
	expected []string // parts of complaints that are no failure
	requests int
}

// dateIcon begins the address of the icon of a field for dates, which Chromium has as data.
const dateIcon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxNiIgaGVpZ2h0PSIxNSIg"

func (in *incidents) note(event any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		in.all = append(in.all, "EXECUTED dialog "+e.Message)
	case *runtime.EventExceptionThrown:
		in.all = append(in.all, fmt.Sprintf("exception %s %+v at %s",
			e.ExceptionDetails.Text, e.ExceptionDetails.Exception, e.ExceptionDetails.URL))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			var words []string
			for _, a := range e.Args {
				var s string
				_ = json.Unmarshal(a.Value, &s)
				words = append(words, s)
			}
			in.all = append(in.all, strings.Join(words, " "))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Source == "security" {
			in.all = append(in.all, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		in.requests++
		if u, err := url.Parse(e.Request.URL); in.hosts != nil && !strings.HasPrefix(e.Request.URL, dateIcon) &&
			(err != nil || !slices.Contains(in.hosts, u.Host)) {
			in.all = append(in.all, "asked elsewhere: "+e.Request.URL)
		}
	}
}

// expect is for complaints that belong to a test, such as that of a connection that the test cuts.
func (o *tab) expect(parts ...string) {
	o.incidents.mu.Lock()
	defer o.incidents.mu.Unlock()
	o.incidents.expected = append(o.incidents.expected, parts...)
}

func (in *incidents) report(t testing.TB) {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.all = slices.DeleteFunc(in.all, func(line string) bool {
		return slices.ContainsFunc(in.expected, func(part string) bool { return strings.Contains(line, part) })
	})
	expect.That(t, len(in.all) == 0,
		"%d times the page does what it must not:\n%s", len(in.all), strings.Join(in.all[:min(len(in.all), 8)], "\n"))
	expect.That(t, in.requests != 0 || t.Failed(), "no request was seen, so the page was not watched")
}

// where is what a failure says about the page.
func (o *tab) where() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.activeElement?.outerHTML.slice(0, 200) + "\n" +
		document.querySelector("main")?.innerText.slice(0, 1500)`))
	return fmt.Sprint(text, err)
}

func (o *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.ctx, waitLimit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		o.Fatalf("%v, at %s", err, o.where())
	}
}

// eval runs JavaScript, of a promise until it is kept. A page may be left meanwhile; then it runs in the next one.
func eval[T any](o *tab, js string) T {
	o.Helper()
	for end := time.Now().Add(waitLimit); ; time.Sleep(15 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(o.ctx, waitLimit)
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
		cancel()
		if err == nil {
			return v
		}
		left := slices.ContainsFunc([]string{"Cannot find context", "Cannot find default execution context",
			"Execution context was destroyed", "navigated or closed"}, func(s string) bool { return strings.Contains(err.Error(), s) })
		if !left || time.Now().After(end) {
			o.Fatalf("%s: unexpected error: %v, at %s", js, err, o.where())
		}
	}
}

// run runs JavaScript for its effect.
func (o *tab) run(js string, args ...any) {
	o.Helper()
	if len(args) > 0 {
		js = fmt.Sprintf(js, args...)
	}
	eval[bool](o, "(() => {"+js+"; return true})()")
}

// until waits until JavaScript is true of the page, or of the page that it is being left for.
func (o *tab) until(js string, args ...any) {
	o.Helper()
	if len(args) > 0 {
		js = fmt.Sprintf(js, args...)
	}
	var last error
	for end := time.Now().Add(waitLimit); time.Now().Before(end); time.Sleep(15 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(o.ctx, waitLimit)
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		cancel()
		if err == nil && yes {
			return
		}
		last = err
	}
	o.Fatalf("after %s it is not so that %s (%v), at %s", waitLimit, js, last, o.where())
}

// is fails unless JavaScript gives a text.
func (o *tab) is(want, js string) {
	o.Helper()
	if got := eval[string](o, js); got != want {
		o.Errorf("%s is %q, want %q, on %s", js, got, want, eval[string](o, "location.href"))
	}
}
