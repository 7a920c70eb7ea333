package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// chromiumPath finds the browser. Browser tests need SHARDBOARD_BROWSER=1, so that
// plain `go test` works on machines without one.
func chromiumPath(t testing.TB) string {
	t.Helper()
	if os.Getenv("SHARDBOARD_BROWSER") == "" {
		t.Skip("starts a browser: with SHARDBOARD_BROWSER=1 (make browser)")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium found; make setup installs it")
	return ""
}

// newBrowser starts a browser for a test, which fails when it takes longer than a test ought to.
func newBrowser(t testing.TB) context.Context {
	t.Helper()
	return newBrowserFor(t, 3*time.Minute)
}

func newBrowserFor(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromiumPath(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true), chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := inPage(ctx); err != nil { // the browser lives as long as its first context
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	return ctx
}

// complaints collects what pages report: exceptions, console errors and
// blocked resources.
type complaints struct {
	mu  sync.Mutex
	all []string
}

func listenForComplaints(t testing.TB, ctx context.Context) *complaints {
	t.Helper()
	c := &complaints{}
	err := chromedp.Listen(ctx, func(ev any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			c.all = append(c.all, "exception: "+e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				c.all = append(c.all, "console.error")
			}
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.EntryLevelError {
				c.all = append(c.all, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *complaints) check(t testing.TB) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(c.all, "\n"))
	}
}

// setScreen sets the page width, of a laptop or a phone, and the colour scheme.
func setScreen(width int64, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500,
		}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}

// waitUntil waits until a JavaScript expression is true.
func waitUntil(js string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Poll[bool](js, chromedp.WithPollingTimeout(30*time.Second))(ctx, t)
		return err
	})
}

