package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	answers "shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const changed = topology.Namespace("yorkie-meta.changes")

// incident is the whole program over a simulated cluster, in simulated time.
type incident struct {
	*testing.T
	sim  *simcluster.Cluster
	app  *App
	mu   sync.Mutex
	load map[bson.ObjectID]float64 // rows of changes per second, by Yorkie document
	of   map[bson.ObjectID]bson.ObjectID
}

// inIncident runs a test with moves of 10 s, the balancer on, and no writes but those of the test.
func inIncident(t *testing.T, o simcluster.Options, test func(w *incident)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &incident{T: t, load: map[bson.ObjectID]float64{}, of: map[bson.ObjectID]bson.ObjectID{}}
		o.Projects, o.Still, o.Migration = cmp.Or(o.Projects, 12), true, 10*time.Second
		o.Documents = cmp.Or(o.Documents, 300)
		var err error
		w.sim = must.Get(simcluster.New(t.Context(), o))
		defer func() { _ = w.sim.Close() }()
		w.sim.Start(t.Context())
		w.set("settings", "chunksize", bson.D{{Key: "value", Value: 64}}) // so that nothing is split by itself
		w.command("admin", bson.D{{Key: "balancerStart", Value: 1}})
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		w.app, err = New(t.Context(), Config{URI: uri, Listen: "127.0.0.1:0", Version: "test", Log: slog.New(slog.DiscardHandler),
			Auth: Auth{Mode: "none"}, Actions: true, Cluster: cluster.Options{Dialer: w.sim}})
		w.must(err)
		ctx, cancel := context.WithCancel(t.Context())
		w.app.current().start(ctx)
		time.Sleep(5 * time.Second)
		for i := range w.table().Collection(changed).Chunks.Len() {
			w.edit(i+4, i, 1) // everywhere a little
		}
		writing := make(chan struct{})
		go func() { defer close(writing); w.write(ctx) }()
		defer func() {
			cancel()
			<-writing
			_ = w.app.current().wait()
			_ = w.app.cleanup.run(context.Background())
		}()
		time.Sleep(100 * time.Second)
		test(w)
	})
}

func (w *incident) must(err error) {
	w.Helper()
	must.Do(w, err)
}

func (w *incident) command(db string, cmd bson.D) bson.Raw {
	w.Helper()
	reply, err := w.sim.Command(w.Context(), db, cmd)
	w.must(err)
	return reply
}

// write inserts the changes of the load, every second.
func (w *incident) write(ctx context.Context) {
	due, seq := map[bson.ObjectID]float64{}, int64(0)
	for {
		rows := bson.A{}
		w.mu.Lock()
		for doc, rate := range w.load {
			for due[doc] += rate; due[doc] >= 1; due[doc]-- {
				seq++
				rows = append(rows, bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(time.Now())}, {Key: "project_id", Value: w.of[doc]},
					{Key: "doc_id", Value: doc}, {Key: "server_seq", Value: seq}, {Key: "actor_id", Value: doc}})
			}
		}
		w.mu.Unlock()
		if len(rows) > 0 {
			_, _ = w.sim.Command(ctx, "yorkie-meta", bson.D{{Key: "insert", Value: "changes"}, {Key: "documents", Value: rows}})
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// do asks the program as a browser would.
func (w *incident) do(method, path string, body any) []byte {
	w.Helper()
	var in bytes.Buffer
	if body != nil {
		w.must(json.NewEncoder(&in).Encode(body))
	}
	r := httptest.NewRequest(method, w.app.URL()+strings.TrimPrefix(path, "/"), &in)
	r.RemoteAddr = "127.0.0.1:5"
	r.Header.Set("Content-Type", "application/json")
	out := httptest.NewRecorder()
	w.app.front.ServeHTTP(out, r)
	must.That(w, out.Code/100 == 2, "%s %s: %d %s", method, path, out.Code, out.Body)
	return out.Body.Bytes()
}

func ask[T any](w *incident, path string) (out T) {
	w.Helper()
	w.must(json.Unmarshal(w.do(http.MethodGet, "/api/v1/"+path, nil), &out))
	return out
}

// title is the first sentence of the overview.
func (w *incident) title() string {
	w.Helper()
	doc := must.Get(goquery.NewDocumentFromReader(bytes.NewReader(w.do(http.MethodGet, "/", nil))))
	return strings.TrimSpace(doc.Find("h1").First().Text())
}

func send[T any](w *incident, path string, body any) (out T) {
	w.Helper()
	w.must(json.Unmarshal(w.do(http.MethodPost, "/api/v1/"+path, body), &out))
	return out
}

func (w *incident) table() *topology.Table { return w.app.Watcher().Table() }

// documents are n Yorkie documents of a project whose changes are in one chunk.
func (w *incident) documents(project, chunk, n int) (out []bson.ObjectID) {
	w.Helper()
	c := w.table().Collection(changed)
	of := w.app.current().only.now().keeper.Directory().All()[project].ID
	base := bson.ObjectID{0: 1, 8: byte(project)}
	if lo, err := c.Key.Document(c.Chunks.At(chunk).Min); err == nil {
		if id, ok := lo.Lookup("doc_id").ObjectIDOK(); ok {
			base = id
			base[4]++
			base[7] = byte(project)
		}
	}
	for k := 0; len(out) < n && k < 1<<20; k++ {
		id := base
		id[9], id[10], id[11] = byte(k>>16), byte(k>>8), byte(k)
		key := must.Get(c.Key.KeyOf(placement.ObjectIDValue(id)))
		if at, _ := c.Chunks.Find(key); at == chunk {
			w.of[id] = of
			out = append(out, id)
		}
	}
	return out
}

// edit lets documents of a project get so many changes per second each.
func (w *incident) edit(project, chunk int, rates ...float64) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, doc := range w.documents(project, chunk, len(rates)) {
		w.load[doc] = rates[i]
	}
}

