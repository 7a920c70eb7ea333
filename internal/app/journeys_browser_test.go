package app

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/static"
)

// The journeys of docs/pages.md. Each goes from link to link, as a person does, on a laptop and on a phone;
// an address is typed only where the document says so.

func eachWidth(t *testing.T, d *demo, journey func(o *tab, width int64)) {
	needBrowser(t)
	for _, width := range []int64{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) { journey(newTab(t, d, width), width) })
	}
}

// plan says why on the form of a change, and makes the plan.
func (o *tab) plan(reason string) {
	o.Helper()
	o.fill("form.plan #reason", reason)
	o.click("form.plan button.main")
	o.until(`document.querySelector("#plan .confirm")?.checkVisibility()`)
	o.fits()
}

// within fails unless a journey takes no more keys and clicks.
func (o *tab) within(most int, what string, journey func()) {
	o.Helper()
	before := o.acts
	journey()
	n := o.acts - before
	expect.That(o, n <= most, "%s took %d keys and clicks, at most %d are wanted", what, n, most)
}

// inSight is whether an element is on the screen without scrolling, and not under the bar of a phone.
const inSight = `(() => { const box = document.querySelector(%q)?.getBoundingClientRect();
	return box && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight - 56 && scrollY === 0 })()`

// TestBrowserJourneysAreShort counts what somebody does on the way to an answer: from an alert to a confirmed plan, and
// from the overview to the largest projects of a shard. A part of the heat picture leads to a plan, too.
func TestBrowserJourneysAreShort(t *testing.T) {
	needBrowser(t)
	d := startTour(t)
	d.admin(t, bson.D{{Key: "balancerStop", Value: 1}}) // no move of the balancer is in the way of a plan
	var hot api.Advice
	must.That(t, eventually(waitLimit, func() bool {
		var list api.List[api.Advice]
		d.getJSON(t, "api/v1/advice", &list)
		i := slices.IndexFunc(list.Items, func(p api.Advice) bool {
			return p.Rule == "hot-project" && len(p.Plans) > 0 && p.Plans[0].URL != ""
		})
		if i >= 0 {
			hot = list.Items[i]
		}
		return i >= 0
	}), "no project is hot")
	eachWidth(t, d, func(o *tab, width int64) {
		o.open("")
		o.within(3, "the largest projects of a shard", func() {
			o.follow(`main a[href="/shards/`+hot.Shard+`"]`, "/shards/")
			o.follow(`main a[href*="/matrix?by=projects"]`, "/matrix")
			o.until(`location.search.includes(%q) && document.querySelector('th[aria-sort="descending"]')`, "on%3A"+hot.Shard)
			o.until(`document.querySelector('tr[data-key^="p:%s"] .flag')?.textContent === "hot"`, hot.Project)
		})
		o.open("advice#" + hot.ID) // where the alert leads
		o.within(6, "an alert to a confirmed plan", func() {
			o.follow(`[id="`+hot.ID+`"] a[href*="/plans/new"], [id="`+hot.ID+`"] a[href$="/plan"]`, "/plans/new")
			o.click("form.plan button.main") // the reason is filled in
			o.until(`document.querySelector("#plan .confirm")?.checkVisibility()`)
			o.follow("#plan .confirm button.main", "/runs/")
		})
		o.undoAfterRun()
	})
	d.leadsFromHeatToPlans(t)
}

