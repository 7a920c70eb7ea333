package app

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/store"
)

// signIn makes the first admin at a replica with the link that another one printed, and returns a browser
// that is signed in and a token of the same person.
func (r *replicas) signIn() (browser *http.Client, token string) {
	r.Helper()
	browser = sessionClient(r) // cookies are sent to all ports of a host
	firstSignIn(r, r.a.app, browser, r.b.url)
	got := statusOf(r.T, browser, r.b.url+"api/v1/me")
	must.That(r, got == http.StatusOK, "the link of the other replica does not work: %d", got)
	body := strings.NewReader(`{"name":"script","role":"operator","expires":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`)
	req := must.Get(http.NewRequestWithContext(r.Context(), http.MethodPost, r.b.url+"api/v1/tokens", body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", strings.TrimSuffix(r.b.url, "/"))
	res, err := browser.Do(req)
	must.Do(r, err)
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	_, rest, _ := strings.Cut(string(text), `"secret":"`)
	token, _, _ = strings.Cut(rest, `"`)
	must.That(r, token != "", "no token: %s", text)
	return browser, token
}

// Accounts, sessions, tokens, plans, runs, surveys, outcomes, history and the audit record are those of
// all replicas, and stay when the leader is lost; with one cluster and with several.
func TestWhatPeopleDidSurvivesTheLossOfTheLeader(t *testing.T) {
	only.Long(t, "starts two servers twice")
	for name, several := range map[string]bool{"one cluster": false, "several clusters": true} {
		t.Run(name, func(t *testing.T) {
			base := ""
			if several {
				base = "/c/prod"
			}
			r := startReplicasBelow(t, base, func(c *Config) {
				c.Auth.Mode = "local"
				if several {
					one := c.cluster()
					one.Name, one.Title, one.Settings, one.Log = "prod", "prod", "1", slog.New(slog.DiscardHandler)
					c.Clusters, c.File = []ClusterConfig{one}, "shardboard.yaml"
				}
			})
			r.checkSurvival()
		})
	}
}

func (r *replicas) checkSurvival() {
	browser, token := r.signIn()
	r.a.token, r.b.token = token, token
	expect.Equal(r, statusOf(r.T, browser, r.a.url+"api/v1/me"), http.StatusOK, "a session of the follower is not valid at the leader")

	run := r.b.run(http.StatusAccepted, r.b.plan("split", splitAt(1000)), "")
	got := r.b.waitForRun(run)
	expect.That(r, got["state"] == "succeeded", "the run is %v", got)
	kept := r.b.plan("balancer-on", `{}`)
	survey := r.b.expect(http.StatusAccepted, "POST", "/surveys", `{"kind":"projects"}`)["id"].(string)
	expect.That(r, eventually(settledWithin, func() bool { return len(r.historyAt(r.b)) > 0 }), "the leader recorded no history")
	before := r.historyAt(r.b)

	r.a.net.cut(true)
	must.That(r, eventually(settledWithin, r.b.leads), "nobody leads")
	expect.That(r, eventually(settledWithin, func() bool { return !r.a.leads() }), "two replicas lead")
	expect.Equal(r, statusOf(r.T, browser, r.b.url+"api/v1/me"), http.StatusOK, "the session is lost")
	got = r.b.waitForRun(run)
	expect.That(r, got["state"] == "succeeded", "the run of the leader before is %v", got["state"])
	expect.That(r, eventually(settledWithin, func() bool {
		_, err := r.b.app.current().store.RunOutcome(r.Context(), r.b.clusterID(), run["id"].(string))
		return err == nil
	}), "what the run of the leader before led to is not measured")
	second := r.b.run(http.StatusAccepted, kept, "")
	got = r.b.waitForRun(second)
	expect.That(r, got["state"] == "succeeded", "a plan of before the loss is %v", got)
	expect.That(r, eventually(settledWithin, func() bool {
		return r.b.expect(http.StatusOK, "GET", "/surveys/"+survey, "")["endedAt"] != nil
	}), "the survey does not end")
	after := r.historyAt(r.b)
	expect.That(r, len(after) >= len(before), "%d entries of history, %d before", len(after), len(before))
	r.a.net.cut(false)
	must.That(r, eventually(settledWithin, func() bool { return r.a.app.current().db.Condition().Hold == store.Owned }),
		"the former leader does not find the store again")
	if got := r.a.waitForRun(second); got["state"] != "succeeded" || r.a.leads() {
		r.Errorf("the former leader shows %v, and leads: %v", got["state"], r.a.leads())
	}
	r.verifyAudit(r.a)
	res, err := browser.Get(r.b.url + "metrics")
	must.Do(r, err)
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	for _, series := range []string{"shardboard_store_owner 1", "shardboard_store_leads_total 2", "shardboard_store_lease_age_seconds ",
		"shardboard_store_requests_waiting"} {
		expect.Contains(r, string(text), "\n"+series, "/metrics has no %s", series)
	}
}

func (s *replica) clusterID() string {
	n := s.app.current()
	if n.clusters == nil {
		return n.clusterID()
	}
	return n.clusters.list[0].now().watcher.Table().ClusterID
}

// historyAt are the times of the recorded history, as a replica reads them.
func (r *replicas) historyAt(s *replica) []time.Time {
	r.Helper()
	times, err := s.app.current().store.HistoryTimes(r.Context(), s.clusterID(), "", time.Time{}, time.Time{}, 1000)
	must.Do(r, err)
	return times
}
