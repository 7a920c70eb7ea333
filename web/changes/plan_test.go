package changes_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

const splitAtFive = `{"kind":"split","args":{"ns":"app.users","at":{"p":5}},"reason":"hot"}`

func TestBadPlansAreRefusedWithWhatAndWhyAndNothingIsSent(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		c.Admin(bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "eu"}})
		c.Admin(bson.D{{Key: "updateZoneKeyRange", Value: "app.users"},
			{Key: "min", Value: bson.D{{Key: "p", Value: 0}}}, {Key: "max", Value: bson.D{{Key: "p", Value: 10}}},
			{Key: "zone", Value: "eu"}})
		_, err := c.Watcher.Load(c.Context())
		c.Must(err)
		for name, x := range map[string]struct {
			status     int
			body, says string
		}{
			"unknown collection": {404, `{"kind":"split","args":{"ns":"app.none","at":{"p":5}},"reason":"r"}`, `"ns"`},
			"no document":        {400, `{"kind":"split","args":{"ns":"app.users","at":5},"reason":"r"}`, `"at"`},
			"unknown argument":   {400, `{"kind":"split","args":{"ns":"app.users","att":{"p":5}},"reason":"r"}`, `att`},
			"unknown kind":       {400, `{"kind":"explode","args":{},"reason":"r"}`, `explode`},
			"no reason":          {400, `{"kind":"split","args":{"ns":"app.users","at":{"p":5}}}`, `reason`},
			"blank reason":       {400, `{"kind":"split","args":{"ns":"app.users","at":{"p":5}},"reason":" \t"}`, `reason`},
			"no JSON":            {400, `{"kind":`, ``},
		} {
			// As many people as cases: nobody meets a limit.
			c.Problem(c.Post(strings.ReplaceAll(name, " ", "-"), "/api/v1/plans", x.body), x.status, x.says)
		}
		// A range that meets another one is a plan, so that it can be looked at, and
		// cannot be run.
		p := c.Plan("anna", `{"kind":"zone-set-range","args":{"ns":"app.users","zone":"us","min":{"p":5},"max":{"p":15}},"reason":"r"}`)
		expect.That(c, p.Blocked, "an overlap is not blocked: %+v", p.Checks)
		refused := c.Problem(c.Post("anna", "/api/v1/plans/"+p.ID+"/run", `{"hash":"`+p.Hash+`"}`), 422, "check")
		expect.That(c, len(refused.Checks) != 0 && refused.Checks[0].Verdict == "block" && refused.Checks[0].Text.String() != "",
			"which check blocks is not said: %+v", refused)
		expect.Equal(c, c.Sent(), 0, "commands were sent")
	})
}

func TestOutdatedPlanTellsWhatChangedAndSendsNothing(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		p := c.Plan("anna", splitAtFive)
		run := "/api/v1/plans/" + p.ID + "/run"
		c.Problem(c.Post("anna", run, `{"hash":"`+strings.Repeat("0", 64)+`"}`), 409, "hash")
		c.Problem(c.Post("anna", run, `{"hash":"`+p.Hash+`","confirm":"something"}`), 400, "confirmation")
		c.Problem(c.Post("bert", run, `{"hash":"`+p.Hash+`"}`), 409, "somebody else")
		c.Problem(c.Post("anna", "/api/v1/plans/"+webtest.RecordID("none")+"/run", `{"hash":"`+p.Hash+`"}`), 404, "")
		c.Problem(c.Post("anna", "/api/v1/plans/x/run", `{"hash":"`+p.Hash+`"}`), 404, "")
		// Somebody moves the chunk.
		c.Admin(bson.D{{Key: "moveChunk", Value: "app.users"}, {Key: "find", Value: bson.D{{Key: "p", Value: 5}}},
			{Key: "to", Value: "shard-rs-2"}})
		changed := c.Problem(c.Post("anna", run, `{"hash":"`+p.Hash+`"}`), 409, "")
		expect.That(c, len(changed.Changed) != 0 && changed.Changed[0].Field != "" && changed.Changed[0].Want != changed.Changed[0].Got &&
			changed.Changed[0].Text.String() != "", "what changed is not said: %+v", changed)
		w := c.Do("POST", "/plans/"+p.ID+"/run", webtest.As("anna", auth.Operator), webtest.Form("hash", p.Hash))
		text := webtest.ParseHTML(c.T, w.Body.String()).Find("[role=alert]").Text()
		expect.That(c, w.Code == 409 && strings.Contains(text, "shard-rs-2"), "the page does not say what changed: %d %s", w.Code, text)
		// And one that waited too long.
		late := c.Plan("anna", `{"kind":"split","args":{"ns":"app.users","at":{"p":15}},"reason":"r"}`)
		time.Sleep(engine.Expiry)
		c.Problem(c.Post("anna", "/api/v1/plans/"+late.ID+"/run", `{"hash":"`+late.Hash+`"}`), 409, "expired")
		expect.Equal(c, c.Sent(), 0, "commands were sent")
	})
}