// leadsFromHeatToPlans selects nearly all of the heat picture by mouse, by touch and by keyboard, and follows the first
// plan beside it. Its form has what was selected and needs nothing but the reason.
func (d *demo) leadsFromHeatToPlans(t *testing.T) {
	t.Helper()
	const offered = `#heat-selection a.plan`
	from := func(width int64, choose func(o *tab, from, to [2]float64)) {
		o := newTab(t, d, width)
		o.openHeat("heat?ns=" + changes)
		area := func() []float64 {
			return eval[[]float64](o, fmt.Sprintf(`import(%q).then(({ cellArea }) => {
				const a = cellArea(), c = document.querySelector("[data-heat=canvas]").getBoundingClientRect();
				return [c.left + a.x, c.top + a.y, a.w, a.h, c.top];
			})`, static.URL("js/heat_axes.js")))
		}
		selected := false
		for try := 0; try < 3 && !selected; try++ {
			a := area()
			cell := func(x, y float64) [2]float64 { return [2]float64{math.Round(a[0] + a[2]*x), math.Round(a[1] + a[3]*y)} }
			choose(o, cell(0.02, 0.01), cell(0.98, 0.99))
			// A problem that is found now is shown above the picture, which has moved away from below the mouse then.
			o.until(`document.querySelector(%q) || document.querySelector("[data-heat=canvas]").getBoundingClientRect().top !== %v`, offered, a[4])
			selected = eval[bool](o, fmt.Sprintf(`Boolean(document.querySelector(%q))`, offered))
		}
		o.until(`document.querySelector(%q)`, offered)
		href := eval[string](o, fmt.Sprintf(`document.querySelector(%q).getAttribute("href")`, offered))
		o.follow(offered, "/plans/new")
		for pair := range strings.SplitSeq(href[strings.Index(href, "?")+1:], "&") {
			name, _, _ := strings.Cut(pair, "=")
			o.until(`(() => { const got = [...document.querySelectorAll('form.plan [name="%s"]')].map((e) => e.value).filter((v) => v !== "").join();
				return got !== "" && got === new URLSearchParams(location.search).getAll(%q).join() })()`, name, name)
		}
		o.fill("form.plan #reason", "Its writes are hot.")
		o.click("form.plan button.main")
		o.until(`document.querySelector("#plan")?.checkVisibility()`)
	}
	from(1280, func(o *tab, from, to [2]float64) { o.drag(from, to) })
	from(390, func(o *tab, from, to [2]float64) {
		o.fingers()
		// A finger that begins sideways selects, also further down.
		o.touch([][2]float64{from}, [][2]float64{{from[0] + 40, from[1]}}, [][2]float64{{to[0], from[1] + 20}}, [][2]float64{to})
	})
	from(1280, func(o *tab, _, _ [2]float64) {
		o.press("ArrowLeft")
		o.press(strings.Fields(strings.Repeat("PageUp ", 12) + "Shift+Home " + strings.Repeat("Shift+PageDown ", 25) +
			"Shift+ArrowDown Enter")...)
		o.until(`document.activeElement.id === "heat-selected"`)
	})
}

// runs confirms the plan, waits without a reload until its run has ended, and returns its path.
func (o *tab) runs() string {
	o.Helper()
	o.follow("#plan .confirm button.main", "/runs/")
	o.run("window.notReloaded = true")
	o.until(`!document.querySelector("#live-run").classList.contains("is-open") && window.notReloaded`)
	at := eval[string](o, "location.pathname")
	var run api.Run
	o.d.getJSON(o, "api/v1"+at, &run)
	must.That(o, run.State == "succeeded", "unexpected run: %+v", run)
	return at
}

// undo plans and runs the undo of the run that is shown.
func (o *tab) undo() {
	o.Helper()
	o.follow("form.undo button", "/plans/")
	o.until(`document.querySelector("#plan .confirm")?.checkVisibility()`)
	o.runs()
}

// undoAfterRun waits for the run that is shown and undoes it, so that the next can have the same plan.
func (o *tab) undoAfterRun() {
	o.Helper()
	o.until(`!document.querySelector("#live-run").classList.contains("is-open")`)
	o.undo()
}

func (d *demo) chunksOfChanges() int { return d.app.Watcher().Table().Collection(changes).Chunks.Len() }

