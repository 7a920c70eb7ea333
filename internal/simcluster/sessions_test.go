package simcluster

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// A new cluster spends a quarter of an hour on spreading its sessions, and manual moves
// of other collections conflict with that.
func TestANewClusterSpreadsItsSessions(t *testing.T) {
	for release, want := range map[string]int{"4.4": 1024, "5.0": 1024, "7.0": 1} {
		t.Run(release, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := New(t.Context(), Options{ServerVersion: release, Empty: true, Sessions: true})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				c.Start(t.Context())
				mustRun(t, c, "admin", d("enableSharding", "app", "primaryShard", "shard-rs-1"))
				mustRun(t, c, "admin", d("shardCollection", "app.c", "key", d("p", int32(1))))
				owned := func() (n [3]int) {
					c.catalog.Mu.RLock()
					defer c.catalog.Mu.RUnlock()
					if r := c.catalog.Routing("config.system.sessions"); r != nil {
						n = [3]int{r.Count("shard-rs-1"), r.Count("shard-rs-2"), r.Count("shard-rs-3")}
					}
					return n
				}
				time.Sleep(50 * time.Second)
				if n := owned(); n != [3]int{} {
					t.Errorf("%v chunks at once", n)
				}
				time.Sleep(30 * time.Second)
				if n := owned(); n[0]+n[1]+n[2] != want || n[0] < want-20 {
					t.Errorf("%v chunks after 80 s", n)
				}
				if n := len(logLines(c, "changelog", "multi-split")); want > 1 && n != 1023 {
					t.Errorf("%d entries of the cut", n)
				}
				before := owned()
				time.Sleep(time.Minute)
				if n := before[0] - owned()[0]; want > 1 && (n < 38 || n > 44) {
					t.Errorf("%d chunks spread in a minute", n)
				}
				refused := 0
				for n := range 20 {
					time.Sleep(777 * time.Millisecond)
					_, err := c.Command(t.Context(), "admin",
						d("moveChunk", "app.c", "find", d("p", int32(0)), "to", []string{"shard-rs-2", "shard-rs-1"}[n%2], "_waitForDelete", true))
					if e := status.Of(err); e != nil {
						refused++
						if e.Code != 117 || !strings.Contains(e.Message, "config.system.sessions") ||
							!strings.Contains(e.Message, `chunk [{ _id: { id: UUID("`) {
							t.Errorf("refused by %v", err)
						}
					}
				}
				if (refused > 0) != (want > 1) {
					t.Errorf("%d of 20 moves refused", refused)
				}
				time.Sleep(20 * time.Minute)
				if n := owned(); want > 1 && (n[0] > 342 || n[1] > 342 || n[2] > 342) {
					t.Errorf("%v chunks in the end", n)
				}
				rows := mustRun(t, c, "config", d("find", "system.sessions")).Lookup("cursor", "firstBatch")
				if list, err := rows.Array().Values(); err != nil || len(list) != 0 {
					t.Errorf("%s %v", rows, err)
				}
				mustRun(t, c, "config", d("collStats", "system.sessions"))
				mustRun(t, c, "config", bson.D{{Key: "listCollections", Value: 1}})
			})
		})
	}
}