// stop ends the edits of a project.
func (w *incident) stop(project int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.app.current().only.now().keeper.Directory().All()[project].ID
	for doc, of := range w.of {
		if of == id {
			delete(w.load, doc)
		}
	}
}

// zone makes a zone of a chunk's range that one shard carries.
func (w *incident) zone(chunk int, shard string) {
	w.Helper()
	b := chunkBounds(w, w.table().Collection(changed), chunk)
	w.command("admin", bson.D{{Key: "addShardToZone", Value: shard}, {Key: "zone", Value: "eu"}})
	w.command("admin", bson.D{{Key: "updateZoneKeyRange", Value: string(changed)}, {Key: "min", Value: b[0]}, {Key: "max", Value: b[1]},
		{Key: "zone", Value: "eu"}})
}

// set changes a document of the config database, as an operator does.
func (w *incident) set(coll, id string, fields bson.D) {
	w.Helper()
	w.command("config", bson.D{{Key: "update", Value: coll}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "_id", Value: id}}}, {Key: "u", Value: bson.D{{Key: "$set", Value: fields}}}}}}})
}

// keys are the keys of the documents that get much, with their shards.
func (w *incident) keys() (out map[string]string, least shardkey.Key) {
	w.Helper()
	c := w.table().Collection(changed)
	out, least = map[string]string{}, c.Key.Max()
	for doc, rate := range w.load {
		key := must.Get(c.Key.KeyOf(placement.ObjectIDValue(doc)))
		if rate > 1 {
			_, ch := c.Chunks.Find(key)
			out[c.Key.Display(key)] = ch.Shard
			if key.Compare(least) < 0 {
				least = key
			}
		}
	}
	return out, least
}

// splitBelowTheLoad splits the chunk with the load so that all of it is in the upper piece.
func (w *incident) splitBelowTheLoad() {
	w.Helper()
	_, least := w.keys()
	at, err := w.table().Collection(changed).Key.Document(least)
	w.must(err)
	w.command("admin", bson.D{{Key: "split", Value: string(changed)}, {Key: "middle", Value: at}})
	time.Sleep(15 * time.Second) // the split is read
}

// busiest is the share of the shard that takes most of the writes of the last minute.
func (w *incident) busiest() (share float64) {
	w.Helper()
	total := 0.0
	for _, l := range ask[api.List[api.Heat]](w, "heat/shards?ns="+string(changed)+"&window=1m").Items {
		share, total = max(share, l.WritesPerSecond), total+l.WritesPerSecond
	}
	return share / total
}

// run runs a plan to its end.
func (w *incident) run(p api.Plan) string {
	w.Helper()
	r := send[api.Run](w, "plans/"+p.ID+"/run", map[string]any{"hash": p.Hash, "confirm": p.Confirm})
	for r.Open {
		time.Sleep(time.Second)
		r = ask[api.Run](w, "runs/"+r.ID)
	}
	must.That(w, r.State == "succeeded", "%s is %s: %s", p.Summary.String(), r.State, r.Why)
	return r.ID
}

