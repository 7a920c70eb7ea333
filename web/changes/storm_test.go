package changes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"shardboard/internal/api"
	"shardboard/web/webtest"
)

// Many identical requests at once, over the store on disk: one run, one command,
// the same answer for its maker and a conflict for everybody else.
func TestAStormOfIdenticalPostsIsOneCommand(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		for i, n := range []int{2, 3, 10, 50} {
			p := c.Plan("anna", fmt.Sprintf(`{"kind":"split","args":{"ns":"app.users","at":{"p":%d}},"reason":"hot"}`, i+2))
			before := c.Sent()
			var all sync.WaitGroup
			var mu sync.Mutex
			codes, runs := map[int]int{}, map[string]int{}
			for k := range n {
				all.Go(func() {
					who := "anna"
					if k%5 == 4 {
						who = "bert"
					}
					w := c.Post(who, "/api/v1/plans/"+p.ID+"/run", `{"hash":"`+p.Hash+`","confirm":""}`)
					mu.Lock()
					defer mu.Unlock()
					codes[w.Code]++
					if who == "bert" {
						c.Problem(w, http.StatusConflict, "made by somebody else")
						return
					}
					if w.Code == http.StatusTooManyRequests {
						return // so many in a second are too many of one person
					}
					var run api.Run
					if err := json.Unmarshal(w.Body.Bytes(), &run); err != nil {
						c.Errorf("%d %s", w.Code, w.Body)
					}
					runs[run.ID]++
				})
			}
			all.Wait()
			if len(runs) != 1 || codes[http.StatusAccepted] != 1 || codes[http.StatusConflict] != n/5 ||
				codes[http.StatusOK]+codes[http.StatusTooManyRequests] != n-n/5-1 {
				c.Errorf("%d requests: %d runs, answers %v", n, len(runs), codes)
			}
			for id := range runs {
				if run := c.Ended(id); run.State != "succeeded" {
					c.Errorf("%s", run.State)
				}
			}
			if sent := c.Sent() - before; sent != 1 {
				c.Errorf("%d requests are %d commands", n, sent)
			}
		}
	})
}
