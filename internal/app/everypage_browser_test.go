package app

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"shardboard/internal/api"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/storybook"
)

// TestBrowserShowsEveryPage opens every page of the route table, over a cluster with long and hostile names, pins, runs
// and audit records, and makes all checks of a page at once: as a laptop, a tablet, a large screen and a phone show it,
// in both themes, with everything folded opened, while numbers change, and without scripts.
func TestBrowserShowsEveryPage(t *testing.T) {
	needBrowser(t)
	d, names := startHostileDemo(t)
	addresses := addressesOf(t, d, names)
	inTwoTabs(t, d, addresses, func(o *tab, address string) { o.checkPage(d.app.URL() + address) })

	d.stop(t)
	d.config.Auth, d.config.DataDir = Auth{Mode: "local"}, t.TempDir()
	d.serve(t)
	d.waitReady(t)
	inTwoTabs(t, d, []string{"login?next=%2Fzones", "login/first?key=x"}, func(o *tab, address string) { o.checkPage(d.app.URL() + address) })
}

// TestBrowserShowsEveryScene looks for violations in the scenes of the storybook that have some markup that no other
// has.
func TestBrowserShowsEveryScene(t *testing.T) {
	needBrowser(t)
	handler := storybook.Handler()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	type scene struct {
		path string
		of   markup
	}
	var scenes []scene
	for _, name := range append(storybook.Names(), storybook.Components()...) {
		path := storybook.Prefix + "/" + name + "?theme=light"
		scenes = append(scenes, scene{path, markupOf(pageOf(t, handler, path))})
	}
	// A large scene first, so that smaller ones seldom have anything that it has not.
	slices.SortStableFunc(scenes, func(a, b scene) int { return cmp.Compare(len(b.of), len(a.of)) })
	var pages []string
	seen := markup{}
	for _, s := range scenes {
		if seen.add(s.of) {
			pages = append(pages, s.path)
		}
	}
	t.Logf("%d scenes; %d have something that the others have not", len(scenes), len(pages))
	inTwoTabs(t, nil, pages, func(o *tab, path string) {
		o.expect("Failed to load resource") // scenes of refusals and failures, which have their status
		o.checkScene(server.URL + path)
	})

	// A page of a plan may have forms to approve, to refuse and to run: when the plan expires, all go off, and it is said.
	inTwoTabs(t, nil, []string{"toapprove", "waits", "approved"}, func(o *tab, scene string) {
		o.openAt(server.URL + storybook.Prefix + "/plan-" + scene) // its time is long past in the browser
		o.until(`[...document.querySelectorAll("form[data-once] button")].every(b => b.disabled)`)
		o.until(`!document.querySelector("time[data-until]") && document.body.innerText.includes("This plan has expired.")`)
	})
}

// inTwoTabs checks pages in as many tabs at a time as keep two processors busy.
func inTwoTabs(t *testing.T, d *demo, pages []string, check func(o *tab, page string)) {
	t.Helper()
	queue := make(chan string, len(pages))
	for _, p := range pages {
		queue <- p
	}
	close(queue)
	var tabs sync.WaitGroup
	for range 2 {
		o := newTab(t, d, 1280)
		// Pages about nothing, a step in time without a time, and the end of a session.
		o.expect("status of 401", "status of 404", "/history/step")
		tabs.Go(func() {
			for p := range queue {
				check(o, p)
			}
		})
	}
	tabs.Wait()
}

// checkPage makes all checks of a page.
func (o *tab) checkPage(address string) {
	o.Helper()
	o.do(screen(390, "light"))
	o.openAt(address)
	for _, width := range []int64{768, 1920, 1280} {
		o.do(screen(width, "light"))
		o.fits()
	}
	o.is("", turned)
	o.keepsFocusWhileBusy()
	o.skipsToContent()
	o.run(`for (const d of document.querySelectorAll("details")) d.open = true`)
	o.accessible("the page", allRules)
	o.do(screen(390, "dark"))
	o.nothing(smallTargets, "targets under 44 px")
	o.accessible("the page in the dark theme", allRules)
	o.do(screen(390, "light"))
	o.screenshot(address)
	if eval[bool](o, `Boolean(document.querySelector(".bar-nav button"))`) { // the menu lies over the page
		o.click(".bar-nav button")
		o.until(`document.querySelector("#menu")?.checkVisibility()`)
		o.nothing(smallTargets, "targets under 44 px in its menu")
	}

	o.do(scripts(false), screen(390, "light"))
	o.openAt(address)
	o.nothing(deadControls, "controls that do nothing without scripts")
	o.nothing(smallTargets, "targets under 44 px without scripts")
	o.do(screen(1280, "light"))
	o.nothing(deadControls, "controls that do nothing without scripts")
	o.do(scripts(true))
}

