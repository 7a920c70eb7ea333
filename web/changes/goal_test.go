package changes_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

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
		w := s.Do("GET", "/runs/"+webtest.RecordID(name))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", name, w.Code)
		}
		doc := webtest.ParseHTML(t, w.Body.String())
		text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
		for _, part := range want.page {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the page lacks %q: %s", name, part, text[:min(len(text), 900)])
			}
		}
		if n := doc.Find("ol.commands > li").Length(); name == "waiting" && n != len(webtest.CannedActions().PlanList[2].Steps) {
			t.Errorf("%d steps are listed: tries of one step are one line", n)
		}
		if form := doc.Find("form.blocker[action$='" + webtest.RecordID("waiting") + "/stop']"); form.Length() == 1 != (name == "queued") {
			t.Errorf("%s: stopping the run in the way is offered %d times", name, form.Length())
		}
		if next := doc.Find("time[data-next]"); next.Length() == 1 != (name == "waiting") {
			t.Errorf("%s: %d times are counted down to", name, next.Length())
		}
		if form := doc.Find(".runacts form.finish"); form.Length() != 1 ||
			want.acts == "finish" && !doc.Find("#live-run").HasClass("can-finish") {
			t.Errorf("%s: no way to finish the rest", name)
		}
		var run api.Run
		if err := json.Unmarshal(s.Do("GET", api.Prefix+"/runs/"+webtest.RecordID(name)).Body.Bytes(), &run); err != nil || !want.check(run) {
			t.Errorf("%s: %v %+v", name, err, run)
		}
	}
}

func TestUnfinishedRunCanBePlannedToItsEnd(t *testing.T) {
	canned := webtest.CannedActions()
	s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}), webtest.WithActions(canned))
	w := s.Do("POST", "/runs/"+webtest.RecordID("gaveup")+"/finish")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/plans/"+canned.PlanList[0].ID {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	w = s.Do("POST", api.Prefix+"/runs/"+webtest.RecordID("gaveup")+"/finish")
	var plan api.Plan
	if err := json.Unmarshal(w.Body.Bytes(), &plan); err != nil || w.Code != http.StatusCreated || plan.Limits.Collections == nil {
		t.Errorf("%d %v %s", w.Code, err, w.Body)
	}
	if w = s.Do("POST", api.Prefix+"/runs/nosuchrun/finish"); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
	viewer := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Vera}),
		webtest.WithActions(webtest.CannedActions()))
	if w = viewer.Do("POST", api.Prefix+"/runs/"+webtest.RecordID("gaveup")+"/finish"); w.Code != http.StatusForbidden {
		t.Errorf("a viewer: %d", w.Code)
	}
}

func TestAPlanShowsItsLimits(t *testing.T) {
	s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}),
		webtest.WithActions(webtest.CannedActions()))
	text := webtest.ParseHTML(t, s.Do("GET", "/plans/"+webtest.RecordID("pin")).Body.String()).Find("main").Text()
	expect.ContainsAll(t, text, []string{"Limits", "Shards that may receive chunks", "Most moves"}, "the page")
	var plan api.Plan
	if err := json.Unmarshal(s.Do("GET", api.Prefix+"/plans/"+webtest.RecordID("pin")).Body.Bytes(), &plan); err != nil ||
		len(plan.Limits.Collections) == 0 || plan.Limits.Chunks == 0 || plan.Limits.Project == "" {
		t.Errorf("%v %+v", err, plan.Limits)
	}
	form := webtest.ParseHTML(t, s.Do("GET", answer.PlanURL(actions.Pin)).Body.String())
	expect.Equal(t, form.Find("select[name=pause] option").Length(), 3, "the form does not offer to pause balancing")
}
