package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"shardboard/internal/api"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/web"
)

// widths are a phone, a tablet, a laptop and a large screen.
var widths = []int64{390, 768, 1280, 1920}

// TestBrowserShowsNoPageWiderThanItsWindow walks the whole route table over a cluster of 100 shards
// with long and hostile names, pins, runs and audit records. Wide things scroll inside themselves.
func TestBrowserShowsNoPageWiderThanItsWindow(t *testing.T) {
	ctx := newBrowser(t)
	d, names := startHostileDemo(t, 100)
	for _, path := range addressesOf(t, d, names) {
		checkWidths(t, ctx, d.app.URL()+path)
	}

	// A page that is open would follow the end of its session in the middle of the next navigation.
	if err := inPage(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	d.stop(t)
	d.config.Auth, d.config.DataDir = Auth{Mode: "local"}, t.TempDir()
	d.serve(t)
	d.waitReady(t)
	for _, path := range []string{"login?next=%2Fzones", "login/first?key=x"} {
		checkWidths(t, ctx, d.app.URL()+path)
	}
}

// startHostileDemo serves a cluster with long and hostile names, on which changes can be made.
func startHostileDemo(t *testing.T, shards int) (*demo, *hostileCluster) {
	t.Helper()
	names := newHostileCluster([]string{strings.Repeat("longnamewithoutbreak", 9),
		"a name with spaces " + strings.Repeat("and more words ", 12), "\u202eright to left <b>bold</b>", strings.Repeat("샤드", 40)})
	d := startDemo(t, simcluster.Options{Projects: 12, Documents: 300, Still: true, Shards: shards},
		topology.Options{Routing: 200 * time.Millisecond, Slow: 500 * time.Millisecond})
	d.stop(t)
	d.config.Actions, d.config.DataDir = true, t.TempDir()
	d.serve(t)
	d.waitReady(t)
	names.writeNames(t, d.driver)
	names.writeProjects(t, d.driver)
	d.waitForTable(t, "the hostile names", func(t *topology.Table) bool { return t.Shard(names.name(3, "shard")) != nil })
	return d, names
}

// addressesOf are addresses of every page of the route table: of ordinary things, and of those with a
// hostile name.
func addressesOf(t *testing.T, d *demo, names *hostileCluster) (out []string) {
	t.Helper()
	var projects struct{ Items []struct{ ID string } }
	d.getJSON(t, "api/v1/projects?limit=5", &projects)
	var chunks api.List[api.Chunk]
	d.getJSON(t, "api/v1/collections/yorkie-meta.changes/chunks?limit=1", &chunks)
	plan := func(kind, args string) (p api.Plan) {
		d.postJSON(t, "api/v1/plans", api.PlanRequest{Kind: kind, Args: api.PlanArgs{RawMessage: json.RawMessage(args)}, Reason: "a test"}, &p)
		return p
	}
	split := plan("split", fmt.Sprintf(`{"ns":"yorkie-meta.changes","chunk":%q,"parts":2}`, chunks.Items[0].Ref))
	pin := plan("pin", fmt.Sprintf(`{"project":%q,"to":"shard-rs-13"}`, projects.Items[len(projects.Items)-1].ID))
	var run, pinned api.Run
	d.postJSON(t, "api/v1/plans/"+split.ID+"/run", api.PlanRun{Hash: split.Hash, Confirm: split.Confirm}, &run)
	d.postJSON(t, "api/v1/plans/"+pin.ID+"/run", api.PlanRun{Hash: pin.Hash, Confirm: pin.Confirm}, &pinned)

	var survey api.Survey
	d.postJSON(t, "api/v1/surveys", api.SurveyStart{Kind: "projects"}, &survey)
	if !eventually(30*time.Second, func() bool { d.getJSON(t, "api/v1/surveys/"+survey.ID, &survey); return survey.EndedAt != nil }) {
		t.Fatalf("the survey does not end: %+v", survey)
	}

	escape := url.PathEscape
	values := map[string][]string{
		"/collections/{ns}":              {"yorkie-meta.changes", "yorkie-meta.documents", escape(names.ns(0)), escape(names.ns(2))},
		"/collections/{ns}/chunks/{ref}": {"yorkie-meta.changes/chunks/" + chunks.Items[0].Ref},
		"/projects/{id}":                 {projects.Items[0].ID, names.projects[0].Hex(), names.projects[1].Hex()},
		"/shards/{name}":                 {"shard-rs-2", escape(names.name(0, "shard"))},
		"/plans/{id}":                    {split.ID, pin.ID},
		"/runs/{id}":                     {run.ID, pinned.ID},
		"/shards/{name}/why":             {"shard-rs-2/why", escape(names.name(0, "shard")) + "/why"},
		"/surveys/{survey}":              {survey.ID},
		"/help/{playbook}":               {"hot-project", "duplicate-id"},
		"/runbooks/{runbook}":            {"balancer-off", "shard-near-full"},
		"/advice/{id}/plan":              nil, // leads to a form that is among /plans/new
	}
	queries := map[string][]string{
		"/locate": {"?q=" + projects.Items[0].ID, "?q=017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "?q=nothing+like+it",
			"?q=" + url.QueryEscape(names.name(0, "project"))},
		"/activity":  {"?kind=all"},
		"/layout":    {"?layout=yorkie-0.4"},
		"/plans/new": {"?" + url.Values{"kind": {"move"}, "ns": {"yorkie-meta.changes"}, "chunk": {chunks.Items[0].Ref}}.Encode()},
		"/heat":      {"?rows=project"},
		"/matrix":    {"?by=projects"},
	}
	for _, pattern := range web.Pages() {
		head, _, filled := strings.Cut(pattern, "{")
		switch list, known := values[pattern]; {
		case filled && !known:
			t.Errorf("%s: the test knows no address of this page", pattern)
		case filled:
			for _, value := range list {
				out = append(out, strings.TrimPrefix(head, "/")+value)
			}
		default:
			out = append(out, strings.TrimPrefix(pattern, "/"))
		}
		for _, query := range queries[pattern] {
			out = append(out, strings.TrimPrefix(pattern, "/")+query)
		}
	}
	return out
}

// tooWide says which elements reach beyond the window, innermost first; "" when none does. What a
// scrolling or clipping ancestor holds does not make the page wider.
const tooWide = `((width) => {
	const page = document.scrollingElement.scrollWidth;
	if (page <= width) return "";
	const held = (e) => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
		if (getComputedStyle(p).overflowX !== "visible" && p.getBoundingClientRect().right <= width + 1) return true; return false };
	const out = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1 && !held(e));
	return page + " px: " + out.filter(e => !out.some(o => o !== e && e.contains(o))).slice(0, 3)
		.map(e => (e.parentElement?.outerHTML.slice(0, 120) + " … " + e.outerHTML.slice(0, 160))).join(" | ");
})(%d)`

// checkWidths opens a page once and resizes the window.
func checkWidths(t *testing.T, ctx context.Context, address string) {
	t.Helper()
	for i, width := range widths {
		if err := inPage(ctx, setWindow(width)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := inPage(ctx, chromedp.Navigate(address)); err != nil {
				t.Fatalf("%s: unexpected error: %v", address, err)
			}
		}
		if culprit := eval[string](t, ctx, fmt.Sprintf(tooWide, width)); culprit != "" {
			t.Errorf("%s at %d px is %s", address, width, culprit)
			if shots := os.Getenv("SHARDBOARD_SHOTS"); shots != "" {
				if png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100)); err == nil {
					name := strings.NewReplacer("/", "_", "?", "_", "=", "_", ":", "_").Replace(address)
					_ = os.WriteFile(fmt.Sprintf("%s/wide-%.80s-%d.png", shots, name, width), png, 0o600)
				}
			}
		}
	}
}

// setWindow sets the size of the page through the protocol, because windows of a browser without a
// screen are at least 500 px wide.
func setWindow(width int64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: 900, DeviceScaleFactor: 1,
		})
		return err
	})
}
