package app

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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
	err := chromedp.Do(ctx, chromedp.Navigate(d.app.URL()+"locate"), chromedp.WaitVisible("#q[role=combobox]"),
		chromedp.SendKeys("#q", strings.ToUpper(name[:4])), waitUntil(options+`.includes("`+name+`")`),
		chromedp.SendKeys("#q", "\ue015\r"), // arrow down, Enter
		chromedp.WaitVisible("#ticket-text"), waitUntil(`localStorage.getItem("recent finds") !== null`))
	if err != nil {
		t.Fatal(err)
	}
	if q := eval[string](t, ctx, `document.getElementById("q").value`); !strings.EqualFold(q[:4], name[:4]) {
		t.Errorf("the choice led to %q", q)
	}
	found := eval[string](t, ctx, `document.getElementById("q").value`)
	err = chromedp.Do(ctx, chromedp.Navigate(d.app.URL()+"zones"), chromedp.WaitVisible("#find[role=combobox]"), chromedp.Click("#find"),
		waitUntil(`document.querySelector("#find-list li bdi")?.textContent === "`+found+`"`))
	if err != nil {
		t.Fatal("what was found is not offered again:", err, eval[string](t, ctx,
			`localStorage.getItem("recent finds") + " " + document.activeElement.id + " " + document.getElementById("find-list")?.outerHTML`), found)
	}
	// A paste outside fields goes into the box and is not sent.
	err = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur();
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
	err = chromedp.Do(ctx, chromedp.SendKeys("#find", "\r"), chromedp.WaitVisible("#locate [role=alert]"))
	if err != nil {
		t.Fatal(err)
	}
	if q := eval[string](t, ctx, `document.getElementById("q").value`); q != "some key" {
		t.Errorf("%q was sent", q)
	}
	err = chromedp.Do(ctx, chromedp.Click("#q"), waitUntil(`document.querySelectorAll("#q-list li").length >= 2`),
		chromedp.Click("#q-list li:last-child"), waitUntil(`localStorage.getItem("recent finds") === null && document.getElementById("q-list").hidden`))
	if err != nil {
		t.Error("recent finds are not forgotten:", err)
	}
}
