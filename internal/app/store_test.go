package app

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/cluster"
	"shardboard/internal/topology"
)

func TestServerOverAStoreOnMongoDBFindsItsRunsAfterARestart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	d.stop(t)
	at, err := ReadStore("mongodb://"+d.addr+"/sbstore?directConnection=true", "")
	if err != nil {
		t.Fatal(err)
	}
	d.config.Store, d.config.Actions = at, true
	d.serve(t)
	d.waitReady(t)
	s := apiClient{T: t, at: strings.TrimRight(d.app.URL(), "/") + api.Prefix}
	run := s.waitForRun(s.run(202, s.plan("split", `{"ns":"yorkie-meta.changes","at":`+hashedKey(5)+`}`), ""))
	if run["state"] != "succeeded" {
		t.Fatal(run)
	}
	if got := s.expect(200, "GET", "/data", ""); got["hold"] != "owned" || got["writable"] != true {
		t.Errorf("%v", got)
	}
	d.stop(t)
	begin := time.Now()
	d.serve(t)
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("the lease was not given up: the start took %s", took)
	}
	d.waitReady(t)
	if again := s.expect(200, "GET", "/runs/"+run["id"].(string), ""); again["state"] != "succeeded" || again["plan"] != run["plan"] {
		t.Errorf("%v", again)
	}
	if n := len(asList(s.expect(200, "GET", "/audit?limit=50", "")["items"])); n < 3 {
		t.Errorf("%d audit records", n)
	}
}

func TestStoreInAnObservedClusterIsRecognised(t *testing.T) {
	for _, c := range []struct {
		store, cluster string
		same           bool
	}{
		{"a:27017,b:27017", "mongodb://c:27017,b:27017/", true},
		{"DB1", "mongodb://db1:27017/", true}, // the port that the driver takes
		{"db1:27018", "mongodb://db1/", false},
		{"[::1]", "mongodb://[::1]:27017/", true},
		{"a", "mongodb://ab/", false},
	} {
		uri, err := cluster.ParseURI(c.cluster)
		if err != nil {
			t.Fatal(err)
		}
		if got := sharesHost(c.store, uri); got != c.same {
			t.Errorf("%s and %s: %t", c.store, c.cluster, got)
		}
	}
}
