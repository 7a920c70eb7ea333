package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const changes = "yorkie-meta.changes"

// movableCluster is a quiet cluster whose chunks can return to a shard that they have just left.
func movableCluster() simcluster.Options {
	o := quietCluster()
	o.OrphanDelay = time.Millisecond
	return o
}

// startedDemo has quiet data, eight hours of recorded writes, and changes allowed.
var startedDemo = sync.OnceValue(func() *demo {
	d := startWithActions(packageTB{}, movableCluster())
	d.recordHeat(packageTB{}, 8)
	return d
})

// sharedDemo is the demo of all browser tests that neither stop it nor need other data. They move chunks of it, and
// leave no zones, plans that run, or sign-in behind.
func sharedDemo(t testing.TB) *demo {
	t.Helper()
	needBrowser(t)
	return startedDemo()
}

// startWithLocalUsers is a demo that asks for sign-in and has no user yet.
func startWithLocalUsers(t *testing.T) *demo {
	t.Helper()
	d := startDemo(t, quietCluster(), topology.Options{})
	d.stop(t)
	d.config.Auth, d.config.DataDir = Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}, t.TempDir()
	d.serve(t)
	d.waitReady(t)
	return d
}

// chunkRow is the first row of the chunk table: the chunk with the lowest bound.
const chunkRow = `(document.querySelector("table.chunks tbody tr")?.innerText ?? "")`

// moveCommand moves a chunk of changes.
func (d *demo) moveCommand(t testing.TB, chunk topology.Chunk, to string) bson.D {
	t.Helper()
	c := d.app.Watcher().Table().Collection(changes)
	lower := must.Get(c.Key.Document(chunk.Min))
	upper := must.Get(c.Key.Document(chunk.Max))
	return bson.D{{Key: "moveChunk", Value: changes}, {Key: "bounds", Value: bson.A{lower, upper}}, {Key: "to", Value: to}}
}

func anotherShard(than string) string {
	if than == "shard-rs-3" {
		return "shard-rs-2"
	}
	return "shard-rs-3"
}

// moveFirstChunk moves the first chunk of changes to another shard, with a separate driver, and returns that shard.
func (d *demo) moveFirstChunk(t testing.TB) string {
	t.Helper()
	chunk := d.app.Watcher().Table().Collection(changes).Chunks.At(0)
	to := anotherShard(chunk.Shard)
	d.admin(t, d.moveCommand(t, chunk, to))
	d.waitForTable(t, "the move", func(table *topology.Table) bool { return table.Collection(changes).Chunks.Owner(0) == to })
	return to
}

// moveAndRecord is moveFirstChunk, until the move is in the history too.
func (d *demo) moveAndRecord(t testing.TB) string {
	t.Helper()
	moves := func() (n int) {
		var list struct{ Items []struct{ Kind string } }
		d.getJSON(t, "api/v1/history?limit=1000&ns="+changes, &list)
		for _, i := range list.Items {
			if i.Kind == "moved" {
				n++
			}
		}
		return n
	}
	before := moves()
	to := d.moveFirstChunk(t)
	must.That(t, eventually(waitLimit, func() bool { return moves() > before }), "the move is not in the history")
	return to
}

// largestChunk returns the reference of the chunk with the most rows, counted with a separate driver. The shard key of
// the rows is a field, or the hash of it.
func (d *demo) largestChunk(t testing.TB, ns topology.Namespace, field string) string {
	t.Helper()
	var groups []struct {
		ID bson.ObjectID `bson:"_id"`
		N  int
	}
	cursor, err := d.driver.Database(ns.Database()).Collection(ns.Collection()).Aggregate(context.Background(), bson.A{
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + field}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}}})
	if err == nil {
		err = cursor.All(context.Background(), &groups)
	}
	must.Do(t, err)
	c := d.app.Watcher().Table().Collection(ns)
	rows, best := map[int]int{}, 0
	for _, g := range groups {
		place := any(g.ID)
		if ns == changes {
			place = shardkey.HashObjectID(g.ID)
		}
		doc := must.Get(bson.Marshal(bson.D{{Key: field, Value: place}}))
		k := must.Get(c.Key.Bound(doc))
		i, _ := c.Chunks.Find(k)
		if rows[i] += g.N; rows[i] > rows[best] {
			best = i
		}
	}
	var chunks struct{ Items []struct{ Ref string } }
	d.getJSON(t, "api/v1/collections/"+string(ns)+"/chunks?limit=1000", &chunks)
	return chunks.Items[best].Ref
}