func TestAPlanRunsOnceIsProvenAndUndone(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		p := c.Plan("anna", splitAtFive)
		run := "/api/v1/plans/" + p.ID + "/run"
		first := c.Post("anna", run, `{"hash":"`+p.Hash+`","confirm":null}`)
		again := c.Post("anna", run, `{"hash":"`+p.Hash+`","confirm":""}`)
		var a, b api.Run
		c.Must(json.Unmarshal(first.Body.Bytes(), &a))
		c.Must(json.Unmarshal(again.Body.Bytes(), &b))
		must.That(c, first.Code == http.StatusAccepted && again.Code == http.StatusOK && a.ID != "" && a.ID == b.ID,
			"%d %s, %d %s", first.Code, first.Body, again.Code, again.Body)
		c.Problem(c.Post("bert", run, `{"hash":"`+p.Hash+`"}`), 409, "")
		r := c.Ended(a.ID)
		must.That(c, r.State == "succeeded" && len(r.Steps) == 1 && len(r.Steps[0].Proof) != 0 && c.Sent() == 1, "%d sent, %+v", c.Sent(), r)
		page := c.Page(c.T, "/runs/"+a.ID, webtest.As("vera", auth.Viewer))
		expect.That(c, page.Find("form[action$='/undo'], form[action$='/stop']").Length() == 0 &&
			strings.Contains(page.Find("#live-run").Text(), "as expected"), "a viewer's page of the run: %s", page.Find("main").Text())
		// Undone by the page's forms.
		w := c.Do("POST", "/runs/"+a.ID+"/undo", webtest.As("bert", auth.Operator), webtest.Form("reason", "not needed"))
		to := w.Header().Get("Location")
		must.That(c, w.Code == http.StatusSeeOther && strings.HasPrefix(to, "/plans/"), "undo: %d %s", w.Code, w.Body)
		form := c.Page(c.T, to, webtest.As("bert", auth.Operator)).Find("form[action='" + to + "/run']")
		hash, _ := form.Find("input[name=hash]").Attr("value")
		w = c.Do("POST", to+"/run", webtest.As("bert", auth.Operator), webtest.Form("hash", hash))
		must.That(c, w.Code == http.StatusSeeOther,
			"run of the undo: %d %s", w.Code, webtest.ParseHTML(c.T, w.Body.String()).Find("main").Text())
		c.Ended(strings.TrimPrefix(w.Header().Get("Location"), "/runs/"))
		c.Problem(c.Post("bert", "/api/v1/runs/"+a.ID+"/undo", `{}`), 409, "already been undone")
		expect.Equal(c, c.Post("bert", "/api/v1/runs/"+a.ID+"/stop", "").Code, http.StatusOK, "stopping a run that has ended")
		r = c.Ended(a.ID)
		expect.That(c, r.State == "undone" && c.Sent() == 2, "%s after %d commands", r.State, c.Sent())
		list := webtest.Decode[api.List[api.Run]](c.T, c.Do("GET", "/api/v1/runs", webtest.As("vera", auth.Viewer)))
		expect.Equal(c, len(list.Items), 2, "runs")
	})
}

