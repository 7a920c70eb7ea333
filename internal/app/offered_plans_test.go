package app

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// TestPlansOfferedByAdviceAreNotBlocked causes several problems in a simulated cluster
// and checks every remedy: its form exists, and the engine makes its plan without a
// blocking check.
func TestPlansOfferedByAdviceAreNotBlocked(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{Routing: 100 * time.Millisecond, Slow: 200 * time.Millisecond})
	d.stop(t)
	d.config.Actions = true
	d.serve(t)
	d.waitReady(t)
	d.admin(t, bson.D{{Key: "balancerStop", Value: 1}})
	d.admin(t, bson.D{{Key: "addShardToZone", Value: d.app.current().cluster.watcher.Table().Shards[0].Name}, {Key: "zone", Value: "left"}})
	d.admin(
		t,
		bson.D{{Key: "updateZoneKeyRange", Value: "yorkie-meta.changes"}, {Key: "min", Value: bson.D{{Key: "doc_id", Value: int64(12345)}}},
			{Key: "max", Value: bson.D{{Key: "doc_id", Value: bson.MaxKey{}}}}, {Key: "zone", Value: "left"}},
	)
	d.waitForTable(t, "the trouble", func(t *topology.Table) bool {
		return t.Balancer.Known && !t.Balancer.Enabled() && len(t.Zones) == 1 && len(t.Shards[0].Zones) == 1
	})
	var list api.AdviceList
	d.getJSON(t, "api/v1/advice", &list)
	var cluster api.Cluster
	d.getJSON(t, "api/v1/cluster", &cluster)
	if cluster.Problems.Worst != list.Summary.Worst || cluster.Problems.Worst == "" || len(cluster.Problems.Items) != len(list.Items) {
		t.Errorf("the cluster page has %+v, advice has %+v", cluster.Problems, list.Summary)
	}
	var rules []string
	plans := 0
	for _, x := range list.Items {
		rules = append(rules, x.Rule)
		if len(x.Plans) == 0 && x.WhyNot == "" {
			t.Errorf("%s: neither a plan nor a reason why there is none", x.Rule)
		}
		for _, p := range x.Plans {
			plans++
			d.checkOfferedPlan(t, x, p)
		}
	}
	if plans < 2 || !slices.Contains(rules, "balancer-off") || !slices.Contains(rules, "zone-cut") {
		t.Errorf("%d plans of %v", plans, rules)
	}
}

// checkOfferedPlan opens the form of a remedy and makes its plan.
func (d *demo) checkOfferedPlan(t *testing.T, x api.Advice, p api.AdvicePlan) {
	t.Helper()
	if res, page := d.get(t, strings.TrimPrefix(p.URL, "/")); p.URL == "" || res.StatusCode != http.StatusOK ||
		!strings.Contains(string(page), `action="/plans"`) {
		t.Errorf("%s: %q: %d, no form", x.Rule, p.URL, res.StatusCode)
	}
	body, err := json.Marshal(map[string]any{"kind": p.Kind, "args": p.Args, "reason": x.Title})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post("http://"+d.app.Addr()+"/api/v1/plans", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var plan struct {
		Checks []struct{ ID, Verdict, Text string }
	}
	if err := json.Unmarshal(text, &plan); err != nil || res.StatusCode != http.StatusCreated || len(plan.Checks) == 0 {
		t.Fatalf("%s: plan of %s: unexpected status %s: %s", x.Rule, body, res.Status, text)
	}
	for _, c := range plan.Checks {
		if c.Verdict == "block" {
			t.Errorf("%s: the plan %s is blocked: %s", x.Rule, body, c.Text)
		}
	}
}
