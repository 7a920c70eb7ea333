package app

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// The journeys of docs/journeys.md. Each goes from link to link, as a person does, on a laptop and on a phone;
// an address is typed only where the document says so.

// eachWidth runs a journey on a laptop and on a phone, and checks that no page of it is wider than its window.
func eachWidth(t *testing.T, d *demo, journey func(o *operatorBrowser, width int64)) {
	for _, width := range []int64{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			o := &operatorBrowser{T: t, ctx: newBrowser(t), d: d}
			bad := listenForComplaints(t, o.ctx)
			o.do(setScreen(width, "light"))
			journey(o, width)
			bad.check(t)
		})
	}
}

// arrives waits until an expression is true, also while the page is being left for another.
func (o *operatorBrowser) arrives(js string) {
	o.Helper()
	waitInPage(o.T, func() (bool, error) { return chromedp.Run(o.ctx, chromedp.Evaluate[bool](js)) })
}

// sees fails unless the page says all of it. It waits, because answers come from the cluster.
func (o *operatorBrowser) sees(texts ...string) {
	o.Helper()
	for _, text := range texts {
		o.do(waitUntil(fmt.Sprintf(`document.querySelector("main")?.innerText.toLowerCase().includes(%q)`, strings.ToLower(text))))
	}
	if over := eval[int](o.T, o.ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		o.Errorf("%s is %d px wider than its window", eval[string](o.T, o.ctx, "location.pathname"), over)
	}
}

func TestBrowserJourneyOfADBA(t *testing.T) {
	d := startWithActions(t, quietCluster())
	d.gatherChunks(t, "shard-rs-2")
	d.stop(t)
	d.serve(t) // sizes are read at the start
	d.waitReady(t)
	fuller := d.fullestShard(t)
	eachWidth(t, d, func(o *operatorBrowser, _ int64) {
		o.open("")
		o.sees("of the data", "even share") // 1
		o.do(waitUntil(`document.querySelector("main svg, main canvas")?.checkVisibility()`))
		o.follow(`main a[href="/shards/`+fuller+`/why"]`, "/shards/"+fuller+"/why") // 2
		o.sees("fuller", "more than its even share")
		o.follow(`.waterfall a[href*="/why?ns=yorkie-meta.changes"]`, "/shards/"+fuller+"/why") // 3
		o.sees("chunk")
		o.follow(`main a[href^="/plans/new"]`, "/plans/new") // 4
		o.do(chromedp.WaitVisible("form.plan"), chromedp.SendKeys("form.plan #reason", " It is too full."),
			chromedp.Click("form.plan button.main"), chromedp.WaitVisible("#plan"))
		o.sees("what happens", fuller) // 5
		o.screenshot("journey-dba")
	})
}

// gatherChunks moves all chunks of changes to one shard.
func (d *demo) gatherChunks(t *testing.T, to string) {
	t.Helper()
	for _, chunk := range d.app.Watcher().Table().Collection(changes).Chunks.All() {
		if chunk.Shard != to {
			c := d.app.Watcher().Table().Collection(changes)
			lower, err := c.Key.Document(chunk.Min)
			if err != nil {
				t.Fatal(err)
			}
			upper, err := c.Key.Document(chunk.Max)
			if err != nil {
				t.Fatal(err)
			}
			d.admin(t, bson.D{{Key: "moveChunk", Value: changes}, {Key: "bounds", Value: bson.A{lower, upper}}, {Key: "to", Value: to}})
		}
	}
}

// fullestShard is the shard with most data. Sizes are read some seconds after the start.
func (d *demo) fullestShard(t *testing.T) (fullest string) {
	t.Helper()
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
				fullest, most = s.Name, bytes
			}
		}
		return true
	})
	return fullest
}

