package app

import (
	"encoding/json"
	"fmt"
	"testing"

	"shardboard/internal/api"
)

// middleLink is the first link of the middle row: rows come and change above it.
const middleLink = `const rows = [...document.querySelectorAll("#main [data-live] [data-key]")].filter(r => r.querySelector("a, summary"));
	const row = rows[Math.floor(rows.length / 2)], link = row.querySelector("a, summary");`

// readings are what a person does before ten updates, and what has to be the same after them.
var readings = []struct{ name, before, state string }{
	{"focus", middleLink + `link.focus(); return row.dataset.key`,
		`return document.activeElement.closest("[data-key]")?.dataset.key + " " + document.activeElement.textContent`},
	{"selection", middleLink + `getSelection().selectAllChildren(link); return row.dataset.key`, `return String(getSelection())`},
	{"scroll", `document.body.style.paddingBottom = "2000px";` + middleLink +
		`scrollBy({ top: row.getBoundingClientRect().top - 220, behavior: "instant" });
		return row.closest("[data-held]")?.getBoundingClientRect().top > 56 ? "" : row.dataset.key`,
		`return document.elementFromPoint(500, 230)?.closest("[data-key]")?.dataset.key ?? ""`},
	{"an open detail", `const d = document.querySelector("#main [data-live] details"); if (!d) return "";
		d.open = true; const row = d.closest("[data-key]"); return row ? row.dataset.key : "no row"`,
		`return [...document.querySelectorAll("#main [data-live] details[open]")].map(d => d.querySelector("summary").textContent).join()`},
}

func TestBrowserKeepsWhatIsReadOnPagesOfListsAndOfARun(t *testing.T) {
	ctx := newBrowser(t)
	d := startWithActions(t, quietCluster())
	bad := listenForComplaints(t, ctx)
	run, opened, scrolled := d.runOfSplit(t), 0, 0
	var projects api.List[api.Project]
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	for _, path := range []string{"collections", "collections/yorkie-meta.documents", "projects", "runs/" + run.ID,
		"projects/" + projects.Items[0].ID} {
		for _, x := range readings {
			openBusy(t, ctx, d, path)
			key := eval[string](t, ctx, "(() => {"+x.before+"})()")
			if key == "" && x.name == "an open detail" {
				continue // this page has none
			}
			if key == "" && x.name == "scroll" {
				continue // a short list, whose begin is in view: new rows come there
			}
			if x.name == "scroll" {
				scrolled++
			}
			if x.name == "an open detail" {
				opened++
			}
			place := `document.querySelector("#main [data-key=" + CSS.escape("` + key + `") + "]")?.getBoundingClientRect().top ?? 0`
			was, top := eval[string](t, ctx, "(() => {"+x.state+"})()"), eval[float64](t, ctx, place)
			eval[bool](t, ctx, "busy.run(10) ?? true")
			if err := inPage(ctx, waitUntil("busy.sent === 10")); err != nil {
				t.Fatal(err)
			}
			if now := eval[string](t, ctx, "(() => {"+x.state+"})()"); now != was || was == "" {
				t.Errorf("%s on /%s: %q before, %q after ten updates", x.name, path, was, now)
			}
			if now := eval[float64](t, ctx, place); now < top-1 || now > top+1 {
				t.Errorf("%s on /%s: the row %s moved from %v to %v", x.name, path, key, top, now)
			}
			if x.name != "selection" && !eval[bool](t, ctx, "busy.shown()") {
				t.Errorf("%s on /%s: no update is shown", x.name, path)
			}
		}
	}
	if opened == 0 || scrolled < 3 {
		t.Errorf("%d pages have details to open, %d rows to read further down", opened, scrolled)
	}
	bad.check(t)
}

// runOfSplit splits a chunk and is the run that did it.
func (d *demo) runOfSplit(t *testing.T) (run api.Run) {
	t.Helper()
	var chunks api.List[api.Chunk]
	d.getJSON(t, "api/v1/collections/yorkie-meta.changes/chunks?limit=1", &chunks)
	args := fmt.Sprintf(`{"ns":"yorkie-meta.changes","chunk":%q,"parts":2}`, chunks.Items[0].Ref)
	var plan api.Plan
	request := api.PlanRequest{Kind: "split", Args: api.PlanArgs{RawMessage: json.RawMessage(args)}, Reason: "a test"}
	d.postJSON(t, "api/v1/plans", request, &plan)
	d.postJSON(t, "api/v1/plans/"+plan.ID+"/run", api.PlanRun{Hash: plan.Hash, Confirm: plan.Confirm}, &run)
	return d.waitForRun(t, run.ID)
}
