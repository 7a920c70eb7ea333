package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// changer is a site over the real engine, the real driver and a simulated
// cluster with app.users: key {p: 1}, chunks at 0, 10 and 20, all on shard-rs-1.
type changer struct {
	*testSite
	*testing.T
	sim     *simcluster.Cluster
	watcher *topology.Watcher
}

// onChanger runs a test in a bubble of simulated time.
func onChanger(t *testing.T, test func(c *changer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &changer{T: t}
		var err error
		c.sim, err = simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true})
		c.must(err)
		defer func() { _ = c.sim.Close() }()
		c.sim.Start(t.Context())
		c.admin(bson.D{{Key: "enableSharding", Value: "app"}, {Key: "primaryShard", Value: "shard-rs-1"}})
		c.admin(bson.D{{Key: "shardCollection", Value: "app.users"}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
		for _, at := range []int{0, 10, 20} {
			c.admin(bson.D{{Key: "split", Value: "app.users"}, {Key: "middle", Value: bson.D{{Key: "p", Value: at}}}})
		}
		uri, err := cluster.ParseURI(simcluster.URI())
		c.must(err)
		client, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: c.sim})
		c.must(err)
		defer func() { _ = client.Close(context.Background()) }()
		db, err := sqlite.Open(t.Context(), t.TempDir())
		c.must(err)
		defer func() { _ = db.Close() }()
		c.watcher = topology.NewWatcher(client, topology.Options{})
		_, err = c.watcher.Load(t.Context())
		c.must(err)
		keeper := placement.NewKeeper(client, c.watcher, profile.Yorkie(), nil)
		e := engine.New(engine.Options{Admin: client, Renderer: client, Reader: client, Planners: actions.Planners(), Journal: db, Audit: db,
			Tables: c.watcher, Directory: keeper, Profile: profile.Yorkie()})
		ctx, end := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		defer func() {
			end()
			c.must(<-served)
		}()
		c.testSite = newSite(t, withClaims, withActions(e), func(d *site.Deps) { d.Now, d.Watcher, d.Keeper = time.Now, c.watcher, keeper })
		test(c)
	})
}

func (c *changer) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// admin is somebody else's command, past the wire.
func (c *changer) admin(cmd bson.D) {
	c.Helper()
	_, err := c.sim.Command(context.Background(), "admin", cmd)
	c.must(err)
}

// sent counts the commands that change the cluster and came over the wire.
func (c *changer) sent() int { return len(c.sim.Faults().Seen()) }

// post asks the API as somebody.
func (c *changer) post(who, path, text string) *httptest.ResponseRecorder {
	return c.do("POST", path, as(who, auth.Operator), body(text), header("Content-Type", "application/json"))
}

func (c *changer) Plan(who, text string) api.Plan {
	c.Helper()
	w := c.post(who, "/api/v1/plans", text)
	var p api.Plan
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusCreated {
		c.Fatalf("plan: %d %s", w.Code, w.Body)
	}
	return p
}

// problem is the answer to a request that must be refused.
func (c *changer) Problem(w *httptest.ResponseRecorder, status int, says string) api.Problem {
	c.Helper()
	var p api.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != api.ProblemType {
		c.Fatalf("no problem: %d %s", w.Code, w.Body)
	}
	if w.Code != status || p.Status != status || !strings.Contains(p.Detail, says) {
		c.Errorf("%d %q, want %d with %q", w.Code, p.Detail, status, says) // the sentence names the case
	}
	return p
}

// ended waits for a run by the API alone.
func (c *changer) ended(id string) api.Run {
	c.Helper()
	for range 600 {
		r := decode[api.Run](c.T, c.do("GET", "/api/v1/runs/"+id, as("anna", auth.Viewer)))
		if !r.Open {
			return r
		}
		time.Sleep(time.Second)
	}
	c.Fatal("the run does not end")
	return api.Run{}
}

const splitAtFive = `{"kind":"split","args":{"ns":"app.users","at":{"p":5}},"reason":"hot"}`

