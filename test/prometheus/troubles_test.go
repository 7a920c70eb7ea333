package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"shardboard/test/process"
)

func watch(t *testing.T, uri string) *program {
	t.Helper()
	dir := t.TempDir()
	return start(t, "serve", "--uri", uri, "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"),
		"--audit-key", filepath.Join(dir, "audit.key"), "--auth", "none", "--actions", "on")
}

// sample is the value of a series, by its name and labels but for cluster; ok is false when there is none.
func sample(families map[string]*dto.MetricFamily, name string, labels ...string) (value float64, ok bool) {
	for _, m := range families[name].GetMetric() {
		of := map[string]string{}
		for _, l := range m.GetLabel() {
			of[l.GetName()] = l.GetValue()
		}
		same := true
		for i := 0; i+1 < len(labels); i += 2 {
			same = same && of[labels[i]] == labels[i+1]
		}
		if same {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue(), true
		}
	}
	return 0, false
}

// series are what Prometheus stores when each scrape is what it reads for a while, one after the other.
func series(each int, scrapes ...map[string]*dto.MetricFamily) (out []string) {
	values := map[string][]string{}
	for i, families := range scrapes {
		for name, f := range families {
			if f.GetType() == dto.MetricType_HISTOGRAM || !strings.HasPrefix(name, "shardboard_") {
				continue
			}
			for _, m := range f.GetMetric() {
				id := name + `{job="shardboard",instance="a"`
				for _, l := range m.GetLabel() {
					id += "," + l.GetName() + "=" + strconv.Quote(l.GetValue())
				}
				id += "}"
				if values[id] == nil {
					values[id] = make([]string, len(scrapes))
				}
				value := m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
				values[id][i] = strconv.FormatFloat(value, 'f', -1, 64)
			}
		}
	}
	up := make([]string, len(scrapes))
	for i := range up {
		up[i] = "1"
	}
	values[`up{job="shardboard",instance="a"}`] = up
	for id, list := range values {
		line := id
		for _, v := range list {
			if v == "" {
				v = "_"
			}
			line += fmt.Sprintf(" %sx%d", v, each-1)
		}
		out = append(out, line)
	}
	return out
}

// firing are the alerts whose expressions hold at the end.
func firing(t *testing.T, scrapes ...map[string]*dto.MetricFamily) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	lines := series(130/len(scrapes), scrapes...)
	for name, r := range rules(t) {
		if len(found(t, r, lines, time.Minute)) > 0 {
			out[name] = true
		}
	}
	return out
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	process.Eventually(t, what, func(context.Context) error {
		if !is() {
			return errors.New("not yet")
		}
		return nil
	})
}

// expect holds alerts to what they should be.
func expect(t *testing.T, when string, is map[string]bool, fires []string, quiet []string) {
	t.Helper()
	for _, name := range fires {
		if !is[name] {
			t.Errorf("%s: %s does not fire", when, name)
		}
	}
	for _, name := range quiet {
		if is[name] {
			t.Errorf("%s: %s fires", when, name)
		}
	}
}

// A cluster that hangs, one that was never there, and one that comes back, as /metrics and the rules see them.
func TestMetricsAndAlertsOfAClusterThatHangsAndComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	sim := start(t, "simcluster", "--listen", "127.0.0.1:0", "--documents", "500", "--projects", "5", "--still")
	server := watch(t, sim.address)
	age := func(families map[string]*dto.MetricFamily, part string) float64 {
		value, ok := sample(families, "shardboard_poll_age_seconds", "part", part)
		if !ok {
			return -1
		}
		return value
	}
	up := func() bool { value, ok := sample(server.scrape(t), "shardboard_cluster_up"); return ok && value == 1 }
	down := func() bool { value, ok := sample(server.scrape(t), "shardboard_cluster_up"); return ok && value == 0 }
	eventually(t, "the cluster is read", func() bool {
		_, sized := sample(server.scrape(t), "shardboard_shard_data_bytes")
		return sized && up()
	})
	well := server.scrape(t)
	// Nothing moves in this cluster: its balancer is off.
	all := []string{"ShardboardDown", "ShardboardClusterDown", "ShardboardPollOld", "ShardboardPartUnread", "ShardboardStoreNotWritable",
		"ShardboardAuditRecordBroken", "ShardboardNoOwner", "ShardboardMovesFailing", "ShardboardRunWaiting"}
	expect(t, "all is well", firing(t, well), nil, all)

	sim.signal(t, syscall.SIGSTOP)
	eventually(t, "a cluster that hangs is down", down)
	before := server.scrape(t)
	eventually(t, "the age of what is known grows", func() bool {
		return age(server.scrape(t), "routing") > age(before, "routing")+2
	})
	hung := server.scrape(t)
	if age(hung, "routing") < 2 || age(hung, "shards") < 2 {
		t.Errorf("what was read before it hung is %v and %v s old", age(hung, "routing"), age(hung, "shards"))
	}
	if value, ok := sample(hung, "shardboard_poll_failing", "part", "routing"); !ok || value != 1 {
		t.Errorf("the failing poll is %v (%t)", value, ok)
	}
	old, _ := sample(hung, "shardboard_shard_data_age_seconds")
	if new, _ := sample(well, "shardboard_shard_data_age_seconds"); old <= new {
		t.Errorf("the bytes of a shard were %v s old and are %v s old", new, old)
	}
	expect(t, "a cluster that hangs", firing(t, well, hung), []string{"ShardboardClusterDown"},
		[]string{"ShardboardDown", "ShardboardPollOld", "ShardboardPartUnread", "ShardboardStoreNotWritable", "ShardboardNoOwner"})

	sim.signal(t, syscall.SIGCONT)
	eventually(t, "a cluster that answers again is up", up)
	eventually(t, "every part is read again", func() bool {
		now := server.scrape(t)
		return age(now, "routing") < 5 && age(now, "shards") < 15 && age(now, "zones") < 15
	})
	back := server.scrape(t)
	if value, _ := sample(back, "shardboard_poll_failing", "part", "routing"); value != 0 {
		t.Error("the poll counts as failing although it succeeded")
	}
	expect(t, "a cluster that is back", firing(t, well, hung, back), nil, all)
}

