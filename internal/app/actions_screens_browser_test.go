package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// postJSON posts to the API and decodes the answer.
func (d *demo) postJSON(t *testing.T, path string, body, into any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(d.app.URL()+path, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		t.Fatalf("POST /%s: %s", path, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// The pages of changes are checked like the other pages in
// TestBrowserFindsNoAccessibilityViolation.
func TestBrowserShowsPlansAndRunsInBothSizesAndThemes(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.stop(t)
	d.config.Actions = true
	d.serve(t)
	d.waitReady(t)
	bad := listenForComplaints(t, ctx)
	var chunks api.List[api.Chunk]
	d.getJSON(t, "api/v1/collections/yorkie-meta.changes/chunks?limit=1", &chunks)
	request := func(kind, args string) (p api.Plan) {
		d.postJSON(t, "api/v1/plans", api.PlanRequest{Kind: kind, Args: api.PlanArgs{RawMessage: json.RawMessage(args)}, Reason: "a test"}, &p)
		return p
	}
	where := fmt.Sprintf(`{"ns":"yorkie-meta.changes","chunk":%q`, chunks.Items[0].Ref)
	split := request("split", where+`,"parts":2}`)
	to := "shard-rs-1"
	if chunks.Items[0].Shard == to {
		to = "shard-rs-2"
	}
	move := request("move", where+`,"to":"`+to+`"}`)
	var run api.Run
	d.postJSON(t, "api/v1/plans/"+split.ID+"/run", api.PlanRun{Hash: split.Hash, Confirm: split.Confirm}, &run)
	form := "plans/new?" + url.Values{"kind": {"move"}, "ns": {"yorkie-meta.changes"}, "chunk": {chunks.Items[0].Ref}}.Encode()
	source, shots := axeScript(t), os.Getenv("SHARDBOARD_SHOTS")
	for i, path := range []string{"plans/new", form, "plans/" + split.ID, "plans/" + move.ID, "runs/" + run.ID, "runs", "zones",
		"collections/yorkie-meta.changes"} {
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				if err := inPage(ctx, setScreen(width, scheme), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1")); err != nil {
					t.Fatal(err)
				}
				if over := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("/%s at %d: %d px wider than the screen", path, width, over)
				}
				found, err := violations(ctx, source, allRules)
				if err != nil {
					t.Fatalf("/%s at %d %s: %v", path, width, scheme, err)
				}
				if len(found) > 0 {
					t.Errorf("/%s at %d %s:\n%s", path, width, scheme, strings.Join(found, "\n"))
				}
				if shots != "" {
					png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(fmt.Sprintf("%s/change-%d-%d-%s.png", shots, i, width, scheme), png, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	bad.check(t)
}
