package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/topology"
)

// explain returns the shards that a find is sent to, according to the cluster.
func (d *demo) explain(t *testing.T, ns string, filter bson.D) []string {
	t.Helper()
	db, coll, _ := strings.Cut(ns, ".")
	var reply struct {
		QueryPlanner struct {
			WinningPlan struct {
				Shards []struct {
					ShardName string `bson:"shardName"`
				} `bson:"shards"`
			} `bson:"winningPlan"`
		} `bson:"queryPlanner"`
	}
	err := d.driver.Database(db).RunCommand(t.Context(), bson.D{
		{Key: "explain", Value: bson.D{{Key: "find", Value: coll}, {Key: "filter", Value: filter}}},
		{Key: "verbosity", Value: "queryPlanner"},
	}).Decode(&reply)
	must.Do(t, err)
	var names []string
	for _, s := range reply.QueryPlanner.WinningPlan.Shards {
		names = append(names, s.ShardName)
	}
	return names
}

// A split by another driver reaches an open socket and the API. A cluster that stopped and starts again
// at its address is read again without a restart of the dashboard, even if it lost its latest changes.
func TestChangesAndRestartsOfTheClusterAreFollowed(t *testing.T) {
	only.Long(t, "restarts a cluster under a server")
	o := quietCluster()
	o.Epoch = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	d := startDemo(t, o, topology.Options{Routing: 100 * time.Millisecond, MaxBackoff: 200 * time.Millisecond})
	const ns = "yorkie-meta.changes"
	conn, res, err := websocket.DefaultDialer.Dial("ws://"+d.app.Addr()+"/live?t=collection:"+ns,
		http.Header{"Origin": {"http://" + d.app.Addr()}})
	must.That(t, err == nil, "unexpected error %v, response %v", err, res)
	defer conn.Close()
	c := d.app.Watcher().Table().Collection(ns)
	loaded, at := c.Chunks.Len(), c.Chunks.At(0)
	lower := must.Get(c.Key.Document(at.Min))
	upper := must.Get(c.Key.Document(at.Max))
	d.admin(t, bson.D{{Key: "split", Value: ns}, {Key: "bounds", Value: bson.A{lower, upper}}})
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	for d.app.Watcher().Table().Collection(ns).Chunks.Len() == loaded {
		// Frames of other changes (status, sizes) may arrive first.
		_, _, err := conn.ReadMessage()
		must.That(t, err == nil, "no frame shows the split: %v", err)
	}
	var chunks struct{ Items []json.RawMessage }
	d.getJSON(t, "api/v1/collections/"+ns+"/chunks?limit=1000", &chunks)
	expect.Equal(t, len(chunks.Items), loaded+1, "chunks")

	d.stopCluster(t)
	d.waitForTable(t, "the loss to show", func(t *topology.Table) bool { return t.Health[topology.PartRouting].Err != nil })
	expect.Equal(t, d.app.Watcher().Table().Collection(ns).Chunks.Len(), loaded+1, "the last table was dropped: chunks")
	d.restartCluster(t, o)
	d.waitForTable(t, "the cluster to be followed again", func(t *topology.Table) bool {
		return t.Health[topology.PartRouting].Err == nil && t.Collection(ns).Chunks.Len() == loaded
	})
}
