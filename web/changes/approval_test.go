package changes_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// signedIn are two operators with real sessions and tokens on a server whose splits need approval.
type signedIn struct {
	*testing.T
	door       *webtest.AccountServer
	anna, bert []func(*http.Request) // a session and two tokens of each
}

func onApprovalServer(t *testing.T, test func(c *webtest.SimulatedServer, s signedIn)) {
	t.Helper()
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		s := signedIn{T: c.T, door: webtest.NewAccountServer(c.T, webtest.WithActions(c.Engine), func(d *site.Deps) {
			d.Now, d.Cluster.Watcher, d.Cluster.Keeper = time.Now, c.Watcher, c.Keeper
		})}
		root := auth.Principal{ID: "user:root", Name: "root", Role: auth.Admin, Method: auth.ByPassword}
		for name, list := range map[string]*[]func(*http.Request){"anna": &s.anna, "bert": &s.bert} {
			_, err := s.door.Service.CreateUser(c.Context(), root, auth.NewUser{Name: name, Password: webtest.GoodPassword, Role: auth.Operator})
			c.Must(err)
			s.door.SignIn(name)
			*list = append(*list, s.door.With(name))
			for _, token := range []string{"ci", "cron"} {
				secret, _, err := s.door.Service.CreateToken(c.Context(), s.door.Principal(name),
					auth.NewToken{Name: token, Role: auth.Operator, Expires: s.door.Now().Add(24 * time.Hour)})
				c.Must(err)
				*list = append(*list, webtest.Bearer(secret))
			}
		}
		test(c, s)
	}, func(o *engine.Options) { o.Approval.Rules.Kinds = []actions.Kind{actions.Split} })
}

func (s signedIn) post(who func(*http.Request), path, body string) *httptest.ResponseRecorder {
	time.Sleep(time.Second) // nobody meets the limit of requests
	return s.door.Ask(s.door.Handler(), "POST", "/api/v1"+path, who, webtest.Body(body), webtest.Header("Content-Type", "application/json"))
}

func (s signedIn) plan(who func(*http.Request)) (p api.Plan) {
	s.Helper()
	w := s.post(who, "/plans", splitAtFive)
	must.That(s, json.Unmarshal(w.Body.Bytes(), &p) == nil && w.Code == http.StatusCreated, "%d %s", w.Code, w.Body)
	must.That(s, p.Approval.Needed && p.Approval.State == "asked" && len(p.Approval.Because) == 1, "%+v", p.Approval)
	return p
}

func hashOf(p api.Plan) string { return `{"hash":"` + p.Hash + `"}` }

func TestPageOfAPlanLeadsThroughItsApproval(t *testing.T) {
	onApprovalServer(t, func(c *webtest.SimulatedServer, s signedIn) {
		p := s.plan(s.anna[0])
		get := func(who func(*http.Request), path string) string {
			return s.door.Ask(s.door.Handler(), "GET", path, who).Body.String()
		}
		approve := `action="/plans/` + p.ID + `/approve"`
		if page := get(s.anna[0], "/plans/"+p.ID); strings.Contains(page, approve) || !strings.Contains(page, "Waits for the approval") {
			s.Error("the maker is offered to approve, or not told that the plan waits")
		}
		page := get(s.bert[0], "/plans/"+p.ID)
		expect.That(s, strings.Contains(page, approve) &&
			!strings.Contains(page, "Make your own plan") && !strings.Contains(page, "Plan again") &&
			strings.Contains(page, "anna, who made it, can run it"), "the other is not offered to approve, or offered something else")
		page = get(s.bert[0], "/runs")
		expect.ContainsAll(s, page, []string{`id="waiting"`, "waiting for your approval"}, "the plan is in no list of those that wait")
		expect.Lacks(s, get(s.anna[0], "/runs"), "waiting for your approval", "the page of the maker")
		form := func(who func(*http.Request), what string, pairs ...string) int {
			return s.door.Ask(s.door.Handler(), "POST", "/plans/"+p.ID+"/"+what, who, webtest.Form(pairs...)).Code
		}
		for _, who := range s.anna { // a session and tokens are one person
			w := s.post(who, "/plans/"+p.ID+"/approve", hashOf(p))
			expect.That(s, w.Code == http.StatusForbidden, "approved by its maker: %d %s", w.Code, w.Body)
		}
		expect.Equal(s, form(s.anna[0], "approve", "hash", p.Hash), http.StatusForbidden, "approved by its maker")
		expect.Equal(s, form(s.bert[0], "approve", "hash", p.Hash), http.StatusSeeOther, "approve")
		expect.Contains(s, get(s.anna[0], "/plans/"+p.ID), "Approved by bert", "the page")
		expect.Equal(s, form(s.bert[0], "refuse", "reason", "wrong day"), http.StatusSeeOther, "take back")
		expect.Contains(s, get(s.anna[0], "/plans/"+p.ID), "wrong day", "the page of a refused plan")
		expect.Equal(s, form(s.anna[0], "run", "hash", p.Hash), http.StatusConflict, "run")
		again := s.plan(s.anna[1])
		w := s.post(s.bert[1], "/plans/"+again.ID+"/approve", hashOf(again))
		must.That(s, w.Code == http.StatusOK, "%d %s", w.Code, w.Body)
		w = s.post(s.anna[1], "/plans/"+again.ID+"/run", hashOf(again))
		expect.That(s, w.Code == http.StatusAccepted, "%d %s", w.Code, w.Body)
		w = s.post(s.anna[1], "/plans/"+again.ID+"/run", hashOf(again))
		expect.That(s, w.Code == http.StatusOK, "a second run: %d %s", w.Code, w.Body)
		time.Sleep(time.Minute)
		expect.Equal(s, c.Sent(), 1, "commands sent")
	})
}

func TestPlansThatWaitForApprovalAreListed(t *testing.T) {
	onApprovalServer(t, func(c *webtest.SimulatedServer, s signedIn) {
		p := s.plan(s.anna[0])
		ask := func(who func(*http.Request), accept string) *httptest.ResponseRecorder {
			time.Sleep(time.Second)
			return s.door.Ask(s.door.Handler(), "GET", "/api/v1/approvals", who, webtest.Header("Accept", accept))
		}
		list := func(who func(*http.Request)) (out api.List[api.WaitingPlan]) {
			w := ask(who, "application/json")
			must.That(s, json.Unmarshal(w.Body.Bytes(), &out) == nil && w.Code == http.StatusOK, "%d %s", w.Code, w.Body)
			return out
		}
		for _, who := range s.bert {
			got := list(who).Items
			if len(got) != 1 || !got[0].ForYou || got[0].ID != p.ID || got[0].Summary != p.Summary.String() || got[0].ByName != "anna" ||
				!got[0].ExpiresAt.Equal(*p.ExpiresAt) || got[0].Reason != p.Reason {
				s.Errorf("for bert: %+v", got)
			}
		}
		got := list(s.anna[0]).Items
		expect.That(s, len(got) == 1 && !got[0].ForYou, "for who made it: %+v", got)
		w := ask(s.bert[0], "text/csv")
		expect.That(s, strings.Contains(w.Body.String(), p.ID) && strings.HasPrefix(w.Body.String(), "id,"), "as CSV: %s", w.Body)
		w = s.post(s.bert[0], "/plans/"+p.ID+"/approve", hashOf(p))
		must.That(s, w.Code == http.StatusOK, "%d %s", w.Code, w.Body)
		expect.Len(s, list(s.bert[0]).Items, 0, "an approved plan waits")
	})
}
