package app

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// reload brings clusters into force.
func (f *fleet) reload(t *testing.T, list ...ClusterConfig) {
	t.Helper()
	next := f.app.config
	next.Clusters = list
	f.file = func() (Config, error) { return next, nil }
	must.Do(t, f.app.Reload(t.Context()))
}

// lastRecord is the newest entry of the audit record.
func (f *fleet) lastRecord(t *testing.T) map[string]string {
	t.Helper()
	records, err := f.app.current().store.AuditRecords(t.Context(), 0, 1000)
	must.That(t, err == nil && len(records) != 0, "%v %v", records, err)
	return records[len(records)-1].Details
}

// A cluster whose run is under way is removed, comes back under another name, and gets another address.
func TestRunsSurviveWhatAReloadDoesToTheirCluster(t *testing.T) {
	sim, uri := startSimulated(t, 1)
	prod := ClusterConfig{Name: "prod", Title: "Production", URI: uri, Actions: true, Settings: "1"}
	f := startFleet(t, prod)
	secret, _, err := f.app.current().auth.CreateToken(t.Context(), auth.Console(), auth.NewToken{Name: "ci", Role: auth.Admin,
		Expires: time.Now().Add(time.Hour)})
	must.Do(t, err)
	at := func(name string) apiClient {
		s := apiClient{T: t, at: f.app.URL() + "c/" + name + api.Prefix, token: secret}
		if !eventually(settledWithin, func() bool { return f.state(t, name) == "live" }) {
			t.Fatalf("%s is %s", name, f.state(t, name))
		}
		return s
	}
	s := at("prod")
	held := sim.Faults().Add(simcluster.Rule{Command: "balancerStart", At: simcluster.Replying, Hold: true})
	run := s.run(http.StatusAccepted, s.plan("balancer-on", "{}"), "")
	must.That(t, eventually(settledWithin, func() bool { return len(sim.Faults().Seen("balancerStart")) == 1 }),
		"the command does not arrive")

	other := ClusterConfig{Name: "other", Title: "Other", URI: simulated(t, 2), Log: prod.Log, Settings: "1"}
	prod.Log = f.app.config.Clusters[0].Log
	other.Log = prod.Log
	f.reload(t, other)
	d := f.lastRecord(t)
	expect.That(t, d["removed"] == "prod" && d["runs"] == "prod (1)", "recorded: %v", d)
	c := f.app.current().clusters.Configuration()
	expect.Equal(t, strings.Join(c.Left, " "), "prod", "left: %v", c.Left)
	if _, page := f.get(t, "adam", "/"); !strings.Contains(page, "Removed from the configuration while a run was under way") {
		t.Error("the page of clusters does not say that a run is not settled")
	}
	code, _ := f.get(t, "adam", "/c/prod/runs/"+run["id"].(string))
	expect.Equal(t, code, http.StatusNotFound, "a page of a removed cluster")
	held.Remove()

	renamed := prod
	renamed.Name, renamed.Title = "prod-eu", "Production EU"
	f.reload(t, other, renamed)
	s = at("prod-eu")
	got := s.waitForRun(run)
	expect.That(t, got["state"] == "succeeded", "the run under the new name: %v", got)
	n := len(sim.Faults().Seen("balancerStart"))
	expect.That(t, n == 1, "the command was sent %d times", n)
	expect.Len(t, f.app.current().clusters.Configuration().Left, 0, "still left")

	moved := renamed
	_, moved.URI = startSimulated(t, 3)
	moved.Settings = "2"
	f.reload(t, other, moved)
	s = at("prod-eu")
	if got := asList(s.expect(http.StatusOK, "GET", "/runs", "")["items"]); len(got) != 0 {
		t.Errorf("the cluster at the new address has runs of the former: %v", got)
	}
	d = f.lastRecord(t)
	expect.That(t, d["changed"] == "prod-eu" && d["runs"] == "", "recorded: %v", d)
}

// state is that of a cluster in the list.
func (f *fleet) state(t *testing.T, name string) string {
	t.Helper()
	for _, c := range f.names(t, "adam") {
		if rest, ok := strings.CutPrefix(c, name+" "); ok {
			return strings.Fields(rest)[0]
		}
	}
	return ""
}