func TestBrowserJourneyOfOnCall(t *testing.T) {
	needBrowser(t)
	d := startWithActions(t, simcluster.Options{Projects: 12, Documents: 2000, Still: true})
	d.admin(t, bson.D{{Key: "balancerStop", Value: 1}})
	go d.keepWriting(t.Context(), d.writesToOneChunk(t))
	eachWidth(t, d, func(o *tab, width int64) {
		before := d.chunksOfChanges()
		o.open("")
		o.sees("balancer")
		o.accessibleInBothThemes("the overview with a problem")
		if width < 500 {
			o.click(`button[popovertarget="menu"]`)
			o.until(`document.querySelector("#menu:popover-open")`)
			o.accessibleInBothThemes("the menu")
		}
		o.follow(`a[href="/heat"]`, "/heat") // 1
		// 2, 3: while the reading budget is used up a plan says to try again in some seconds.
		for tries := 0; ; tries++ {
			if tries == 30 {
				o.Fatalf("the offered split cannot be confirmed: %s", o.where())
			}
			o.run("window.leaving_ = true")
			o.until(`(() => { const offered = [...document.querySelectorAll('.hot tbody a.plan[href*="kind=split-hot"]')].find(e => e.checkVisibility());
				offered?.click(); return offered })()`)
			o.arrive("/plans/new")
			o.plan("Its writes are one shard’s.")
			if eval[bool](o, `document.querySelector("#plan .confirm button.main")?.disabled === false`) {
				break
			}
			o.open("heat")
		}
		o.sees("what happens")
		o.accessible("the plan", allRules)
		o.runs() // 4
		o.sees("done and proven", "steps proven")
		o.accessible("the run", allRules)
		d.waitForTable(o, "the cut", func(*topology.Table) bool { return d.chunksOfChanges() > before })
		o.undo() // 5
		d.waitForTable(o, "the cut to be gone", func(*topology.Table) bool { return d.chunksOfChanges() == before })
	})
}

func TestBrowserJourneyOfSupport(t *testing.T) {
	d := sharedDemo(t)
	var doc struct {
		Key       string
		ProjectID bson.ObjectID `bson:"project_id"`
	}
	err := d.driver.Database("yorkie-meta").Collection("documents").FindOne(t.Context(),
		bson.D{{Key: "key", Value: bson.Regex{Pattern: "^[a-z0-9.~_-]+$"}}}).Decode(&doc)
	must.Do(t, err)
	var project struct{ ID, Name string }
	d.getJSON(t, "api/v1/projects/"+doc.ProjectID.Hex(), &project)
	var cluster struct{ ClusterID string }
	d.getJSON(t, "api/v1/cluster", &cluster)
	eachWidth(t, d, func(o *tab, width int64) {
		for _, name := range []string{"clipboard-read", "clipboard-write"} {
			o.do(call(browser.SetPermission, browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: name},
				Setting: browser.PermissionSettingGranted, BrowserContextID: chromedp.FromContext(o.ctx).BrowserContextID}))
		}
		o.open("")
		o.within(2, "a document's key to its shard", func() {
			box := "#find"
			if width < 500 { // 1
				o.follow(`a[href="/locate"]`, "/locate")
				box = "main input[name=q]"
			} else {
				o.acts++ // to paste outside of fields is one key, which goes to the box
			}
			o.fill(box, project.Name+"/"+doc.Key) // 2
			o.run("window.leaving_ = true")
			o.press("Enter")
			o.arrive("/locate")
			o.until(inSight, ".located .answer .shard")
			o.until(inSight, ".located .answer a.button")
		})
		o.sees(doc.Key, project.Name, "shard-rs-", "documents:", "not counted")
		for button, first := range map[string]string{ // 3
			"ticket-text":     "Yorkie document " + doc.Key + " of project " + project.Name + "\n",
			"ticket-markdown": "**Where:** Yorkie document `" + doc.Key + "` of project `" + project.Name + "`\n",
		} {
			button = `[data-copies="` + button + `"]`
			o.click(button)
			o.until(`document.querySelector(%q).dataset.copied`, button)
			got := eval[string](o, `navigator.clipboard.readText()`)
			parts := []string{project.ID, cluster.ClusterID, "documents", "changes", "shard-rs-", "chunk ", "hash ",
				"As of 20", "Why: ", "Cluster: "}
			if i := slices.IndexFunc(parts, func(part string) bool { return part == "" || !strings.Contains(got, part) }); i >= 0 ||
				!strings.HasPrefix(got, first) {
				o.Errorf("the copied ticket has no %q, or does not begin with %q:\n%s", parts[max(i, 0)], first, got)
			}
		}
		o.follow(`main a[href$="#chunks"]`, "/collections/") // 4
		o.sees("shard-rs-")
	})
}