// scenario is something that goes wrong, and what the program has to say of it.
type scenario struct {
	name   string
	always bool // in the short form too
	o      simcluster.Options
	happen func(w *incident)
	title  []string // what the first sentence of the overview says
	plan   string   // kind of the first plan; "": none helps
	none   string   // why none helps
	helped string   // the verdict of "did it help"; "": the plan moves no writes
	stops  bool     // the load ends while the plan runs
	kept   string   // why its undo is refused; "": it arrives
}

const (
	hotProject  = "The project comet-editor-staging makes"
	takeTooMuch = "on shard-rs-2"
)

// In each scenario the overview's title names the cause and the shard within two minutes, the first plan that it offers
// passes its checks, does to the busiest shard what was promised, is judged by what it did, and can be undone; or the
// card says why no plan helps.
func TestAProblemIsNamedMendedAndJudged(t *testing.T) {
	for _, s := range []scenario{
		{name: "hot project spread by hash", always: true, title: []string{hotProject, takeTooMuch}, plan: "split-hot", helped: "helped",
			happen: func(w *incident) { w.edit(2, 2, 8, 6, 5, 3); w.edit(2, 3, 7, 5, 4, 2) }},
		{name: "a move that the balancer would take back", title: []string{hotProject, "on shard-rs-1"}, plan: "split-hot", helped: "helped",
			happen: func(w *incident) { w.edit(2, 0, 8, 6, 5, 3); w.edit(2, 1, 7, 5, 4, 2) }},
		{name: "hot ranged project", title: []string{hotProject, takeTooMuch}, plan: "split-hot", helped: "helped",
			o: simcluster.Options{Layout: "yorkie-0.5.7"}, happen: func(w *incident) { w.edit(2, 4, 8, 6, 5, 3, 7, 4) }},
		{name: "hot document", title: []string{"The document ", "of the project comet-editor-staging", takeTooMuch, "No split divides it."},
			none: "The application has to write to it less often", happen: func(w *incident) { w.edit(2, 2, 40) }},
		{name: "hot chunk after a split", title: []string{"One chunk of yorkie-meta.changes on shard-rs-2"}, plan: "split-hot", helped: "helped",
			happen: func(w *incident) {
				w.edit(2, 2, 8, 6, 5, 3, 4, 6)
				w.edit(3, 2, 8, 6, 5, 3, 4, 6)
				time.Sleep(70 * time.Second)
				w.splitBelowTheLoad()
			}},
		{name: "two hot projects", plan: "split-hot", helped: "helped",
			title:  []string{"shard-rs-2 takes", "for the project comet-editor-staging", "for delta-labs-forms"},
			happen: func(w *incident) { w.edit(2, 2, 8, 7, 6); w.edit(3, 3, 7, 6, 5) }},
		{name: "load that stops", title: []string{hotProject, takeTooMuch}, plan: "split-hot", helped: "notThis", stops: true,
			happen: func(w *incident) { w.edit(2, 2, 8, 6, 5, 3, 7, 4) }},
		{name: "hung shard", always: true, title: []string{"shard-rs-2 has not answered since"}, none: "mends no server",
			happen: func(w *incident) { w.sim.Faults().Freeze("shard-rs-2") }},
		{name: "hung config server", title: []string{"The config servers have not answered since"}, none: "mends no server",
			happen: func(w *incident) { w.sim.Faults().Freeze("config") }},
		{name: "failing moves", title: []string{"moves from shard-rs-2 to shard-rs-3 failed"}, none: "No plan helps until the reason is gone",
			happen: func(w *incident) {
				w.sim.Faults().Add(simcluster.Rule{Command: "move", At: simcluster.Cloning, Times: -1, Err: simcluster.Fail(96)})
				w.zone(2, "shard-rs-3")
			}},
		{name: "zone violated", plan: "balance-collection",
			title: []string{"Balancing of yorkie-meta.changes is off", "outside its zone, on shard-rs-2 instead of shard-rs-3"},
			happen: func(w *incident) {
				w.set("collections", string(changed), bson.D{{Key: "noBalance", Value: true}})
				w.zone(2, "shard-rs-3")
			}},
		{name: "draining stuck", title: []string{"shard-rs-1 has no chunks left but is still a primary shard"}, plan: "move-primary",
			kept: "shard-rs-1 is draining.", happen: func(w *incident) {
				w.command("admin", bson.D{{Key: "removeShard", Value: "shard-rs-1"}})
				for w.table().RemainsOn("shard-rs-1").Chunks > 0 {
					time.Sleep(10 * time.Second)
				}
			}},
		{name: "nothing wrong", title: []string{"No problems"}, happen: func(w *incident) {}},
	} {
		t.Run(s.name, func(t *testing.T) {
			if testing.Short() && !s.always {
				t.Skip("two of them in the short form")
			}
			inIncident(t, s.o, s.play)
		})
	}
}