func TestPlanFormsLeadToPlansAndKeepWhatWasTyped(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		chunk := c.Watcher.Table().Collection("app.users")
		ref := answer.ChunkRef(chunk, chunk.Chunks.At(1).Min)
		w := c.Do("POST", "/plans", webtest.As("anna", auth.Operator),
			webtest.Form("kind", "move", "ns", "app.users", "chunk", ref, "to", "", "min", `{"p": 1`, "reason", "r <b>"))
		page := webtest.ParseHTML(c.T, w.Body.String())
		got, _ := page.Find("#arg-min").Attr("value")
		expect.That(c, w.Code == 400 && got == `{"p": 1` &&
			strings.Contains(page.Find("[role=alert]").Text(), `"min"`), "%d: %q %s", w.Code, got, page.Find("[role=alert]").Text())
		got, _ = page.Find("#reason").Attr("value")
		expect.Equal(c, got, "r <b>", "the reason")
		w = c.Do("POST", "/plans", webtest.As("anna", auth.Operator),
			webtest.Form("kind", "move", "ns", "app.users", "chunk", ref, "to", "shard-rs-2", "reason", "r"))
		must.That(c, w.Code == http.StatusSeeOther && strings.HasPrefix(w.Header().Get("Location"), "/plans/"), "%d %s", w.Code, w.Body)
		page = c.Page(c.T, w.Header().Get("Location"), webtest.As("anna", auth.Operator))
		expect.That(c, page.Find("pre code").Length() != 0 && page.Find("button.main:not([disabled])").Length() == 1,
			"the plan: %s", page.Find("main").Text())
		expect.Equal(c, c.Sent(), 0, "commands were sent by planning")
	})
}

func TestPlanPageBeginsWithWhatHappensAndWhatStays(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		p := c.Plan("anna", splitAtFive)
		page := c.Do("GET", "/plans/"+p.ID, webtest.As("anna", auth.Operator)).Body.String()
		at := -1
		for _, part := range []string{"<h1", "What happens</h2>", "Takes about", "Checks", "Undo</h2>", "<details class=\"commandlist\"",
			"db.getSiblingDB", "<section class=\"confirm\""} {
			i := strings.Index(page, part)
			expect.That(t, i > at, "%q is at %d, not after %d", part, i, at)
			at = i
		}
		title := webtest.ParseHTML(t, page).Find("h1").Text()
		expect.Equal(t, title, "Split the chunk 0 → 10 of app.users on shard-rs-1 at 5", "the title is not the summary with short keys")
	})
}