func TestBrowserJourneyOfADBA(t *testing.T) {
	needBrowser(t)
	d := startWithActions(t, quietCluster())
	for _, chunk := range d.app.Watcher().Table().Collection(changes).Chunks.All() {
		if chunk.Shard != "shard-rs-2" {
			d.admin(t, d.moveCommand(t, chunk, "shard-rs-2"))
		}
	}
	d.stop(t)
	d.serve(t) // sizes are read at the start
	d.waitReady(t)
	fuller := ""
	d.waitForTable(t, "all sizes", func(table *topology.Table) bool {
		most := int64(-1)
		for _, s := range table.Shards {
			bytes := int64(0)
			for _, c := range table.Collections {
				size := table.SizeOn(c.NS, s.Name).Bytes
				if !size.Known {
					return false
				}
				bytes += size.Value
			}
			if bytes > most {
				fuller, most = s.Name, bytes
			}
		}
		return true
	})
	eachWidth(t, d, func(o *tab, _ int64) {
		o.open("")
		o.sees("of the data", "even share") // 1
		o.until(`document.querySelector("main svg, main canvas")?.checkVisibility()`)
		o.follow(`main a[href="/shards/`+fuller+`/why"]`, "/shards/"+fuller+"/why") // 2
		o.sees("fuller", "more than its even share")
		o.accessibleInBothThemes("why a shard is fuller")
		o.follow(`.waterfall a[href*="/why?ns=yorkie-meta.changes"]`, "/shards/"+fuller+"/why") // 3
		o.sees("chunk")
		o.follow(`main a[href^="/plans/new"]`, "/plans/new") // 4
		o.plan("It is too full.")
		o.sees("what happens", fuller) // 5
	})
}

const password = "correct horse battery"

func TestBrowserJourneyOfAnAdmin(t *testing.T) {
	needBrowser(t)
	for _, width := range []int64{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			d := startWithLocalUsers(t)
			o := newTab(t, d, width)
			o.expect("/api/v1/me") // asked by a page that is open at the end of its session
			link, err := d.app.current().auth.FirstLink(context.Background())
			must.Do(t, err)
			o.open(strings.TrimPrefix(link, "/")) // 1
			o.accessibleInBothThemes("the first sign-in")
			o.signIn("root", password)
			o.until(`document.querySelector("#users")?.checkVisibility()`)
			o.accessibleInBothThemes("the list of users")
			const add = `form[action="/settings/users"]`
			o.fill(add+" [name=name]", "ben") // 2
			o.fill(add+" [name=password]", password+" of ben")
			o.fill(add+" [name=role]", "support")
			o.click(add + " button")
			o.until(`location.search.includes("done=user") && ` + opened)
			o.sees("ben")
			o.follow(`header .you a, a[href="/settings"]`, "/settings") // 3
			const token = `form[action="/settings/tokens"]`
			o.fill(token+" [name=name]", "ticket bot")
			o.click(token + " button")
			o.until(`document.querySelector("code.secret")?.checkVisibility()`)
			o.sees("ticket bot")
			o.accessibleInBothThemes("the settings with a new token")
			o.open("audit") // 4
			o.sees("root", "ben", "ticket bot")
			o.open("settings")
			o.follow(`main form[action="/logout"] button, form[action="/logout"] button`, "/login") // 5
		})
	}
}