// checkScene looks for violations in a scene of the storybook, of pages that no other test opens on a phone also there.
func (o *tab) checkScene(address string) {
	o.Helper()
	o.do(screen(1280, "light"))
	o.openAt(address)
	o.accessibleInBothThemes("the scene")
	subject, _, _ := strings.Cut(address[strings.LastIndex(address, "/")+1:], "-")
	if slices.Contains([]string{"login", "first", "error", "missing"}, subject) {
		o.do(screen(390, "light"))
		o.fits()
		o.accessible("the scene", allRules)
	}
}

// nothing fails if JavaScript gives a list that is not empty.
func (o *tab) nothing(list, what string) {
	o.Helper()
	if got := eval[[]string](o, list); len(got) > 0 {
		o.Errorf("%s has %s:\n%s", eval[string](o, `location.href + " at " + innerWidth`), what, strings.Join(got, "\n"))
	}
}

// screenshot saves a picture in the folder SHARDBOARD_SHOTS, if there is one.
func (o *tab) screenshot(address string) {
	o.Helper()
	folder := os.Getenv("SHARDBOARD_SHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(o.ctx, chromedp.FullScreenshot(100))
	must.Do(o, err)
	name := strings.NewReplacer("/", "_", "?", "_", "=", "_", ":", "_").Replace(address)
	must.Do(o, os.WriteFile(fmt.Sprintf("%s/%.80s.png", folder, name), png, 0o600))
}

// turned is the first element whose text changes the writing direction beyond the element.
const turned = `([...document.querySelectorAll("body *")].find(e => !e.namespaceURI.endsWith("svg") &&
	[...e.childNodes].some(n => n.nodeType === 3 && /[\u202a-\u202e\u2066-\u2069]/.test(n.data)) &&
	!/isolate|plaintext/.test(getComputedStyle(e).unicodeBidi))?.outerHTML ?? "").slice(0, 200)`

// smallTargets lists what can be tapped and is smaller than a fingertip: less than 44 px high or wide. Everything
// folded on the page is opened first. A link inside a sentence may be as small as its words (WCAG 2.5.8); a list
// of links may not. A control counts with its label. Pictures are left out: each has a table or a list beside it.
const smallTargets = `(() => {
	for (const d of document.querySelectorAll("details")) d.open = true;
	const block = (e) => { let p = e.parentElement; while (getComputedStyle(p).display === "inline") p = p.parentElement; return p };
	const inSentence = (e) => {
		const words = document.createTreeWalker(block(e), NodeFilter.SHOW_TEXT);
		let out = "";
		for (let n = words.nextNode(); n; n = words.nextNode())
			if (!n.parentElement.closest("a, button, summary, select, option") && n.parentElement.checkVisibility()) out += " " + n.data;
		return (out.match(/\p{L}{2,}/gu) ?? []).length >= 2;
	};
	const unseen = (e) => { for (; e; e = e.parentElement) if (getComputedStyle(e).clipPath !== "none") return true; return false };
	const out = [];
	for (const e of document.querySelectorAll("a[href], button, summary, select, textarea, input:not([type=hidden])")) {
		if (e.closest("svg, .skip") || !e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || unseen(e)) continue;
		const target = e.matches("input, select, textarea") ? e.closest("label") ?? e : e;
		const box = target.getBoundingClientRect();
		if (box.width === 0 || box.height >= 43.5 && box.width >= 43.5) continue;
		if (e.localName === "a" && getComputedStyle(e).display === "inline" && inSentence(e)) continue;
		const where = e.closest("[class], [id]");
		out.push(Math.round(box.width) + "x" + Math.round(box.height) + " " + e.localName + "." + e.className + " “" +
			(e.innerText || e.getAttribute("aria-label") || e.name || "").trim().slice(0, 30) + "” in " +
			e.parentElement.localName + "." + e.parentElement.className + " of " + (e.parentElement.closest("table, ul, form, section, nav, p")?.className ?? ""));
	}
	const seen = {};
	for (const line of out) { const k = line.replace(/“.*”/, "").replace(/^\d+x/, ""); (seen[k] ??= [line, 0])[1]++ }
	return Object.values(seen).map(([line, n]) => n + " × " + line).slice(0, 20);
})()`

// deadControls are controls that can be seen and do nothing without scripts: a button outside of a form that opens no
// popover, a field outside of a form, a canvas, a link to nowhere, a form without an address and a button to send it.
const deadControls = `(() => {
	for (const d of document.querySelectorAll("details")) d.open = true;
	const dead = (e) => {
		switch (e.localName) {
		case "button": return !e.form && !e.hasAttribute("popovertarget");
		case "input": case "select": case "textarea": return !e.form ||
			e.form.method !== "dialog" && !e.disabled &&
			![...e.form.elements].some(b => b.localName === "button" && b.type === "submit") &&
			!(e.form.elements.length === 1 && e.localName === "input");
		case "a": return e.getAttribute("href") === "#" || e.getAttribute("href") === "" ||
			!e.hasAttribute("href") && e.getAttribute("role") === "button";
		case "canvas": return true;
		case "form": return e.getAttribute("action") === "#";
		}
		return e.getAttribute("role") !== null && !e.matches("summary");
	};
	return [...document.querySelectorAll("button, input:not([type=hidden]), select, textarea, a, canvas, form, " +
			"[role=button], [role=slider], [role=combobox], [draggable=true]")]
		.filter(e => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && dead(e))
		.map(e => e.outerHTML.slice(0, 160)).slice(0, 8);
})()`

// keepsFocusWhileBusy changes all numbers of a live page while a link in it has the focus.
func (o *tab) keepsFocusWhileBusy() {
	o.Helper()
	if !eval[bool](o, `Boolean(document.querySelector("[data-live]") && window.socket_?.readyState === 1)`) {
		return
	}
	o.run(busy)
	if eval[string](o, "(() => {"+middleLink+"link.focus({ preventScroll: true }); return row.dataset.key})()") == "" {
		return
	}
	o.keeps(readings[0].state, "the focus while numbers change", func() {
		o.run("busy.run(3, 10)")
		o.until("busy.sent === 3")
	})
}

// skipsToContent follows the link at the beginning of a page, and goes back. Neither loads the page anew.
func (o *tab) skipsToContent() {
	o.Helper()
	if !eval[bool](o, `Boolean(document.querySelector("a.skip"))`) {
		return
	}
	o.run("window.notReloaded = true")
	for _, step := range []string{`document.querySelector("a.skip").focus()`, "history.back()", "history.forward()"} {
		o.run(step)
		if strings.HasSuffix(step, "focus()") {
			o.press("Enter")
		}
		back := strings.HasSuffix(step, "back()")
		o.until(`(location.hash === "#main") === %t`, !back)
		if !back {
			o.until(`document.activeElement.id === "main"`)
		}
	}
	// What would load the page does so after the event of the way back.
	o.is("true", `new Promise((done) => setTimeout(() => done(String(window.notReloaded === true))))`)
}

// TestBrowserPrintsAReport looks at pages as they are printed on A4 with margins of 12 mm: 703 px wide. Paper has the
// head of a report, no navigation and no controls, the map as the server drew it, folded text, heads of tables, and
// nothing is cut.
func TestBrowserPrintsAReport(t *testing.T) {
	d := sharedDemo(t)
	o := newTab(t, d, 1280)
	var projects struct{ Items []struct{ ID string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	for _, path := range []string{"", "map", "matrix", "collections/" + changes, "projects/" + projects.Items[0].ID, "shards/shard-rs-2/why",
		"advice", "zones", "heat", "activity?kind=all", "locate?q=" + projects.Items[0].ID, "checks/duplicates", "settings"} {
		o.do(screen(1280, "dark"))
		o.open(path)
		o.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 703, Height: 1030, DeviceScaleFactor: 1}),
			media("print", "", "reduce"))
		o.run(`dispatchEvent(new Event("beforeprint"))`)
		o.fits()
		o.nothing(`Object.entries({
			"no head of a report": () => !document.querySelector(".report")?.checkVisibility() || !["Placement report", "mongodb://",
				"shardboard ", " UTC"].every(text => document.querySelector(".report").innerText.includes(text)),
			controls: () => [...document.querySelectorAll("button, input, select, textarea, nav.side, .bar-nav, header.top")]
				.some(e => e.checkVisibility()),
			folds: () => [...document.querySelectorAll("main details > summary + *")]
				.some(e => !e.closest(".timebar, form") && !e.matches("form, .more, .offers") &&
				!e.closest(".acts, .offers, .choices") && e.parentElement.checkVisibility() && !e.checkVisibility({contentVisibilityAuto: true})),
			"dark paper": () => getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)",
			"tables without their heads": () => [...document.querySelectorAll("main table.rows:not(.matrix, .where) thead")]
				.some(e => e.closest("table").checkVisibility() && getComputedStyle(e).display !== "table-header-group"),
			"no map": () => [...document.querySelectorAll("[data-map=svg]")].some(e => !e.querySelector("svg").checkVisibility()),
		}).filter(([, is]) => is()).map(([what]) => what)`, "on paper")
	}
	o.do(screen(1280, "light"))
	o.open("")
	o.run(`window.print = () => { window.printed_ = true }`)
	o.click("[data-print]")
	o.until("window.printed_")
}

