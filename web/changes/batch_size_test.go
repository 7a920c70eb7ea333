package changes_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/web/webtest"
)

// largestBatchPage is how many bytes a page of a batch may have, however many items it has.
const largestBatchPage = 150_000

func TestPagesOfABatchOfAThousandItemsStaySmall(t *testing.T) {
	if testing.Short() {
		t.Skip("plans and begins a thousand moves")
	}
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
			if size > largestBatchPage {
				c.Errorf("%s has %d bytes", what, size)
			}
		}
		p := c.Plan("anna", batchOfMoves("shard-rs-2", from...))
		check("plan", "/plans/"+p.ID)
		first := page(c, "anna", "/plans/"+p.ID)
		next, _ := first.Find("#commands a[rel=next]").Attr("href")
		second := page(c, "anna", strings.TrimSuffix(next, "#commands")).Find("#commands")
		n := second.Find("ol li")
		if n.Length() != 100 || !strings.Contains(n.Eq(0).Text(), "{p: 2000}") || n.Eq(0).Find(".nth").Text() != "101" {
			c.Errorf("%d items: %s", n.Length(), n.Eq(0).Text())
		}
		blocked := c.Plan("anna", batchOfMoves("shard-rs-1", from...))
		check("blocked plan", "/plans/"+blocked.ID)
		run := startBatch(c, batchOfMoves("shard-rs-2", from...))
		check("run", "/runs/"+run.ID)
		check("runs", "/runs")
		check("overview", "/")
	})
}
