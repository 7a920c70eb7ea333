package changes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/simcluster"
	"shardboard/web/webtest"
)

// batchOfMoves is the JSON of a plan that moves chunks of app.users to a shard.
func batchOfMoves(to string, from ...int) string {
	var items []string
	for _, at := range from {
		items = append(items, fmt.Sprintf(`{"kind":"move","args":{"ns":"app.users","bounds":[{"p":%d},{"p":%d}],"to":"%s"}}`, at, at+10, to))
	}
	return `{"kind":"batch","args":{"plans":[` + strings.Join(items, ",") + `]},"reason":"a test"}`
}

// page reads a page as an operator.
func page(c *webtest.SimulatedServer, who, address string) *goquery.Document {
	c.Helper()
	return c.Page(c.T, address, webtest.As(who, auth.Operator))
}

// startBatch plans and runs a batch.
func startBatch(c *webtest.SimulatedServer, plan string) api.Run {
	c.Helper()
	p := c.Plan("anna", plan)
	confirm := ""
	if p.Confirm != nil {
		confirm = *p.Confirm
	}
	w := c.Post("anna", "/api/v1/plans/"+p.ID+"/run", fmt.Sprintf(`{"hash":%q,"confirm":%q}`, p.Hash, confirm))
	var run api.Run
	must.That(c, json.Unmarshal(w.Body.Bytes(), &run) == nil && w.Code == http.StatusAccepted, "run: %d %s", w.Code, w.Body)
	return run
}

// pausedOrEnded waits until a batch pauses or ends.
func pausedOrEnded(c *webtest.SimulatedServer, run api.Run) api.Run {
	c.Helper()
	for range 600 {
		run = webtest.Decode[api.Run](c.T, c.Do("GET", "/api/v1/runs/"+run.ID, webtest.As("anna", auth.Operator)))
		if !run.Open || run.Batch.Paused {
			return run
		}
		time.Sleep(time.Second)
	}
	c.Fatal("the batch neither pauses nor ends")
	return run
}

func failMoves(c *webtest.SimulatedServer, times int) {
	c.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Times: times, Err: simcluster.Fail(13)})
}

func TestPageOfABatchLetsAPersonRetryAndSkipFailedItems(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		c.Admin(bson.D{{Key: "split", Value: "app.users"}, {Key: "middle", Value: bson.D{{Key: "p", Value: 30}}}})
		_, err := c.Watcher.Load(c.Context())
		c.Must(err)
		failMoves(c, 2) // the first item, twice
		run := pausedOrEnded(c, startBatch(c, batchOfMoves("shard-rs-2", 0, 10, 20)))
		address := "/runs/" + run.ID
		doc := page(c, "bert", address)
		text := strings.Join(strings.Fields(doc.Find("#live-run").Text()), " ")
		expect.ContainsAll(c, text, []string{"Batch: 0 of 3 items, paused: a failed item waits for a decision", "Items that failed", "Item 1",
			"waits for a decision", "Its last run"},
			"lacks")
		form := doc.Find("form.decide[action='" + address + "/resume']")
		expect.That(c, form.Find("button[value=retry]").Text() == "Retry item 1" && form.Find("button[value=skip]").Text() == "Skip item 1",
			"%s", doc.Find(".runacts").Text())
		viewers := c.Page(c.T, address, webtest.As("vera", auth.Viewer))
		expect.That(c, doc.Find("#live-run.is-open.is-held").Length() == 1 && doc.Find("#live-run .todecide a").AttrOr("href", "") == address &&
			doc.Find(".runacts .pause").Length() == 1 && doc.Find(".runacts .resume").Length() == 1, "%s", doc.Find(".runacts").Text())
		expect.Equal(c, viewers.Find(".runacts form").Length(), 0, "a viewer can decide")
		expect.Contains(c, page(c, "bert", "/").Find("body").Text(), "Batch: 0 of 3 items, paused",
			"the overview does not tell that the batch waits")
		failMoves(c, 2) // the second item, twice
		w := c.Do("POST", address+"/resume", webtest.As("bert", auth.Operator), webtest.Form("item", "1", "do", "retry"))
		must.That(c, w.Code == http.StatusSeeOther, "retry: %d %s", w.Code, w.Body)
		time.Sleep(time.Minute)
		for range 2 { // the first item counts as new, so it fails twice more, or the second one waits
			doc = page(c, "bert", address)
			item, waits := doc.Find("form.decide input[name=item]").Attr("value")
			if !waits {
				break
			}
			c.Do("POST", address+"/resume", webtest.As("bert", auth.Operator), webtest.Form("item", item, "do", "skip"))
			time.Sleep(time.Minute)
		}
		ended := c.Ended(run.ID)
		expect.That(c, ended.State == "stopped" && ended.Batch.Done == 2 && ended.Batch.Skipped == 1,
			"%s %s: %+v", ended.State, ended.Why, ended.Batch)
		text = page(c, "bert", address).Find(".standing").Text()
		expect.That(c, strings.Contains(text, "2 of 3 items done. The run of each item lists"), "%q", text)
		items := webtest.Decode[api.List[api.BatchItem]](c.T, c.Do("GET", "/api/v1"+address+"/items?limit=2", webtest.As("vera", auth.Viewer)))
		expect.That(c, len(items.Items) == 2 && items.Next != "" && items.Items[0].State == "skipped", "%+v", items)
		rows := page(c, "bert", address).Find("#items tbody tr")
		expect.That(c, rows.Length() == 3 && strings.Contains(rows.Eq(0).Text(), "Skipped"), "%s", rows.Text())
		w = c.Do("POST", address+"/resume", webtest.As("bert", auth.Operator), webtest.Form("item", "x", "do", "skip"))
		expect.Equal(c, w.Code, 400, "an item x")
	})
}