// recordHeat stores recorded writes for every minute of the last hours, the running minute included, with a hot chunk,
// a wave and hours without counts.
func (d *demo) recordHeat(t testing.TB, hours int) {
	t.Helper()
	var projects struct{ Items []struct{ ID bson.ObjectID } }
	d.getJSON(t, "api/v1/projects?limit=1000", &projects)
	table, rng := d.app.Watcher().Table(), rand.New(rand.NewPCG(9, 9))
	c, to := table.Collection(changes), time.Now().Truncate(time.Minute).Add(time.Minute)
	for at := to.Add(-time.Duration(hours) * time.Hour); at.Before(to); at = at.Add(time.Minute) {
		minute := int(at.Unix() / 60)
		if hours > 2 && to.Sub(at) > time.Hour && minute/60%5 == 3 {
			continue
		}
		s := heat.Slot{NS: changes, From: at, To: at.Add(time.Minute), Every: 1, Life: c.Incarnation}
		if minute/60%5 == 1 {
			s.Every = 10
		}
		for i := range c.Chunks.All() {
			rate := 600 / math.Pow(float64(1+(i*7)%c.Chunks.Len()), 1.1) * (1.3 + math.Sin(float64(minute)/40+float64(i)/9))
			if i == 5 && minute%90 < 25 {
				rate = 3000
			}
			if n := int64(rate * rng.ExpFloat64()); n > 0 {
				s.Pieces = append(s.Pieces, heat.PieceOf(c, i, n))
				s.Counts = append(s.Counts, heat.Count{Project: projects.Items[i%len(projects.Items)].ID, Rows: n})
			}
		}
		d.app.current().only.now().pictures.Take(s)
		for _, ns := range []topology.Namespace{"yorkie-meta.documents", "yorkie-meta.clients"} {
			c := table.Collection(ns)
			s := heat.Slot{NS: ns, Method: heat.ChangedRows, From: at, To: at.Add(time.Minute), Every: 1, Capped: true,
				Life: c.Incarnation, Astray: 2}
			for i := range c.Chunks.All() {
				if (minute/50+i)%3 > 0 { // other chunks have no project among the hottest
					s.Pieces = append(s.Pieces, heat.PieceOf(c, i, 1+rng.Int64N(int64(40+20*i))))
				}
			}
			d.app.current().only.now().pictures.Take(s)
		}
	}
}

// postJSON posts to the API and decodes the answer.
func (d *demo) postJSON(t testing.TB, path string, body, into any) {
	t.Helper()
	text := must.Get(json.Marshal(body))
	res, err := http.Post(d.app.URL()+path, "application/json", bytes.NewReader(text))
	must.Do(t, err)
	defer res.Body.Close()
	must.That(t, res.StatusCode/100 == 2, "POST /%s: %s", path, res.Status)
	must.Do(t, json.NewDecoder(res.Body).Decode(into))
}

// planned makes a plan; ran runs it and waits for its end.
func (d *demo) planned(t testing.TB, kind, args string) (p api.Plan) {
	t.Helper()
	d.postJSON(t, "api/v1/plans", api.PlanRequest{Kind: kind, Args: api.PlanArgs{RawMessage: json.RawMessage(args)}, Reason: "a test"}, &p)
	return p
}

func (d *demo) ran(t testing.TB, p api.Plan) (run api.Run) {
	t.Helper()
	d.postJSON(t, "api/v1/plans/"+p.ID+"/run", api.PlanRun{Hash: p.Hash, Confirm: p.Confirm}, &run)
	must.That(t, eventually(waitLimit, func() bool { d.getJSON(t, "api/v1/runs/"+run.ID, &run); return !run.Open }),
		"the run does not end: %+v", run)
	return run
}

// someRun is a run of the demo; it splits a chunk if there is none yet.
func (d *demo) someRun(t testing.TB) api.Run {
	t.Helper()
	var runs api.List[api.Run]
	if d.getJSON(t, "api/v1/runs?limit=1", &runs); len(runs.Items) > 0 {
		return runs.Items[0]
	}
	var chunks api.List[api.Chunk]
	d.getJSON(t, "api/v1/collections/"+changes+"/chunks?limit=1", &chunks)
	return d.ran(t, d.planned(t, "split", fmt.Sprintf(`{"ns":%q,"chunk":%q,"parts":2}`, changes, chunks.Items[0].Ref)))
}