func TestBrowserJourneyOfSupport(t *testing.T) {
	d := startWithActions(t, quietCluster())
	var doc struct {
		ID        bson.ObjectID `bson:"_id"`
		Key       string        `bson:"key"`
		ProjectID bson.ObjectID `bson:"project_id"`
	}
	if err := d.driver.Database("yorkie-meta").Collection("documents").FindOne(t.Context(), bson.D{}).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var project struct{ Name string }
	d.getJSON(t, "api/v1/projects/"+doc.ProjectID.Hex(), &project)
	eachWidth(t, d, func(o *operatorBrowser, width int64) {
		o.open("")
		if width < 500 { // 1
			o.follow(`a[href="/locate"]`, "/locate")
		}
		box := eval[string](t, o.ctx, `(() => { const e = document.querySelector("main input[name=q]") ?? document.getElementById("find");
			e.id ||= "box"; return "#" + e.id })()`)
		o.do(chromedp.SendKeys(box, project.Name+"/"+doc.Key+"\r")) // 2
		o.arrives(`location.search.includes("q=") && Boolean(document.querySelector("main .ticket"))`)
		o.sees(doc.Key, project.Name, "shard-rs-")
		ticket := eval[string](t, o.ctx, `document.querySelector("main .ticket").textContent`) // 3
		if !strings.Contains(ticket, "shard-rs-") {
			o.Errorf("the ticket does not name the shard: %q", ticket)
		}
		o.screenshot("journey-support")
		o.follow(`main a[href$="#chunks"]`, "/collections/") // 4
		o.sees("shard-rs-")
	})
}

func TestBrowserJourneyOfOnCall(t *testing.T) {
	d := startWithActions(t, simcluster.Options{Projects: 12, Documents: 2000})
	d.admin(t, bson.D{{Key: "balancerStop", Value: 1}})
	eachWidth(t, d, func(o *operatorBrowser, width int64) {
		chunks := func() int { return d.app.Watcher().Table().Collection(changes).Chunks.Len() }
		before := chunks()
		o.open("")
		if width < 500 {
			o.do(chromedp.Click(`button[popovertarget="menu"]`))
		}
		o.follow(`a[href="/heat"]`, "/heat") // 1
		// 2, 3: a chunk whose writes so far were to one document cannot be split; the plan says so, and one tries the next.
		const blocked = `document.querySelector("#plan .confirm button.main")?.disabled ?? true`
		for i := 0; ; i = (i + 1) % 3 {
			row := fmt.Sprintf(`.hot tbody tr:nth-child(%d) a.plan[href*="kind=split-hot"]`, i+1)
			o.follow(row, "/plans/new")
			o.do(chromedp.SendKeys("form.plan #reason", "Its writes are one shard’s."), chromedp.Click("form.plan button.main"),
				chromedp.WaitVisible("#plan"))
			if !eval[bool](o.T, o.ctx, blocked) {
				break
			}
			o.open("heat")
		}
		o.sees("what happens")
		o.run("hot") // 4
		o.sees("done and proven", "steps proven:")
		d.waitForTable(o.T, "the cut to show", func(*topology.Table) bool { return chunks() > before })
		o.undo("hot") // 5
		d.waitForTable(o.T, "the cut to be gone", func(*topology.Table) bool { return chunks() == before })
	})
}

func TestBrowserJourneyOfAnAdmin(t *testing.T) {
	for _, width := range []int64{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			d := startDemo(t, quietCluster(), topology.Options{})
			d.stop(t)
			d.config.Auth, d.config.DataDir = Auth{Mode: "local"}, t.TempDir()
			d.serve(t)
			d.waitReady(t)
			o := &operatorBrowser{T: t, ctx: newBrowser(t), d: d}
			link, err := d.app.current().auth.FirstLink(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			const password = "correct horse battery"
			o.do(setScreen(width, "light"))
			o.open(strings.TrimPrefix(link, "/")) // 1
			o.do(chromedp.SendKeys("#name", "root"), chromedp.SendKeys("#password", password), chromedp.Click("form.stacked button"),
				chromedp.WaitVisible("#users"))
			const add = `form[action="/settings/users"]`
			o.do(chromedp.SendKeys(add+" [name=name]", "ben"), chromedp.SendKeys(add+" [name=password]", password+" of ben"), // 2
				chromedp.SetValue(add+" [name=role]", "support"), chromedp.Click(add+" button"))
			o.arrives(`location.search.includes("done=user")`)
			o.sees("ben")
			o.follow(`header .you a, a[href="/settings"]`, "/settings") // 3
			const token = `form[action="/settings/tokens"]`
			o.do(chromedp.SendKeys(token+" [name=name]", "ticket bot"), chromedp.Click(token+" button"), chromedp.WaitVisible("code.secret"))
			o.sees("ticket bot")
			o.open("audit") // 4
			o.sees("root", "ben", "ticket bot")
			o.screenshot("journey-admin")
			o.open("settings")
			o.do(chromedp.Click(`main form[action="/logout"] button, form[action="/logout"] button`)) // 5
			o.arrives(`location.pathname === "/login"`)
		})
	}
}