func TestPageOfABatchIsOneLineOfProgressAndSaysWhatIsNotKnown(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		c.Admin(bson.D{{Key: "split", Value: "app.users"}, {Key: "middle", Value: bson.D{{Key: "p", Value: 30}}}})
		_, err := c.Watcher.Load(c.Context())
		c.Must(err)
		plan := strings.Replace(batchOfMoves("shard-rs-2", 0, 10, 20), `"args":{`, `"args":{"chunksPerHour":6,`, 1)
		run := startBatch(c, plan)
		time.Sleep(5 * time.Minute)
		address := "/runs/" + run.ID
		text := strings.Join(strings.Fields(page(c, "bert", address).Find("#live-run").Text()), " ")
		expect.ContainsAll(c, text, []string{"Batch: 1 of 3 items, about ", " left", "The next item begins at", "because of the limit per hour",
			"Group 1 of 2", "nothing wrong", "Not known: secondaries, replication lag and tickets.", "Not known: latencies.",
			"1 count of rows before and after: 1 the same, 0 different, 0 not known."},
			"lacks")
		w := c.Do("POST", address+"/pause", webtest.As("bert", auth.Operator), webtest.Form())
		now := webtest.Decode[api.Run](c.T, c.Do("GET", "/api/v1"+address, webtest.As("vera", auth.Viewer)))
		must.That(c, w.Code == http.StatusSeeOther && now.Batch.Paused && now.Batch.PausedBy == "user:bert" && now.Batch.Seconds != nil,
			"%d: %+v", w.Code, now.Batch)
		unknown := strings.Join(now.Batch.Health[0].Unknown, "\n")
		expect.Contains(c, unknown, "Not known: secondaries, replication lag and tickets.", "JSON")
		again := webtest.Decode[api.Run](c.T, c.Post("bert", "/api/v1"+address+"/resume", ""))
		expect.That(c, !again.Batch.Paused, "%+v", again.Batch)
		time.Sleep(20 * time.Minute)
		run = c.Ended(run.ID)
		expect.That(c, run.State == "succeeded" && run.Batch.Done == 3, "%s: %+v", run.State, run.Batch)
	}, func(o *engine.Options) { o.Counter = o.Reader.(operation.Counter) })
}

func TestBlockedPlanOfABatchOffersOneWithoutItsBlockedItems(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		plan := strings.Replace(batchOfMoves("shard-rs-2", 0, 10), "shard-rs-2", "shard-rs-1", 1) // the first is there already
		p := c.Plan("anna", plan)
		must.That(c, p.Blocked, "%+v", p.Checks)
		doc := page(c, "anna", "/plans/"+p.ID)
		button := doc.Find("button[name=leaveOutBlocked]")
		form := button.Closest("form")
		again, _ := form.Find("input[name=again]").Attr("value")
		must.That(c, button.Text() == "Plan without the blocked items" && again == p.ID, "%s", doc.Find("#plan").Text())
		w := c.Do("POST", "/plans", webtest.As("anna", auth.Operator),
			webtest.Form("kind", "batch", "again", p.ID, "reason", p.Reason, "leaveOutBlocked", "true"))
		to := w.Header().Get("Location")
		must.That(c, w.Code == http.StatusSeeOther && strings.HasPrefix(to, "/plans/"), "%d %s", w.Code, w.Body)
		next := page(c, "anna", to)
		if text := next.Find(".checks").Text(); !strings.Contains(text, "Item 1 of the request is left out: The chunk is already on") ||
			next.Find("button[name=leaveOutBlocked]").Length() != 0 || next.Find("form[action$='/run'] button[disabled]").Length() != 0 {
			c.Errorf("%s", next.Find("#plan").Text())
		}
		w = c.Do("POST", "/plans", webtest.As("anna", auth.Operator), webtest.Form("kind", "batch", "again", "x", "reason", "r"))
		expect.Equal(c, w.Code, http.StatusBadRequest, "no id")
		all := c.Plan("anna", batchOfMoves("shard-rs-1", 0, 10))
		w = c.Do("POST", "/plans", webtest.As("anna", auth.Operator),
			webtest.Form("kind", "batch", "again", all.ID, "reason", "r", "leaveOutBlocked", "true"))
		alert := webtest.ParseHTML(c.T, w.Body.String()).Find("[role=alert]").Text()
		expect.That(c, w.Code == http.StatusConflict && strings.Contains(alert, "A check blocks every item."),
			"all blocked: %d %s", w.Code, alert)
		expect.Equal(c, c.Sent(), 0, "commands were sent")
	})
}