func TestARunSaysWhatItWaitsForAdaptsToAndLeavesBehind(t *testing.T) {
	s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}),
		webtest.WithActions(webtest.CannedActions()))
	for name, want := range map[string]struct {
		page  []string
		check func(api.Run) bool
		acts  string // the form that is first among the ways on; "" for none but stop
	}{
		"waiting": {[]string{"The move of a chunk of config.system.sessions from shard-rs-1 to shard-rs-2", "gives up at",
			"Try 2."}, func(r api.Run) bool {
			last := r.Steps[len(r.Steps)-1]
			return last.Waiting != nil && last.Waiting.Obstacle == "migration" && last.Try == 2 && r.Steps[len(r.Steps)-2].State == "deferred" &&
				strings.Contains(r.Why, "config.system.sessions")
		}, ""},
		"gaveup": {[]string{"Current state", "zone ranges set", "splits", "Gave up after 9 tries",
			"still has to delete its documents"}, func(r api.Run) bool {
			return r.CanFinish && r.CanUndo && r.Standing.Splits > 0 && r.Standing.ZoneRangesSet > 0 &&
				strings.Contains(r.Standing.Text, "by this run")
		}, "finish"},
		"adapted": {[]string{"The steps were adjusted at", "5 steps left, 4 steps before", "the balancer had already made this change"},
			func(r api.Run) bool {
				return len(r.Adaptations) == 1 && len(r.Adaptations[0].Because) > 0 && r.Steps[len(r.Steps)-2].Already == "balancer"
			}, ""},
		"queued": {[]string{"Waiting for yorkie-meta.documents", "The run in the way"}, func(r api.Run) bool {
			return r.BlockedBy == webtest.RecordID("waiting")
		}, ""},
		"restoring": {[]string{"Balancing is being turned on again", "Current state"}, func(r api.Run) bool {
			return r.Standing.Paused
		}, ""},
	} {
		doc := s.Page(t, "/runs/"+webtest.RecordID(name))
		text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
		expect.ContainsAll(t, text, want.page, "%s: the page", name)
		if n := doc.Find("ol.commands > li").Length(); name == "waiting" && n != len(webtest.CannedActions().PlanList[2].Steps) {
			t.Errorf("%d steps are listed: tries of one step are one line", n)
		}
		form := doc.Find("form.blocker[action$='" + webtest.RecordID("waiting") + "/stop']")
		expect.Equal(t, form.Length() == 1, name == "queued", "%s: stopping the run in the way is offered %d times", name, form.Length())
		next := doc.Find("time[data-next]")
		expect.Equal(t, next.Length() == 1, name == "waiting", "%s: %d times are counted down to", name, next.Length())
		form = doc.Find(".runacts form.finish")
		expect.That(t, form.Length() == 1 && (want.acts != "finish" || doc.Find("#live-run").HasClass("can-finish")),
			"%s: no way to finish the rest", name)
		var run api.Run
		err := json.Unmarshal(s.Do("GET", api.Prefix+"/runs/"+webtest.RecordID(name)).Body.Bytes(), &run)
		expect.That(t, err == nil && want.check(run), "%s: %v %+v", name, err, run)
	}
}

func TestUnfinishedRunCanBePlannedToItsEnd(t *testing.T) {
	canned := webtest.CannedActions()
	s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}), webtest.WithActions(canned))
	w := s.Do("POST", "/runs/"+webtest.RecordID("gaveup")+"/finish")
	expect.That(t, w.Code == http.StatusSeeOther && w.Header().Get("Location") == "/plans/"+canned.PlanList[0].ID,
		"%d to %q", w.Code, w.Header().Get("Location"))
	w = s.Do("POST", api.Prefix+"/runs/"+webtest.RecordID("gaveup")+"/finish")
	var plan api.Plan
	err := json.Unmarshal(w.Body.Bytes(), &plan)
	expect.That(t, err == nil && w.Code == http.StatusCreated && plan.Limits.Collections != nil, "%d %v %s", w.Code, err, w.Body)
	w = s.Do("POST", api.Prefix+"/runs/nosuchrun/finish")
	expect.Equal(t, w.Code, http.StatusNotFound, "status")
	viewer := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Vera}),
		webtest.WithActions(webtest.CannedActions()))
	w = viewer.Do("POST", api.Prefix+"/runs/"+webtest.RecordID("gaveup")+"/finish")
	expect.Equal(t, w.Code, http.StatusForbidden, "a viewer")
}

func TestAPlanShowsItsLimits(t *testing.T) {
	s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}),
		webtest.WithActions(webtest.CannedActions()))
	text := s.Page(t, "/plans/"+webtest.RecordID("pin")).Find("main").Text()
	expect.ContainsAll(t, text, []string{"Limits", "Shards that may receive chunks", "Most moves"}, "the page")
	var plan api.Plan
	err := json.Unmarshal(s.Do("GET", api.Prefix+"/plans/"+webtest.RecordID("pin")).Body.Bytes(), &plan)
	expect.That(t, err == nil && len(plan.Limits.Collections) != 0 && plan.Limits.Chunks != 0 && plan.Limits.Project != "",
		"%v %+v", err, plan.Limits)
	form := s.Page(t, answer.PlanURL(actions.Pin))
	expect.Equal(t, form.Find("select[name=pause] option").Length(), 3, "the form does not offer to pause balancing")
}
