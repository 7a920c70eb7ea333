package realsuite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
)

const (
	// clearedWithin is how soon after a shard goes on no cursor of ours stands on it.
	clearedWithin = 10 * time.Second
	// clearedAfterCrash is the same where the process was killed meanwhile: its successor looks every ten seconds.
	clearedAfterCrash = 30 * time.Second
	readPages         = 10
)

// leftCursors freezes shards while the product reads them and ten pages are read. Ten seconds after each has gone on,
// no cursor of the product stands on any shard; nor does one after the product was killed meanwhile and started again.
func leftCursors(w *world) {
	seed, _ := strconv.ParseUint(os.Getenv(seedVariable), 10, 64)
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	w.Logf("with %s=%d", seedVariable, seed)
	random := rand.New(rand.NewPCG(seed, 2))
	members := w.cursorReaders()
	d := w.serve()
	stop := w.keepPagesOpen(d)
	defer stop()
	found := 0
	freeze := func(long time.Duration, meanwhile func()) (thawed time.Time) {
		shards := w.cluster.Shards()
		w.must(w.cluster.Freeze(w.Context(), shards[random.IntN(len(shards))]))
		m := movingChunk{world: w}
		m.pass(long / 2)
		meanwhile()
		m.pass(long / 2)
		w.must(w.cluster.Thaw())
		thawed = time.Now()
		n := len(w.ourCursors(members))
		w.Logf("%d cursors of ours right after a freeze of %s", n, long.Round(time.Second/10))
		found += n
		return thawed
	}
	for i := range w.form.count(20, 2) {
		long := 8*time.Second + time.Duration(random.Int64N(int64(w.form.count(12, 4))*int64(time.Second)))
		thawed := freeze(long, func() {})
		time.Sleep(time.Until(thawed.Add(clearedWithin)))
		left := w.leftOver(members)
		expect.That(w, len(left) == 0, "freeze %d of %s: %s later these cursors of ours are left: %v", i, long, clearedWithin, left)
	}
	thawed := freeze(16*time.Second, func() {
		d.kill()
		d.launch()
	})
	time.Sleep(time.Until(thawed.Add(clearedAfterCrash)))
	expect.Len(w, w.leftOver(members), 0, "%s after a crash these cursors of ours are left", clearedAfterCrash)
	if found == 0 && w.target.simulated { // a real server leaves some of them
		w.Error("no read left a cursor, so nothing was shown")
	}
}

// keepPagesOpen reads ten pages again and again, of which every other is closed before it has come.
func (w *world) keepPagesOpen(d *dashboard) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	var group sync.WaitGroup
	root := d.root
	var list struct{ Items []struct{ ID string } }
	d.read("projects?limit=1", &list)
	must.That(w, len(list.Items) != 0, "there are no projects")
	id, project := bson.NewObjectID().Hex(), "/projects/"+list.Items[0].ID
	paths := []string{"/", "/locate?q=" + id, project, "/api/v1" + project + "/documents", "/collections/" + hashedData + ".documents",
		"/heat", "/activity", "/locate?q=" + list.Items[0].ID, "/map", "/shards/" + w.cluster.Shards()[0]}
	for i := range readPages {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				limit := 10 * time.Second
				if n%2 == 0 {
					limit = time.Duration(i+1) * 100 * time.Millisecond
				}
				short, end := context.WithTimeout(ctx, limit)
				if r, err := http.NewRequestWithContext(short, http.MethodGet, root+paths[i], nil); err == nil {
					if answer, err := http.DefaultClient.Do(r); err == nil {
						_ = answer.Body.Close()
					}
				}
				end()
				select {
				case <-time.After(300 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
	}
}

// cursorReaders are clients of the shards, or of the router where shards have no address.
func (w *world) cursorReaders() (clients []*mongo.Client) {
	addresses := []string{}
	for name, address := range w.cluster.Addresses() {
		if name != realcluster.ConfigServer { // it deletes no ranges, and mongos kills no sessions on it
			addresses = append(addresses, address)
		}
	}
	if len(addresses) == 0 {
		addresses = []string{w.cluster.Address()}
	}
	for _, address := range addresses {
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + address + "/?directConnection=true").SetAppName("the suite"))
		w.must(err)
		w.Cleanup(func() { _ = client.Disconnect(context.Background()) })
		clients = append(clients, client)
	}
	return clients
}

// ourCursors are the idle cursors of the product on shards, by id.
func (w *world) ourCursors(clients []*mongo.Client) map[string]string {
	w.Helper()
	found := map[string]string{}
	for i, client := range clients {
		var all []struct {
			NS     string
			Cursor struct {
				CursorID           int64     `bson:"cursorId"`
				CreatedDate        time.Time `bson:"createdDate"`
				OriginatingCommand bson.Raw  `bson:"originatingCommand"`
			}
		}
		w.must(until(w.Context(), patience, func(ctx context.Context) error {
			cursor, err := client.Database("admin").Aggregate(ctx, bson.A{
				bson.D{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true}, {Key: "idleCursors", Value: true}}}},
				bson.D{{Key: "$match", Value: bson.D{{Key: "type", Value: "idleCursor"}}}},
			})
			if err != nil {
				return err
			}
			return cursor.All(ctx, &all)
		}))
		for _, k := range all {
			app, _ := k.Cursor.OriginatingCommand.Lookup("$client", "application", "name").StringValueOK()
			if strings.HasPrefix(app, "shardboard") {
				found[fmt.Sprint(i, " ", k.Cursor.CursorID)] = fmt.Sprintf("%s of %s: %.200s", k.NS, k.Cursor.CreatedDate.Format(time.TimeOnly),
					k.Cursor.OriginatingCommand)
			}
		}
	}
	return found
}

// leftOver are the cursors of the product that stand, and still do two seconds later: one in use is gone by then.
func (w *world) leftOver(clients []*mongo.Client) (left []string) {
	w.Helper()
	before := w.ourCursors(clients)
	if len(before) == 0 {
		return nil
	}
	time.Sleep(2 * time.Second)
	for id, text := range w.ourCursors(clients) {
		if _, stood := before[id]; stood {
			left = append(left, text)
		}
	}
	return left
}
