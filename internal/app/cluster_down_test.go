package app

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// quickly looks for the cluster more often than in production.
var quickly = topology.Options{Routing: 50 * time.Millisecond, Slow: 100 * time.Millisecond, MaxBackoff: 200 * time.Millisecond}

// startThenLose starts a dashboard over a cluster, records its state, and stops both.
func startThenLose(t *testing.T) *demo {
	t.Helper()
	d := startDemo(t, quietCluster(), quickly)
	d.stop(t)
	d.config.DataDir, d.config.AuditKey = t.TempDir(), ""
	d.config.Cluster = cluster.Options{Timeout: 400 * time.Millisecond}
	d.serve(t)
	d.waitReady(t)
	d.waitFor(t, "the stored names of projects", func() bool {
		n := projectNames{d.app.current().store, d.config.Log}
		return n.read(t.Context(), d.app.Watcher().Table().ClusterID) != nil
	})
	d.waitFor(t, "the stored id of the cluster", func() bool {
		return d.app.current().only.now().last.read(t.Context()) == d.app.Watcher().Table().ClusterID
	})
	d.waitFor(t, "the recorded state", func() bool {
		past, id := d.app.current().only.now().history.past, d.app.Watcher().Table().ClusterID
		at, err := past.LastRecorded(t.Context(), id)
		if err != nil || at.IsZero() {
			return false
		}
		_, err = past.Table(t.Context(), id, at) // the time is stored before what was seen then
		return err == nil
	})
	d.stop(t)
	d.stopCluster(t)
	d.served <- nil // for the end of the test, if nothing is started again
	return d
}

// waitFor waits until something is so.
func (d *demo) waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	must.That(t, eventually(settledWithin, is), "waited %s for %s", settledWithin, what)
}

func TestServerStartsWithoutItsClusterAndShowsItsHistory(t *testing.T) {
	d := startThenLose(t)
	must.Do(t, os.Remove(d.savedTable(t))) // which would be shown
	d.serve(t)
	var ready api.Ready
	d.waitFor(t, "the first attempt", func() bool { res, _ := d.get(t, "readyz"); return res.StatusCode == http.StatusOK })
	d.getJSON(t, "readyz", &ready)
	expect.That(t, ready.Ready && ready.Cluster == "never" && strings.Contains(ready.Reason, "Nothing listens there"), "ready: %+v", ready)
	res, body := d.get(t, "readyz?cluster=required")
	expect.Equal(t, res.StatusCode, http.StatusServiceUnavailable, "who needs the cluster is told %s: %s", res.Status, body)
	res, body = d.get(t, "api/v1/cluster")
	expect.That(t, res.StatusCode == http.StatusServiceUnavailable &&
		strings.Contains(string(body), "cannot be reached") &&
		strings.Contains(string(body), "has not been read since shardboard was started"), "%s %s", res.Status, body)
	_, page := d.get(t, "")
	expect.ContainsAll(t, string(page), []string{">The cluster is not reached</h1>", "never since the start of shardboard at",
		"Nothing listens there"}, "the overview")
	link := regexp.MustCompile(`href="/(\?at=[^"]+)">Look at its last recorded state`).FindStringSubmatch(string(page))
	must.That(t, link != nil, "no link to the past: %s", page)
	for _, path := range []string{"", "collections", "shards/shard-rs-1", "zones", "map", "activity", "matrix", "projects"} {
		if res, body := d.get(t, path+link[1]); res.StatusCode != http.StatusOK || path == "" && !strings.Contains(string(body), "shard-rs-3") {
			t.Errorf("/%s%s: %s", path, link[1], res.Status)
		}
	}
	var projects api.List[api.Project]
	d.getJSON(t, "api/v1/projects"+link[1], &projects)
	expect.That(t, len(projects.Items) != 0 && projects.Items[0].Name != "", "the recorded past has no names of projects: %+v", projects)
	_, list := d.get(t, "projects"+link[1])
	expect.ContainsAll(t, string(list), []string{projects.Items[0].Name,
		"The list of projects is that of "}, "the page of the past has no names of projects, or does not say of when they are")
	var shards api.List[api.Shard]
	d.getJSON(t, "api/v1/shards"+link[1], &shards)
	expect.Equal(t, len(shards.Items), 3, "shards at the recorded time")
	_, metrics := d.get(t, "metrics")
	expect.That(t, regexp.MustCompile(`shardboard_cluster_up\{cluster="[0-9a-f]{24}"\} 0`).Match(metrics) &&
		regexp.MustCompile(`shardboard_cluster_mongos\{cluster="[0-9a-f]{24}",state="down"\} 1`).Match(metrics), "%s", metrics)

	d.restartCluster(t, quietCluster())
	d.waitReady(t)
	var now api.Cluster
	d.getJSON(t, "api/v1/cluster", &now)
	expect.That(t, now.Connection.State == "connected" && now.Connection.Former == "" && now.Product == "MongoDB 5.0.7",
		"afterwards: %+v, %s", now.Connection, now.Product)
	d.checkAnotherCluster(t)
}