func TestFormsOfOneChangeAndOfABatchLeadToEachOther(t *testing.T) {
	s := webtest.New(t)
	table := webtest.NewStory().View().Table
	c := table.Collection("yorkie-meta.changes")
	ref := answer.ChunkRef(c, c.Chunks.At(1).Min)
	one := answer.PlanURL(actions.MoveChunk, "ns", string(c.NS), "chunk", ref, "to", "shard-rs-2", "force", "true")
	several, _ := s.Page(t, one).Find("a:contains('Several at once')").Attr("href")
	form := s.Page(t, several)
	for name, want := range map[string]string{"chunks": ref, "each": "move", "to": "shard-rs-2", "ns": string(c.NS)} {
		field := form.Find("form.plan [name=" + name + "]")
		got := field.AttrOr("value", field.Find("option[selected]").AttrOr("value", field.Text()))
		expect.Equal(t, got, want, "%s", name)
	}
	expect.That(t, form.Find("form.plan [name=projects]").Length() == 0 && form.Find("form.plan [name=force]").AttrOr("value", "") == "true",
		"%s", form.Find("form.plan").Text())
	expect.Equal(t, form.Find("a:contains('Move')").AttrOr("href", ""), one, "the link back")
	for _, k := range actions.Kinds() {
		list, _ := actions.BatchList(k)
		link := s.Page(t, answer.PlanURL(k)).Find("a:contains('Several at once')")
		expect.Equal(t, link.Length() == 1, list != "", "%s: %d links", k, link.Length())
	}
}

// largestBatchPage is how many bytes a page of a batch may have, however many items it has.
const largestBatchPage = 150_000

func TestPagesOfABatchOfAThousandItemsStaySmall(t *testing.T) {
	only.Long(t, "plans and begins a thousand moves")
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		var from []int
		for i := range actions.MostItems {
			from = append(from, 1000+10*i)
		}
		for _, at := range append(from, 1000+10*len(from)) {
			c.Admin(bson.D{{Key: "split", Value: "app.users"}, {Key: "middle", Value: bson.D{{Key: "p", Value: at}}}})
		}
		_, err := c.Watcher.Load(c.Context())
		c.Must(err)
		check := func(what, address string) {
			c.Helper()
			size := c.Do("GET", address, webtest.As("anna", auth.Operator)).Body.Len()
			c.Logf("%s: %d bytes", what, size)
			expect.That(c, size <= largestBatchPage, "%s has %d bytes", what, size)
		}
		p := c.Plan("anna", batchOfMoves("shard-rs-2", from...))
		check("plan", "/plans/"+p.ID)
		first := page(c, "anna", "/plans/"+p.ID)
		next, _ := first.Find("#commands a[rel=next]").Attr("href")
		second := page(c, "anna", strings.TrimSuffix(next, "#commands")).Find("#commands")
		n := second.Find("ol li")
		expect.That(c, n.Length() == 100 && strings.Contains(n.Eq(0).Text(), "{p: 2000}") && n.Eq(0).Find(".nth").Text() == "101",
			"%d items: %s", n.Length(), n.Eq(0).Text())
		blocked := c.Plan("anna", batchOfMoves("shard-rs-1", from...))
		check("blocked plan", "/plans/"+blocked.ID)
		run := startBatch(c, batchOfMoves("shard-rs-2", from...))
		check("run", "/runs/"+run.ID)
		check("runs", "/runs")
		check("overview", "/")
	})
}