func TestBadPlansAreRefusedWithWhatAndWhyAndNothingIsSent(t *testing.T) {
	onChanger(t, func(c *changer) {
		c.admin(bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "eu"}})
		c.admin(
			bson.D{
				{Key: "updateZoneKeyRange", Value: "app.users"},
				{Key: "min", Value: bson.D{{Key: "p", Value: 0}}},
				{Key: "max", Value: bson.D{{Key: "p", Value: 10}}},
				{Key: "zone", Value: "eu"},
			},
		)
		_, err := c.watcher.Load(c.Context())
		c.must(err)
		for name, x := range map[string]struct {
			status     int
			body, says string
		}{
			"unknown collection": {404, `{"kind":"split","args":{"ns":"app.none","at":{"p":5}},"reason":"r"}`, `"ns"`},
			"unknown chunk":      {404, `{"kind":"move","args":{"ns":"app.users","bounds":[{"p":3},{"p":4}],"to":"shard-rs-2"},"reason":"r"}`, `"bounds" is not a chunk`},
			"no chunk reference": {400, `{"kind":"move","args":{"ns":"app.users","chunk":"!!","to":"shard-rs-2"},"reason":"r"}`, `"chunk"`},
			"bounds of no merge": {404, `{"kind":"merge","args":{"ns":"app.users","bounds":[{"p":1},{"p":20}]},"reason":"r"}`, `"bounds"`},
			"reversed bounds":    {400, `{"kind":"merge","args":{"ns":"app.users","bounds":[{"p":20},{"p":0}]},"reason":"r"}`, `ends before it begins`},
			"another field":      {400, `{"kind":"split","args":{"ns":"app.users","at":{"q":5}},"reason":"r"}`, `"at"`},
			"no document":        {400, `{"kind":"split","args":{"ns":"app.users","at":5},"reason":"r"}`, `"at"`},
			"no key of a type":   {400, `{"kind":"split","args":{"ns":"app.users","at":{"p":[1,2]}},"reason":"r"}`, `"at"`},
			"unknown shard":      {404, `{"kind":"move","args":{"ns":"app.users","bounds":[{"p":0},{"p":10}],"to":"shard-rs-9"},"reason":"r"}`, `shard-rs-9`},
			"unknown argument":   {400, `{"kind":"split","args":{"ns":"app.users","att":{"p":5}},"reason":"r"}`, `att`},
			"another's argument": {400, `{"kind":"split","args":{"ns":"app.users","at":{"p":5},"to":"shard-rs-2"},"reason":"r"}`, `"to"`},
			"unknown kind":       {400, `{"kind":"explode","args":{},"reason":"r"}`, `explode`},
			"no reason":          {400, `{"kind":"split","args":{"ns":"app.users","at":{"p":5}}}`, `reason`},
			"blank reason":       {400, `{"kind":"split","args":{"ns":"app.users","at":{"p":5}},"reason":" \t"}`, `reason`},
			"unknown project":    {404, `{"kind":"pin","args":{"project":"nobody","shard":"shard-rs-1"},"reason":"r"}`, `project`},
			"no JSON":            {400, `{"kind":`, ``},
		} {
			// As many people as cases: nobody meets a limit.
			c.Problem(c.post(strings.ReplaceAll(name, " ", "-"), "/api/v1/plans", x.body), x.status, x.says)
		}
		// A range that meets another one is a plan, so that it can be looked at, and
		// cannot be run.
		p := c.Plan("anna", `{"kind":"zone-set-range","args":{"ns":"app.users","zone":"us","min":{"p":5},"max":{"p":15}},"reason":"r"}`)
		if !p.Blocked {
			c.Errorf("an overlap is not blocked: %+v", p.Checks)
		}
		refused := c.Problem(c.post("anna", "/api/v1/plans/"+p.ID+"/run", `{"hash":"`+p.Hash+`"}`), 422, "check")
		if len(refused.Checks) == 0 || refused.Checks[0].Verdict != "block" || refused.Checks[0].Text == "" {
			c.Errorf("which check blocks is not said: %+v", refused)
		}
		if n := c.sent(); n != 0 {
			c.Errorf("%d commands were sent", n)
		}
	})
}

func TestAPlanThatDoesNotFitAnyMoreSaysWhatChangedAndSendsNothing(t *testing.T) {
	onChanger(t, func(c *changer) {
		p := c.Plan("anna", splitAtFive)
		run := "/api/v1/plans/" + p.ID + "/run"
		c.Problem(c.post("anna", run, `{"hash":"`+strings.Repeat("0", 64)+`"}`), 409, "hash")
		c.Problem(c.post("anna", run, `{"hash":"`+p.Hash+`","confirm":"something"}`), 400, "confirmation")
		c.Problem(c.post("bert", run, `{"hash":"`+p.Hash+`"}`), 409, "somebody else")
		c.Problem(c.post("anna", "/api/v1/plans/"+recordNamed("none")+"/run", `{"hash":"`+p.Hash+`"}`), 404, "")
		c.Problem(c.post("anna", "/api/v1/plans/x/run", `{"hash":"`+p.Hash+`"}`), 404, "")
		// Somebody moves the chunk.
		c.admin(
			bson.D{{Key: "moveChunk", Value: "app.users"}, {Key: "find", Value: bson.D{{Key: "p", Value: 5}}}, {Key: "to", Value: "shard-rs-2"}},
		)
		changed := c.Problem(c.post("anna", run, `{"hash":"`+p.Hash+`"}`), 409, "")
		if len(changed.Changed) == 0 || changed.Changed[0].Field == "" || changed.Changed[0].Want == changed.Changed[0].Got ||
			changed.Changed[0].Text == "" {
			c.Errorf("what changed is not said: %+v", changed)
		}
		w := c.do("POST", "/plans/"+p.ID+"/run", as("anna", auth.Operator), formOf("hash", p.Hash))
		if text := parse(c.T, w.Body.String()).Find("[role=alert]").Text(); w.Code != 409 || !strings.Contains(text, "shard-rs-2") {
			c.Errorf("the page does not say what changed: %d %s", w.Code, text)
		}
		// And one that waited too long.
		late := c.Plan("anna", `{"kind":"split","args":{"ns":"app.users","at":{"p":15}},"reason":"r"}`)
		time.Sleep(engine.Expiry)
		c.Problem(c.post("anna", "/api/v1/plans/"+late.ID+"/run", `{"hash":"`+late.Hash+`"}`), 409, "expired")
		if n := c.sent(); n != 0 {
			c.Errorf("%d commands were sent", n)
		}
	})
}