// everyPage returns one address of each page.
func everyPage(t *testing.T, d *demo) []string {
	var projects struct{ Items []struct{ ID string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	var chunks api.List[api.Chunk]
	d.getJSON(t, "api/v1/collections/yorkie-meta.changes/chunks?limit=1", &chunks)
	return []string{"", "map", "matrix", "matrix?by=projects", "shards/shard-rs-2/why",
		"collections/yorkie-meta.changes/chunks/" + chunks.Items[0].Ref, "advice", "alerts", "surveys", "compare",
		"activity?kind=all", "collections", "collections/yorkie-meta.changes", "collections/yorkie-meta.documents", "projects",
		"projects/" + projects.Items[0].ID, "shards/shard-rs-2", "locate", "locate?q=" + projects.Items[0].ID,
		"locate?q=017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "locate/bulk", "checks/duplicates", "layout?layout=yorkie-0.4", "zones", "heat",
		"activity", "settings", "settings/users", "login/first?key=x", "tour"}
}

func TestBrowserShowsEveryPageInBothSizesAndThemes(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	shots := os.Getenv("SHARDBOARD_SHOTS") // a folder for screenshots
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			for _, path := range everyPage(t, d) {
				err := inPage(ctx, setScreen(width, scheme), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1"))
				if err != nil {
					t.Fatalf("/%s at %d %s: %v", path, width, scheme, err)
				}
				title := eval[string](t, ctx, `document.querySelector("main h1").innerText`)
				overflow := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
				if title == "" || overflow > 0 {
					t.Errorf("/%s at %d %s: title %q, %d px wider than the screen", path, width, scheme, title, overflow)
				}
				if shots == "" {
					continue
				}
				png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				name := strings.NewReplacer("/", "_", "?", "_", "=", "_").Replace(path)
				if err := os.WriteFile(fmt.Sprintf("%s/p%s-%d-%s.png", shots, name, width, scheme), png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	bad.check(t)
}

// chunkRow is the first row of the chunk table: the chunk with the lowest bound.
const chunkRow = `(document.querySelector("table.chunks tbody tr")?.innerText ?? "")`

// openChangesPage opens the page of the collection changes and waits until it is live,
// because a chunk that moves before the socket is open would prove nothing.
func openChangesPage(t *testing.T, ctx context.Context, d *demo) {
	t.Helper()
	err := inPage(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()+"collections/yorkie-meta.changes"),
		chromedp.WaitVisible("table.chunks tbody tr"))
	if err != nil {
		t.Fatal(err)
	}
	d.waitForSocket(t)
}

// moveFirstChunk moves the first chunk of changes to another shard with a separate
// driver and returns that shard.
func (d *demo) moveFirstChunk(t *testing.T) string {
	t.Helper()
	c := d.app.Watcher().Table().Collection("yorkie-meta.changes")
	chunk, to := c.Chunks.At(0), "shard-rs-3"
	if chunk.Shard == to {
		to = "shard-rs-2"
	}
	lower, err := c.Key.Document(chunk.Min)
	if err != nil {
		t.Fatal(err)
	}
	upper, err := c.Key.Document(chunk.Max)
	if err != nil {
		t.Fatal(err)
	}
	d.admin(t, bson.D{{Key: "moveChunk", Value: "yorkie-meta.changes"}, {Key: "bounds", Value: bson.A{lower, upper}}, {Key: "to", Value: to}})
	return to
}

func TestBrowserSeesAMoveWithoutReloadAndKeepsItsState(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	openChangesPage(t, ctx, d)
	// The state to keep: text in a filter and the scroll position.
	eval[bool](t, ctx, `(() => { window.notReloaded = true; document.body.style.minHeight = "3000px";
		const box = document.querySelector("main input[name=q]"); box.focus(); box.value = "half a wor"; box.setSelectionRange(2, 5);
		scrollTo(0, 120); return true })()`)
	to := d.moveFirstChunk(t)
	if err := inPage(ctx, waitUntil(fmt.Sprintf("%s.includes(%q)", chunkRow, to))); err != nil {
		t.Fatalf("the move is not shown: %v", err)
	}
	kept := eval[string](t, ctx, `(() => { const box = document.querySelector("main input[name=q]");
		return [window.notReloaded, document.activeElement === box, box.value, box.selectionStart, box.selectionEnd, scrollY].join() })()`)
	if want := "true,true,half a wor,2,5,120"; kept != want {
		t.Errorf("the page's state after the update is %s, want %s", kept, want)
	}
	bad.check(t)
}

func TestBrowserSaysThatItsSocketIsLostAndReconnects(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	openChangesPage(t, ctx, d)
	eval[bool](t, ctx, "window.notReloaded = true")
	const lost = `document.querySelector(".status").innerText.includes("lost")`
	d.stop(t)
	if err := inPage(ctx, waitUntil(lost)); err != nil {
		t.Fatalf("the page does not say that the connection is lost: %v", err)
	}
	d.serve(t)
	d.waitReady(t)
	if err := inPage(ctx, waitUntil("!"+lost)); err != nil {
		t.Fatalf("the page does not reconnect: %v", err)
	}
	to := d.moveFirstChunk(t)
	if err := inPage(ctx, waitUntil(fmt.Sprintf("%s.includes(%q) && window.notReloaded", chunkRow, to))); err != nil {
		t.Fatalf("a move after the reconnect is not shown: %v", err)
	}
}

func TestBrowserReadsEveryPageWithoutJavaScript(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	for _, path := range everyPage(t, d) {
		if err := inPage(ctx, withoutScripts, chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1")); err != nil {
			t.Fatalf("/%s: %v", path, err)
		}
	}
	// Links and forms work without scripts: open a project from the list.
	var at string
	err := inPage(ctx, chromedp.Navigate(d.app.URL()+"projects"), chromedp.Click("main tbody th a"), chromedp.WaitVisible("nav.crumbs"))
	if err == nil {
		at, err = chromedp.Run(ctx, chromedp.Location())
	}
	if err != nil || !strings.Contains(at, "/projects/") {
		t.Errorf("the click led to %q, %v", at, err)
	}
}

func TestBrowserFindsNoAccessibilityViolation(t *testing.T) {
	ctx := newBrowser(t)
	source := axeScript(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			for _, path := range everyPage(t, d) {
				err := inPage(ctx, setScreen(width, scheme), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1"))
				if err != nil {
					t.Fatal(err)
				}
				options := allRules
				if scheme == "dark" { // only colours differ
					options = colourRules
				}
				found, err := violations(ctx, source, options)
				if err != nil {
					t.Fatal(err)
				}
				if len(found) > 0 {
					t.Errorf("/%s at %d %s:\n%s", path, width, scheme, strings.Join(found, "\n"))
				}
			}
		}
	}
}
