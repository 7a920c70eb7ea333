package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// hiddenValues is a cluster full of canaries and a dashboard whose users are identified
// by a proxy.
type hiddenValues struct {
	*testing.T
	d           *demo
	app         *App
	plan, run   string // of a move that the cluster refused
	split       string // run that split a chunk
	plans       []string
	before      time.Time
	chunk, hash string // references of chunks whose bounds are canaries
}

const (
	hiddenNS = "canary.keys"
	hashedNS = "canary.hashed"
)

func newHiddenValues(t *testing.T) *hiddenValues {
	t.Helper()
	d := startDemo(t, simcluster.Options{Projects: 4, Documents: 20, Still: true},
		topology.Options{Statistics: time.Second, StatisticsPerSecond: 100})
	w := &hiddenValues{T: t, d: d}
	key := func(v any) bson.D { return bson.D{{Key: "k", Value: v}} }
	for _, cmd := range []bson.D{
		{{Key: "enableSharding", Value: "canary"}, {Key: "primaryShard", Value: "shard-rs-1"}},
		{{Key: "shardCollection", Value: hiddenNS}, {Key: "key", Value: key(1)}},
		{{Key: "shardCollection", Value: hashedNS}, {Key: "key", Value: key("hashed")}, {Key: "numInitialChunks", Value: 2}},
		{{Key: "split", Value: hiddenNS}, {Key: "middle", Value: key(string(canaryBound))}},
		{{Key: "split", Value: hiddenNS}, {Key: "middle", Value: key(canaryID)}},
		{{Key: "split", Value: hashedNS}, {Key: "middle", Value: key(canaryHash64)}},
		{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "near"}},
		{{Key: "updateZoneKeyRange", Value: hiddenNS}, {Key: "min", Value: key(string(canaryEdge))},
			{Key: "max", Value: key(string(canaryEdge) + "~")}, {Key: "zone", Value: "near"}},
	} {
		d.admin(t, cmd)
	}
	w.app = d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Actions: true, HideBounds: true,
		Watcher: topology.Options{Routing: 100 * time.Millisecond, Slow: 100 * time.Millisecond, Statistics: time.Second,
			StatisticsPerSecond: 100},
		Auth: Auth{Mode: "proxy", ProxyHeader: "X-Canary-User", ProxyRoleHeader: "X-Canary-Role", ProxyCIDRs: []string{"127.0.0.1"}}})
	w.waitForTable("the table", func(t *topology.Table) bool {
		return t.Collection(hiddenNS) != nil && t.Collection(hiddenNS).Chunks.Len() == 3
	})
	w.waitForAnswer("/api/v1/history?limit=1", `"begin":"`) // wait until history has recorded the state
	w.before = time.Now()
	w.findChunks()
	w.makeRuns()
	w.waitForAnswer("/api/v1/history/compare?from="+strconv.FormatInt(w.before.UnixMilli(), 10), `"split":1`)
	return w
}

// waitForAnswer waits until the answer of an address to an operator contains a text.
func (w *hiddenValues) waitForAnswer(target, text string) {
	w.Helper()
	answer := ""
	must.That(w, eventually(settledWithin, func() bool {
		answer = string(w.request("operator", "GET", target, "application/json", ""))
		return strings.Contains(answer, text)
	}), "%s lacks %q: %.500s", target, text, answer)
}

func (w *hiddenValues) waitForTable(what string, is func(*topology.Table) bool) {
	w.Helper()
	(&demo{app: w.app}).waitForTable(w.T, what, is)
}

// findChunks finds the references of chunks that addresses need.
func (w *hiddenValues) findChunks() {
	w.Helper()
	for ns, ref := range map[string]*string{hiddenNS: &w.chunk, hashedNS: &w.hash} {
		var list struct{ Items []struct{ Ref string } }
		w.decode(w.request("operator", "GET", "/api/v1/collections/"+ns+"/chunks", "application/json", ""), &list)
		must.That(w, len(list.Items) >= 2, "%s has %d chunks", ns, len(list.Items))
		*ref = list.Items[len(list.Items)-1].Ref
	}
}