func TestAPlanRunsOnceIsProvenAndUndone(t *testing.T) {
	onChanger(t, func(c *changer) {
		p := c.Plan("anna", splitAtFive)
		run := "/api/v1/plans/" + p.ID + "/run"
		first := c.post("anna", run, `{"hash":"`+p.Hash+`","confirm":null}`)
		again := c.post("anna", run, `{"hash":"`+p.Hash+`","confirm":""}`)
		var a, b api.Run
		c.must(json.Unmarshal(first.Body.Bytes(), &a))
		c.must(json.Unmarshal(again.Body.Bytes(), &b))
		if first.Code != http.StatusAccepted || again.Code != http.StatusOK || a.ID == "" || a.ID != b.ID {
			c.Fatalf("%d %s, %d %s", first.Code, first.Body, again.Code, again.Body)
		}
		c.Problem(c.post("bert", run, `{"hash":"`+p.Hash+`"}`), 409, "")
		r := c.ended(a.ID)
		if r.State != "succeeded" || len(r.Steps) != 1 || len(r.Steps[0].Proof) == 0 || c.sent() != 1 {
			c.Fatalf("%d sent, %+v", c.sent(), r)
		}
		page := parse(c.T, c.do("GET", "/runs/"+a.ID, as("vera", auth.Viewer)).Body.String())
		if page.Find("form[action$='/undo'], form[action$='/stop']").Length() != 0 ||
			!strings.Contains(page.Find("#live-run").Text(), "as wanted") {
			c.Errorf("a viewer's page of the run: %s", page.Find("main").Text())
		}
		// Undone by the page's forms.
		w := c.do("POST", "/runs/"+a.ID+"/undo", as("bert", auth.Operator), formOf("reason", "not needed"))
		to := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/plans/") {
			c.Fatalf("undo: %d %s", w.Code, w.Body)
		}
		form := parse(c.T, c.do("GET", to, as("bert", auth.Operator)).Body.String()).Find("form[action='" + to + "/run']")
		hash, _ := form.Find("input[name=hash]").Attr("value")
		w = c.do("POST", to+"/run", as("bert", auth.Operator), formOf("hash", hash))
		if w.Code != http.StatusSeeOther {
			c.Fatalf("run of the undo: %d %s", w.Code, parse(c.T, w.Body.String()).Find("main").Text())
		}
		c.ended(strings.TrimPrefix(w.Header().Get("Location"), "/runs/"))
		if r := c.ended(a.ID); r.State != "undone" || c.sent() != 2 {
			c.Errorf("%s after %d commands", r.State, c.sent())
		}
		if list := decode[api.List[api.Run]](c.T, c.do("GET", "/api/v1/runs", as("vera", auth.Viewer))); len(list.Items) != 2 {
			c.Errorf("%d runs", len(list.Items))
		}
	})
}

func TestPlanFormsLeadToPlansAndKeepWhatWasTyped(t *testing.T) {
	onChanger(t, func(c *changer) {
		chunk := c.watcher.Table().Collection("app.users")
		ref := answer.ChunkRef(chunk, chunk.Chunks.At(1).Min)
		w := c.do(
			"POST",
			"/plans",
			as("anna", auth.Operator),
			formOf("kind", "move", "ns", "app.users", "chunk", ref, "to", "", "min", `{"p": 1`, "reason", "r <b>"),
		)
		page := parse(c.T, w.Body.String())
		if got, _ := page.Find("#arg-min").Attr("value"); w.Code != 400 || got != `{"p": 1` ||
			!strings.Contains(page.Find("[role=alert]").Text(), `"min"`) {
			c.Errorf("%d: %q %s", w.Code, got, page.Find("[role=alert]").Text())
		}
		if got, _ := page.Find("#reason").Attr("value"); got != "r <b>" {
			c.Errorf("the reason is %q", got)
		}
		w = c.do(
			"POST",
			"/plans",
			as("anna", auth.Operator),
			formOf("kind", "move", "ns", "app.users", "chunk", ref, "to", "shard-rs-2", "reason", "r"),
		)
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/plans/") {
			c.Fatalf("%d %s", w.Code, w.Body)
		}
		if page := parse(c.T, c.do("GET", w.Header().Get("Location"), as("anna", auth.Operator)).Body.String()); page.Find(
			"pre code",
		).Length() == 0 ||
			page.Find("button.main:not([disabled])").Length() != 1 {
			c.Errorf("the plan: %s", page.Find("main").Text())
		}
		if n := c.sent(); n != 0 {
			c.Errorf("%d commands were sent by planning", n)
		}
	})
}