func (s scenario) play(w *incident) {
	time.Sleep(47 * time.Second) // in the middle of a minute
	s.happen(w)
	first := s.named(w, s.title...)
	switch {
	case first == nil:
		return
	case s.plan == "":
		expect.That(w, len(first.Plans) == 0 && strings.Contains(first.WhyNot, s.none), "offers %+v: %s", first.Plans, first.WhyNot)
		return
	case len(first.Plans) == 0 || first.Plans[0].Kind != s.plan:
		w.Fatalf("offers %+v, not %s", first.Plans, s.plan)
	}
	if _, least := w.keys(); first.Chunk != "" && first.Chunk != w.chunkOf(least) {
		w.Errorf("the chunk with the load is %s, not %s", w.chunkOf(least), first.Chunk)
	}
	time.Sleep(2 * time.Minute) // somebody reads it
	owners, _ := w.keys()
	p := send[api.Plan](w, "plans", map[string]any{"kind": first.Plans[0].Kind, "args": first.Plans[0].Args, "reason": first.Title.String()})
	must.That(w, !p.Blocked, "the plan is blocked: %+v", p.Checks)
	if s.stops {
		w.stop(2)
	}
	run := w.run(p)
	if s.stops {
		s.named(w, hotProject, " until ")
	}
	if s.helped != "" {
		time.Sleep(2 * time.Minute)
		s.checkPromise(w, first.Plans[0])
		time.Sleep(10 * time.Minute)
		out := ask[api.Run](w, "runs/"+run).Outcome
		expect.That(w, out.State == "measured" && out.Verdict == s.helped, "did it help: %s %s: %s", out.State, out.Verdict, out.Text)
	}
	undo := send[api.Plan](w, "runs/"+run+"/undo", nil)
	if undo.Blocked || s.kept != "" {
		expect.That(w, undo.Blocked && s.kept != "" && strings.Contains(blockers(undo), s.kept), "the undo is blocked: %s", blockers(undo))
		return
	}
	w.run(undo)
	time.Sleep(10 * time.Second)
	now, _ := w.keys()
	expect.That(w, s.stops || maps.Equal(now, owners), "after the undo the documents are on %v, before on %v", now, owners)
}

// named waits until the overview's title says something, and returns the first problem of the list: the same.
func (s scenario) named(w *incident, parts ...string) *api.Advice {
	w.Helper()
	title := ""
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Second) {
		title = w.title()
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(title, part) }) {
			break
		}
		must.That(w, !time.Now().After(end), "the overview is titled %q", title)
	}
	w.Log(title)
	list := ask[api.AdviceList](w, "advice")
	if len(list.Items) == 0 {
		return nil
	}
	expect.That(w, list.Items[0].Title.String() == title, "the first in JSON is %q, and the title %q", list.Items[0].Title.String(), title)
	return &list.Items[0]
}

// checkPromise compares the busiest shard's share with what the plan promised.
func (s scenario) checkPromise(w *incident, p api.AdvicePlan) {
	w.Helper()
	promised, fell := p.Busiest.Before-p.Busiest.After, p.Busiest.Before-w.busiest()
	w.Logf("%s: %s; promised is %.3f less, it fell by %.3f", p.Text, p.Expected, promised, fell)
	expect.That(w, promised >= 0.1 && (math.Abs(fell-promised) <= 0.2*promised || s.stops),
		"the busiest shard's share fell by %.3f, promised was %.3f", fell, promised)
}

// chunkOf is the reference of the chunk with a key.
func (w *incident) chunkOf(k shardkey.Key) string {
	c := w.table().Collection(changed)
	_, ch := c.Chunks.Find(k)
	return answers.ChunkRef(c, ch.Min)
}

func blockers(p api.Plan) (text string) {
	for _, c := range p.Checks {
		if c.Verdict == "block" {
			text += c.Text.String() + " "
		}
	}
	return text
}