// startHostileDemo serves a cluster of 24 shards with long and hostile names, on which changes can be made.
func startHostileDemo(t *testing.T) (*demo, *hostileCluster) {
	t.Helper()
	names := newHostileCluster([]string{strings.Repeat("longnamewithoutbreak", 9),
		"a name with spaces " + strings.Repeat("and more words ", 12), "\u202eright to left <b>bold</b>", strings.Repeat("샤드", 40),
		`"><img src=x onerror=alert(1)>`})
	d := startDemo(t, simcluster.Options{Projects: 12, Documents: 300, Still: true, Shards: 24},
		topology.Options{Routing: 200 * time.Millisecond, Slow: 500 * time.Millisecond})
	d.stop(t)
	d.config.Actions, d.config.DataDir = true, t.TempDir()
	d.serve(t)
	d.waitReady(t)
	d.recordHeat(t, 2)
	names.writeNames(t, d.driver)
	names.writeProjects(t, d.driver)
	d.waitForTable(t, "the hostile names", func(t *topology.Table) bool { return t.Shard(names.name(4, "shard")) != nil })
	return d, names
}

// addressesOf are addresses of every page of the route table: of ordinary things, and of those with a hostile name.
func addressesOf(t *testing.T, d *demo, names *hostileCluster) (out []string) {
	t.Helper()
	var projects struct{ Items []struct{ ID string } }
	d.getJSON(t, "api/v1/projects?limit=5", &projects)
	var chunks api.List[api.Chunk]
	d.getJSON(t, "api/v1/collections/"+changes+"/chunks?limit=1", &chunks)
	chunk := chunks.Items[0].Ref
	split := d.planned(t, "split", fmt.Sprintf(`{"ns":%q,"chunk":%q,"parts":2}`, changes, chunk))
	pin := d.planned(t, "pin", fmt.Sprintf(`{"project":%q,"to":"shard-rs-13"}`, projects.Items[len(projects.Items)-1].ID))
	run, pinned := d.ran(t, split), d.ran(t, pin)
	var survey api.Survey
	d.postJSON(t, "api/v1/surveys", api.SurveyStart{Kind: "projects"}, &survey)
	must.That(t, eventually(waitLimit, func() bool { d.getJSON(t, "api/v1/surveys/"+survey.ID, &survey); return survey.EndedAt != nil }),
		"the survey does not end: %+v", survey)

	escape := url.PathEscape
	values := map[string][]string{
		"/collections/{ns}":              {changes, escape(names.ns(0)), escape(names.ns(2))},
		"/collections/{ns}/chunks/{ref}": {changes + "/chunks/" + chunk},
		"/collections/{ns}/owners":       {changes + "/owners"},
		"/projects/{id}":                 {projects.Items[0].ID, names.projects[0].Hex(), names.projects[4].Hex()},
		"/shards/{name}":                 {"shard-rs-2", escape(names.name(0, "shard"))},
		"/plans/{id}":                    {split.ID, pin.ID},
		"/runs/{id}":                     {run.ID, pinned.ID},
		"/shards/{name}/why":             {"shard-rs-2/why", escape(names.name(0, "shard")) + "/why"},
		"/surveys/{survey}":              {survey.ID},
		"/help/{playbook}":               {"hot-project"},
		"/runbooks/{runbook}":            {"balancer-off"},
		"/advice/{id}/plan":              nil, // leads to a form that is among /plans/new
	}
	queries := map[string][]string{
		"/locate":    {"?q=" + projects.Items[0].ID, "?q=nothing+like+it", "?q=" + url.QueryEscape(names.name(0, "project"))},
		"/activity":  {"?kind=all"},
		"/plans/new": {"?" + url.Values{"kind": {"move"}, "ns": {changes}, "chunk": {chunk}}.Encode()},
		"/heat":      {"?by=project&span=24h"},
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