// makeRuns starts a run that the cluster refuses with a text and one that splits a
// chunk, and makes a move by another client fail.
func (w *hiddenValues) makeRuns() {
	w.Helper()
	refusal := &simcluster.ServerError{Code: 96, Name: "OperationFailed",
		Message: "moving of chunk [{ k: \"x\" }) failed on " + string(canaryText)}
	for _, command := range []string{"moveChunk", "moveRange"} {
		w.d.sim.Faults().Add(simcluster.Rule{Command: command, At: simcluster.Received, Err: refusal, Times: -1})
	}
	w.plan, w.run = w.planAndRun("move", `"chunk":"`+w.chunk+`","to":"shard-rs-2"`, "failed")
	_, w.split = w.planAndRun("split", `"at":{"k":"`+string(canaryBound)+`-more"}`, "succeeded")
	w.makePlans()
	event := bson.D{{Key: "_id", Value: "canary-event"}, {Key: "server", Value: "s"}, {Key: "shard", Value: "shard-rs-1"},
		{Key: "time", Value: bson.NewDateTimeFromTime(time.Now())}, {Key: "what", Value: "moveChunk.error"}, {Key: "ns", Value: hiddenNS},
		{Key: "details", Value: bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: string(canaryBound)}}},
			{Key: "max", Value: bson.D{{Key: "k", Value: bson.MaxKey{}}}}, {Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: "shard-rs-2"},
			{Key: "errmsg", Value: "ConflictingOperationInProgress: see " + string(canaryText)}}}}
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	must.Do(w, must.Err(w.d.driver.Database("config").Collection("changelog").InsertOne(ctx, event)))
	w.waitForTable("the entry of the changelog", func(t *topology.Table) bool {
		return slices.ContainsFunc(t.Events, func(e topology.Event) bool { return e.ID == "canary-event" })
	})
}

// makePlans makes plans of other kinds with canaries as arguments and does not run them.
func (w *hiddenValues) makePlans() {
	w.Helper()
	bound, edge := `{"k":"`+string(canaryBound)+`"}`, `{"k":"`+string(canaryEdge)+`"}`
	for kind, args := range map[string]string{
		"split":             `"chunk":"` + w.chunk + `","parts":2`,
		"merge":             `"bounds":[` + bound + `,{"k":{"$maxKey":1}}]`,
		"zone-set-range":    `"zone":"near","min":` + bound + `,"max":{"k":"` + string(canaryBound) + `~"}`,
		"zone-remove-range": `"zone":"near","min":` + edge + `,"max":{"k":"` + string(canaryEdge) + `~"}`,
		"split-hot":         `"chunk":"` + w.chunk + `","at":{"k":{"$oid":"ffffffffffffffffffffffff"}},"to":"shard-rs-2"`,
		"clear-jumbo":       `"chunk":"` + w.chunk + `"`,
	} {
		w.plans = append(w.plans, w.makePlan(kind, args).ID)
	}
}

// makePlan makes a plan for the collection whose bounds are canaries.
func (w *hiddenValues) makePlan(kind, args string) (p api.Plan) {
	w.Helper()
	body := `{"kind":"` + kind + `","args":{"ns":"` + hiddenNS + `",` + args + `},"reason":"a test"}`
	answer := w.request("operator", "POST", "/api/v1/plans", "application/json", body)
	w.decode(answer, &p)
	must.That(w, p.ID != "", "%s: unexpected answer: %s", kind, answer)
	return p
}

// planAndRun makes a plan, runs it and waits until the run has ended.
func (w *hiddenValues) planAndRun(kind, args, state string) (plan, run string) {
	w.Helper()
	p := w.makePlan(kind, args)
	body, _ := json.Marshal(api.PlanRun{Hash: p.Hash, Confirm: p.Confirm}) // of strings
	var r api.Run
	w.decode(w.request("operator", "POST", "/api/v1/plans/"+p.ID+"/run", "application/json", string(body)), &r)
	must.That(w, eventually(settledWithin, func() bool {
		w.decode(w.request("operator", "GET", "/api/v1/runs/"+r.ID, "application/json", ""), &r)
		return !r.Open
	}) && r.State == state, "the run of %s is %s: %+v", kind, r.State, r)
	return p.ID, r.ID
}

func (w *hiddenValues) decode(body []byte, into any) {
	w.Helper()
	err := json.Unmarshal(body, into)
	must.That(w, err == nil, "%v in %.300s", err, body)
}

// request sends a request with a role and returns the body of the answer and the target
// of a redirect.
func (w *hiddenValues) request(role, method, target, accept, body string) []byte {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, strings.TrimSuffix(w.app.URL(), "/")+target, strings.NewReader(body))
	must.Do(w, err)
	r.Header.Set("X-Canary-User", role)
	r.Header.Set("X-Canary-Role", role)
	r.Header.Set("Accept", accept)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(r) // no redirect is followed
	must.Do(w, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must.Do(w, err)
	if to := res.Header.Get("Location"); res.StatusCode/100 == 3 {
		text = append(text, " Location: "+to...)
	}
	return text
}