// checkAnotherCluster puts another cluster at the address: while the server runs, it says so everywhere and shows the
// former one. A restarted server shows the other one, and says so until it is started again.
func (d *demo) checkAnotherCluster(t *testing.T) {
	t.Helper()
	var was, now api.Cluster
	d.getJSON(t, "api/v1/cluster", &was)
	d.stopCluster(t)
	other := quietCluster()
	other.Seed = 99
	d.restartCluster(t, other)
	d.waitFor(t, "the other cluster", func() bool {
		d.getJSON(t, "api/v1/cluster", &now)
		return now.Connection.State == "otherCluster"
	})
	expect.That(t, now.ClusterID == was.ClusterID && strings.Contains(now.Connection.Reason, "restart shardboard"),
		"%+v of %s", now.Connection, now.ClusterID)
	for _, path := range []string{"", "collections", "projects", "locate", "heat", "alerts", "audit", "runs", "plans/new", "nowhere"} {
		_, page := d.get(t, path)
		expect.That(t, strings.Contains(string(page), "Another cluster answers at the address: ") &&
			strings.Contains(string(page), "restart shardboard"), "/%s does not say so", path)
	}
	var ready api.Ready
	d.getJSON(t, "readyz", &ready)
	expect.That(t, ready.Ready && ready.Cluster == "otherCluster" && strings.Contains(ready.Reason, "restart shardboard"), "%+v", ready)
	res, body := d.get(t, "readyz?cluster=required")
	expect.Equal(t, res.StatusCode, http.StatusServiceUnavailable, "%s %s", res.Status, body)
	_, metrics := d.get(t, "metrics")
	expect.That(t, regexp.MustCompile(`shardboard_cluster_up\{cluster="`+was.ClusterID+`"\} 0`).Match(metrics) &&
		regexp.MustCompile(`shardboard_cluster_connection\{cluster="`+was.ClusterID+`",state="otherCluster"\} 1`).Match(metrics), "%s", metrics)
	for _, said := range []bool{true, false} {
		d.stop(t)
		d.serve(t)
		d.waitReady(t)
		if d.getJSON(t, "api/v1/cluster", &now); (now.Connection.Former == was.ClusterID) != said || now.ClusterID == was.ClusterID {
			t.Errorf("after a start: %+v of %s, want it said: %v", now.Connection, now.ClusterID, said)
		}
		if _, page := d.get(t, ""); strings.Contains(string(page), "Another cluster than before is at this address") != said {
			t.Errorf("the overview says so: %v, want the opposite", !said)
		}
		d.waitFor(t, "the cluster to be stored", func() bool { return d.app.current().only.now().last.read(t.Context()) == now.ClusterID })
	}
}

func TestServerStartsWithWrongCredentialsAndShowsThem(t *testing.T) {
	d := startDemo(t, quietCluster(), quickly)
	d.stop(t)
	d.stopCluster(t)
	o := quietCluster()
	o.Users = append(o.Users, access.User{Name: "anna", Password: "right"})
	d.restartCluster(t, o)
	d.config.URI = must.Get(cluster.ParseURI("mongodb://anna:wr0ng@" + d.addr + "/"))
	d.serve(t)
	d.waitFor(t, "the first attempt", func() bool { res, _ := d.get(t, "readyz"); return res.StatusCode == http.StatusOK })
	_, page := d.get(t, "")
	expect.ContainsAll(t, string(page), []string{">The cluster refuses the sign-in</h1>",
		"refused the user name or password"}, "the overview")
	expect.That(t, !strings.Contains(string(page), "wr0ng") && !strings.Contains(string(page), "anna") &&
		!strings.Contains(string(page), "Grant the cluster user"), "the page shows the credentials, or asks for a grant")
}