func TestAClusterThatWasNeverReachedIsDownAndNothingElseIsClaimed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	server := watch(t, "mongodb://127.0.0.1:1/?directConnection=true")
	var now map[string]*dto.MetricFamily
	eventually(t, "it is down", func() bool {
		now = server.scrape(t)
		value, ok := sample(now, "shardboard_cluster_up")
		return ok && value == 0
	})
	for name, f := range now {
		for _, about := range []string{"shardboard_shard", "shardboard_collection", "shardboard_chunks", "shardboard_balancer",
			"shardboard_imbalance", "shardboard_hot", "shardboard_moves", "shardboard_zone"} {
			if strings.HasPrefix(name, about) && len(f.GetMetric()) > 0 {
				t.Errorf("%s is %v", name, f.GetMetric()[0])
			}
		}
	}
	for _, part := range []string{"routing", "shards", "sizes"} {
		if value, ok := sample(now, "shardboard_poll_age_seconds", "part", part); ok {
			t.Errorf("%s was read %v s ago", part, value)
		}
	}
	expect(t, "never reached", firing(t, now), []string{"ShardboardClusterDown"}, []string{"ShardboardPartUnread", "ShardboardPollOld",
		"ShardboardBalancerOff", "ShardboardStoreNotWritable"})
}

// post sends JSON and reads an answer.
func (p *program) post(t *testing.T, path, body string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.address+path, bytes.NewReader([]byte(body)))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		var text bytes.Buffer
		_, _ = text.ReadFrom(res.Body)
		t.Fatalf("%s: status %d: %s", path, res.StatusCode, text.String())
	}
	if into != nil {
		must(t, json.NewDecoder(res.Body).Decode(into))
	}
}

// A balancer that somebody turns off, and that stays off on purpose.
func TestABalancerThatIsOffOnPurposeAlertsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	sim := start(t, "simcluster", "--listen", "127.0.0.1:0", "--documents", "500", "--projects", "5")
	server := watch(t, sim.address)
	is := func(name string, want float64, labels ...string) func() bool {
		return func() bool { value, ok := sample(server.scrape(t), name, labels...); return ok && value == want }
	}
	eventually(t, "the balancer is on", is("shardboard_balancer_enabled", 1))
	expect(t, "on", firing(t, server.scrape(t)), nil, []string{"ShardboardBalancerOff"})

	change := func(kind, more string) {
		t.Helper()
		var plan struct {
			ID, Hash string
			Confirm  *string
		}
		server.post(t, "/api/v1/plans", `{"kind": "`+kind+`", "reason": "a test"`+more+`}`, &plan)
		confirm, err := json.Marshal(plan.Confirm)
		must(t, err)
		server.post(t, "/api/v1/plans/"+plan.ID+"/run", `{"hash": "`+plan.Hash+`", "confirm": `+string(confirm)+`}`, nil)
	}
	change("balancer-window", `, "args": {"start": "01:00", "stop": "05:30"}`)
	eventually(t, "it has a window", is("shardboard_balancer_window_seconds", 4.5*3600))
	expect(t, "with a window", firing(t, server.scrape(t)), nil, []string{"ShardboardBalancerOff"})

	change("balancer-off", "")
	eventually(t, "it is off", is("shardboard_balancer_enabled", 0))
	eventually(t, "that is a problem", is("shardboard_problems", 1, "rule", "balancer-off"))
	expect(t, "off", firing(t, server.scrape(t)), []string{"ShardboardBalancerOff"}, nil)

	var advice struct{ Items []struct{ ID, Rule string } }
	body, _ := server.read(t, "/api/v1/advice")
	must(t, json.Unmarshal([]byte(body), &advice))
	for _, one := range advice.Items {
		if one.Rule == "balancer-off" {
			server.post(t, "/api/v1/advice/"+one.ID+"/dismiss", `{"reason": "we move by hand"}`, nil)
		}
	}
	eventually(t, "it is no problem", is("shardboard_problems", 0, "rule", "balancer-off"))
	expect(t, "off on purpose", firing(t, server.scrape(t)), nil, []string{"ShardboardBalancerOff"})
}
