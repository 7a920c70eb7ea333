package app

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

func TestBrowserLocatesByAFewKeysAndRemembersWhatWasFound(t *testing.T) {
	ctx := newBrowser(t)
	bad := listenForComplaints(t, ctx)
	d := startDemo(t, quietCluster(), topology.Options{})
	var projects struct{ Items []struct{ Name string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	name := projects.Items[0].Name
	options := `[...document.querySelectorAll("#q-list li bdi")].map((x) => x.textContent)`
	err := inPage(ctx, chromedp.Navigate(d.app.URL()+"locate"), chromedp.WaitVisible("#q[role=combobox]"),
		chromedp.SendKeys("#q", strings.ToUpper(name[:4])), waitUntil(options+`.includes("`+name+`")`),
		chromedp.SendKeys("#q", kb.ArrowDown+kb.Enter),
		chromedp.WaitVisible("#ticket-text"), waitUntil(`localStorage.getItem("recent finds") !== null`))
	if err != nil {
		t.Fatal(err)
	}
	if q := eval[string](t, ctx, `document.getElementById("q").value`); !strings.EqualFold(q[:4], name[:4]) {
		t.Errorf("the choice led to %q", q)
	}
	found := eval[string](t, ctx, `document.getElementById("q").value`)
	err = inPage(ctx, chromedp.Navigate(d.app.URL()+"zones"), chromedp.WaitVisible("#find[role=combobox]"), chromedp.Click("#find"),
		waitUntil(`document.querySelector("#find-list li bdi")?.textContent === "`+found+`"`))
	if err != nil {
		t.Fatal("what was found is not offered again:", err, eval[string](t, ctx,
			`localStorage.getItem("recent finds") + " " + document.activeElement.id + " " + document.getElementById("find-list")?.outerHTML`), found)
	}
	// A paste outside fields goes into the box and is not sent.
	err = inPage(ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur();
		const data = new DataTransfer(); data.setData("text/plain", " some\n key ");
		document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}))`),
		waitUntil(`document.getElementById("find").value === "some key" && document.activeElement.id === "find"`))
	if err != nil {
		t.Error("a paste does not reach the box:", err)
	}
	if at := eval[string](t, ctx, "location.pathname"); at != "/zones" {
		t.Errorf("a paste was sent: %s", at)
	}
	bad.check(t) // a text that finds nothing is answered by 404, which the browser logs
	// Enter without a choice sends what is typed, and forgetting empties the list.
	err = inPage(ctx, chromedp.SendKeys("#find", "\r"), chromedp.WaitVisible("#locate [role=alert]"))
	if err != nil {
		t.Fatal(err)
	}
	if q := eval[string](t, ctx, `document.getElementById("q").value`); q != "some key" {
		t.Errorf("%q was sent", q)
	}
	err = inPage(ctx, chromedp.Click("#q"), waitUntil(`document.querySelectorAll("#q-list li").length >= 2`),
		chromedp.Click("#q-list li:last-child"), waitUntil(`localStorage.getItem("recent finds") === null && document.getElementById("q-list").hidden`))
	if err != nil {
		t.Error("recent finds are not forgotten:", err)
	}
}

func TestBrowserCopiesAWholeTicket(t *testing.T) {
	ctx := newBrowser(t)
	bad := listenForComplaints(t, ctx)
	d := startDemo(t, quietCluster(), topology.Options{})
	var projects struct{ Items []struct{ ID, Name string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	p := projects.Items[0]
	var document struct{ Key string }
	id, err := bson.ObjectIDFromHex(p.ID)
	if err == nil {
		err = d.driver.Database("yorkie-meta").Collection("documents").FindOne(t.Context(),
			bson.D{{Key: "project_id", Value: id}, {Key: "key", Value: bson.Regex{Pattern: "^[a-z0-9.~_-]+$"}}}).Decode(&document)
	}
	if err != nil {
		t.Fatal(err)
	}
	var cluster struct{ ClusterID, Target string }
	d.getJSON(t, "api/v1/cluster", &cluster)
	mayRead := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, name := range []string{"clipboard-read", "clipboard-write"} {
			_, err := cdp.Call(ctx, t, browser.SetPermission, browser.SetPermissionParams{
				Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted})
			if err != nil {
				return err
			}
		}
		return nil
	})
	err = inPage(ctx, mayRead,
		chromedp.Navigate(d.app.URL()+"locate?q="+p.Name+"/"+document.Key), chromedp.WaitVisible("#ticket-text"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ button, first string }{
		{"ticket-text", "Yorkie document " + document.Key + " of project " + p.Name + "\n"},
		{"ticket-markdown", "**Where:** Yorkie document `" + document.Key + "` of project `" + p.Name + "`\n"},
	} {
		button := `[data-copies="` + c.button + `"]`
		err := inPage(ctx, chromedp.Click(button), waitUntil(`Boolean(document.querySelector('`+button+`').dataset.copied)`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`navigator.clipboard.readText()`, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got, c.first) {
			t.Errorf("%s begins %.80q, want %q", c.button, got, c.first)
		}
		for _, part := range []string{p.ID, cluster.ClusterID, "documents", "changes", "shard-rs-", "chunk ", "hash ",
			"As of 20", "Why: ", "Cluster: "} {
			if part == "" || !strings.Contains(got, part) {
				t.Errorf("%s has no %q:\n%s", c.button, part, got)
			}
		}
	}
	bad.check(t)
}