// TestBrowserJourneyOfAnOperatorAndAReader has somebody looking at pages while chunks move, the server is started
// again, and an operator splits a chunk, pins a project, and undoes both. No page is loaded anew, and what a reader
// does on it stays.
func TestBrowserJourneyOfAnOperatorAndAReader(t *testing.T) {
	needBrowser(t)
	d := startWithActions(t, movableCluster())
	reader := newTab(t, d, 1280)
	reader.open("collections/" + changes)
	reader.run(`window.notReloaded = true; document.body.style.minHeight = "3000px";
		const box = document.querySelector("main input[name=q]"); box.focus(); box.value = "half a wor"; box.setSelectionRange(2, 5);
		scrollTo(0, 120)`)
	const kept = `(() => { const box = document.querySelector("main input[name=q]");
		return [window.notReloaded, document.activeElement === box, box.value, box.selectionStart, box.selectionEnd, scrollY > 0].join() })()`
	reader.is("true,true,half a wor,2,5,true", kept)
	// What grows above moves the page by as much, so that what is read stays where it is in the window.
	const top = `document.querySelector("main input[name=q]").getBoundingClientRect().top`
	keeps := func(what string, change func()) {
		y := eval[float64](reader, top)
		reader.keeps(kept, what, change)
		reader.until("Math.abs(%s - %v) <= 1", top, y)
	}
	keeps("a move", func() { reader.until(`%s.includes(%q)`, chunkRow, d.moveFirstChunk(t)) })

	reader.expect("WebSocket", "ERR_CONNECTION_REFUSED", "Failed to load resource")
	const lost = `document.querySelector(".status").innerText.includes("lost")`
	keeps("a lost connection", func() {
		d.stop(t)
		reader.until(lost)
		d.serve(t)
		d.waitReady(t)
		reader.until("!" + lost)
		reader.until(`%s.includes(%q)`, chunkRow, d.moveFirstChunk(t))
	})

	o := newTab(t, d, 1280)
	// The largest chunk of documents holds one project, so it cannot be split. The page says so and offers no split; a
	// plan that is requested anyway is blocked.
	ref := d.largestChunk(t, "yorkie-meta.documents", "project_id")
	o.open("collections/yorkie-meta.documents/chunks/" + ref)
	o.sees("cannot be split")
	o.is("", `document.querySelector('.acts a[href*="kind=split&"]')?.href ?? ""`)
	o.open("plans/new?kind=split&ns=yorkie-meta.documents&chunk=" + ref)
	o.plan("half of the writes go there")
	o.sees("cannot be split inside a value")
	o.is("true", `String(document.querySelector("#plan .confirm button.main")?.disabled ?? true)`)

	// Nearly all writes go to changes.
	before := d.chunksOfChanges()
	keeps("a split and its undo", func() {
		chunks := func(n int) {
			d.waitForTable(t, "the cut", func(*topology.Table) bool { return d.chunksOfChanges() == n })
			reader.until(`document.querySelectorAll("table.chunks tbody tr").length === %d`, n)
		}
		o.open("collections/" + changes + "/chunks/" + d.largestChunk(t, changes, "doc_id"))
		o.follow(`.acts a[href*="kind=split&"]`, "/plans/new")
		o.plan("half of the writes go there")
		o.runs()
		chunks(before + 1)
		o.undo()
		chunks(before)
	})

	var projects struct{ Items []struct{ ID string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	id := projects.Items[0].ID
	shards := []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}
	on := func(shard string) string {
		return fmt.Sprintf(`window.notReloaded && document.querySelector('tr[data-key="yorkie-meta.documents"] td.at[data-label="%s"] svg rect')`, shard)
	}
	watcher := o.another()
	watcher.open("projects/" + id)
	watcher.run("window.notReloaded = true")
	was := shards[slices.IndexFunc(shards, func(s string) bool { return eval[bool](watcher, "Boolean("+on(s)+")") })]
	to := shards[(slices.Index(shards, was)+1)%3]
	// Without sizes the risk is high and the name must be typed to confirm.
	d.waitForTable(t, "the sizes of what is pinned", func(table *topology.Table) bool {
		for _, ns := range []topology.Namespace{"yorkie-meta.documents", "yorkie-meta.clients", "yorkie-meta.schemas"} {
			for _, s := range table.Shards {
				if !table.SizeOn(ns, s.Name).Bytes.Known {
					return false
				}
			}
		}
		return true
	})
	o.open("projects/" + id)
	o.follow(`.acts a[href*="kind=pin&"]`, "/plans/new")
	o.fill("#arg-shard", to)
	o.plan("noisy neighbour")
	pinned := o.runs()
	watcher.until(on(to) + " && !(" + on(was) + ")")
	o.open(strings.TrimPrefix(pinned, "/"))
	o.undo()
	watcher.until(on(was))
	d.waitForTable(t, "the zones to be gone", func(table *topology.Table) bool { return len(table.Zones) == 0 })
	o.open("runs")
	o.sees(path.Base(pinned)[:4])
}
