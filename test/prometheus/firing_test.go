package prometheus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// samples are series with a value each minute for two hours, with which an alert's expression holds or does not. Labels
// are those that /metrics has, and the ones that Prometheus adds.
var samples = map[string]struct{ firing, quiet []string }{
	"ShardboardDown": {[]string{`up{job="shardboard",instance="a"} 0x120`},
		[]string{`up{job="shardboard",instance="a"} 1x120`, `up{job="node"} 0x120`}},
	"ShardboardReplicaDown": {[]string{`up{job="shardboard",instance="a"} 0x120`, `up{job="shardboard",instance="b"} 1x120`},
		[]string{`up{job="shardboard",instance="a"} 1x120`, `up{job="node",instance="a"} 0x120`}},
	"ShardboardStoreNotWritable": {[]string{`shardboard_data_directory{hold="vanished",instance="a"} 1x120`,
		`shardboard_data_trouble{instance="a"} 0x120`},
		[]string{`shardboard_data_trouble{instance="a"} 0x120`, `shardboard_data_directory{hold="owned",instance="a"} 1x120`,
			`shardboard_data_directory{hold="vanished",instance="a"} 0x120`}},
	"ShardboardAuditRecordBroken": {[]string{`shardboard_audit_ok{instance="a"} 0x120`}, []string{`shardboard_audit_ok{instance="a"} 1x120`}},
	"ShardboardNoOwner": {[]string{`shardboard_store_owner{job="s",instance="a"} 0x120`, `shardboard_store_owner{job="s",instance="b"} 0x120`},
		[]string{`shardboard_store_owner{job="s",instance="a"} 0x120`, `shardboard_store_owner{job="s",instance="b"} 1x120`}},
	"ShardboardReloadFailed": {[]string{`shardboard_config_last_reload_successful 0x120`},
		[]string{`shardboard_config_last_reload_successful 1x120`}},
	"ShardboardAlertsNotDelivered": {[]string{`shardboard_alert_failed_deliveries{receiver="on-call"} 3x120`},
		[]string{`shardboard_alert_failed_deliveries{receiver="on-call"} 2x120`}},
	"ShardboardSeriesDropped": {[]string{`shardboard_metrics_dropped_series{cluster="c"} 5x120`},
		[]string{`shardboard_metrics_dropped_series{cluster="c"} 0x120`}},
	"ShardboardClusterDown": {[]string{`shardboard_cluster_up{cluster="c",instance="a"} 0x120`,
		`shardboard_cluster_up{cluster="d",instance="a"} 1x120`},
		[]string{`shardboard_cluster_up{cluster="c",instance="a"} 0x120`, `shardboard_cluster_up{cluster="c",instance="b"} 1x120`}},
	"ShardboardPollOld": {[]string{`shardboard_poll_age_seconds{cluster="c",part="zones"} 301x120`},
		[]string{`shardboard_poll_age_seconds{cluster="c",part="zones"} 8x120`,
			`shardboard_poll_age_seconds{cluster="c",part="sizes-by-project"} 4000x120`}},
	"ShardboardPartUnread": {[]string{`shardboard_poll_failing{cluster="c",part="moves"} 1x120`, `shardboard_cluster_up{cluster="c"} 1x120`},
		[]string{`shardboard_poll_failing{cluster="c",part="moves"} 1x120`, `shardboard_poll_age_seconds{cluster="c",part="moves"} 30x120`}},
	"ShardboardPartDenied": {[]string{`shardboard_poll_denied{cluster="c",part="disks"} 1x120`},
		[]string{`shardboard_poll_denied{cluster="c",part="disks"} 0x120`}},
	"ShardboardShardSilent": {[]string{`shardboard_shard_answers{cluster="c",shard="s"} 0x120`,
		`shardboard_shard_answers{cluster="c",shard="t"} 1x120`},
		[]string{`shardboard_shard_answers{cluster="c",shard="s"} 1x120`}},
	"ShardboardConfigServersSilent": {[]string{`shardboard_config_servers_answer{cluster="c"} 0x120`},
		[]string{`shardboard_config_servers_answer{cluster="c"} 1x120`}},
	"ShardboardShardNearFull": {[]string{`shardboard_shard_disk_used_bytes{cluster="c",shard="s"} 86x120`,
		`shardboard_shard_disk_size_bytes{cluster="c",shard="s"} 100x120`},
		[]string{`shardboard_shard_disk_used_bytes{cluster="c",shard="s"} 84x120`,
			`shardboard_shard_disk_size_bytes{cluster="c",shard="s"} 100x120`}},
	"ShardboardShardFull": {[]string{`shardboard_shard_disk_used_bytes{cluster="c",shard="s"} 96x120`,
		`shardboard_shard_disk_size_bytes{cluster="c",shard="s"} 100x120`},
		[]string{`shardboard_shard_disk_used_bytes{cluster="c",shard="s"} 94x120`,
			`shardboard_shard_disk_size_bytes{cluster="c",shard="s"} 100x120`}},
	"ShardboardImbalance": {[]string{`shardboard_problems{cluster="c",rule="imbalance"} 1x120`},
		[]string{`shardboard_problems{cluster="c",rule="imbalance"} 0x120`, `shardboard_problems{cluster="c",rule="drift"} 1x120`}},
	"ShardboardJumboChunks": {[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s"} 1x120`},
		[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s"} 0x120`}},
	"ShardboardZoneViolations": {[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 2x120`},
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 0x120`}},
	"ShardboardMovesFailing": {[]string{`shardboard_move_failures_total{cluster="c",collection="db.x",shard="s"} 0x70 2x25 4x25`,
		`shardboard_move_failures_total{cluster="c",collection="other",shard="s"} 0x120`},
		[]string{`shardboard_move_failures_total{cluster="c",collection="db.x",shard="s"} 7x100 8x20`}},
	"ShardboardBalancerOff": {[]string{`shardboard_balancer_enabled{cluster="c"} 0x120`},
		[]string{`shardboard_balancer_enabled{cluster="c"} 1x120`}},
	"ShardboardHotShard": {[]string{`shardboard_problems{cluster="c",rule="hot-shard"} 1x120`},
		[]string{`shardboard_problems{cluster="c",rule="hot-shard"} 0x120`}},
	"ShardboardHotProject": {[]string{`shardboard_problems{cluster="c",rule="hot-project"} 2x120`},
		[]string{`shardboard_problems{cluster="c",rule="hot-project"} 0x120`}},
	"ShardboardSlowReads": {[]string{`shardboard_problems{cluster="c",rule="slow-reads"} 1x120`},
		[]string{`shardboard_problems{cluster="c",rule="slow-reads"} 0x120`, `shardboard_problems{cluster="c",rule="hot-shard"} 1x120`}},
	"ShardboardRunOutcomeUnknown": {[]string{`shardboard_runs_open{cluster="c",state="unknown"} 1x120`},
		[]string{`shardboard_runs_open{cluster="c",state="running"} 1x120`}},
	"ShardboardRunWaiting": {[]string{`shardboard_runs_open{cluster="c",state="waiting"} 1x120`},
		[]string{`shardboard_runs_open{cluster="c",state="waiting"} 0x120`}},
}

// loaded writes series as promqltest reads them: "7x3" is the value 7 and three times again.
func loaded(series []string, step time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "load %s\n", model.Duration(step))
	for _, s := range series {
		name, values, _ := strings.Cut(s, " ")
		for i, v := range strings.Fields(values) {
			value, times, _ := strings.Cut(v, "x")
			if i == 0 {
				fmt.Fprintf(&b, "\t%s", name)
			}
			if value != "_" { // no sample
				value += "+0"
			}
			fmt.Fprintf(&b, " %sx%s", value, times)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// found evaluates the expression of a rule after 115 steps.
func found(t *testing.T, r rulefmt.Rule, series []string, step time.Duration) promql.Vector {
	t.Helper()
	storage := promqltest.LoadedStorage(t, loaded(series, step))
	defer storage.Close()
	q, err := promqltest.NewTestEngine(t, false, 0, 10_000).NewInstantQuery(t.Context(), storage, nil, r.Expr, time.Unix(0, 0).Add(115*step))
	if err != nil {
		t.Fatalf("%s: %v", r.Alert, err)
	}
	defer q.Close()
	is := q.Exec(t.Context())
	vector, ok := is.Value.(promql.Vector)
	if is.Err != nil || !ok {
		t.Fatalf("%s with %v: %v, error %v", r.Alert, series, is.Value, is.Err)
	}
	return vector
}

func TestEachAlertFiresOnWhatItIsAboutAndNotOtherwise(t *testing.T) {
	all := rules(t)
	for name, r := range all {
		of, ok := samples[name]
		if !ok {
			t.Errorf("%s has no samples", name)
			continue
		}
		for _, c := range []struct {
			series []string
			fires  bool
		}{{of.firing, true}, {of.quiet, false}, {nil, name == "ShardboardDown"}} {
			if is := found(t, r, c.series, time.Minute); (len(is) > 0) != c.fires {
				t.Errorf("%s with %v: found %v; fires should be %t", name, c.series, is, c.fires)
			}
		}
	}
	for name := range samples {
		if _, ok := all[name]; !ok {
			t.Errorf("%s is no alert", name)
		}
	}
}

const root = "../../"

var language = parser.NewParser(parser.Options{})

// rules are the alerts by name.
func rules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(root+"deploy/prometheus/rules.yaml", false, model.LegacyValidation, language, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	out := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			if _, twice := out[r.Alert]; twice || !strings.HasPrefix(r.Alert, "Shardboard") {
				t.Errorf("the alert %q is not named well, or twice", r.Alert)
			}
			out[r.Alert] = r
		}
	}
	return out
}

func TestEveryRuleHasASeverityAndARunbookThatNamesIt(t *testing.T) {
	pages := map[string]bool{}
	for name, r := range rules(t) {
		if s := r.Labels["severity"]; s != "critical" && s != "warning" && s != "info" || r.Annotations["summary"] == "" {
			t.Errorf("%s: severity %q, summary %q", name, s, r.Annotations["summary"])
		}
		address, _, _ := strings.Cut(r.Annotations["runbook_url"], "?")
		page := filepath.Base(address) + ".md"
		text, err := os.ReadFile(root + "docs/runbooks/" + page)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		pages[page] = true
		for _, want := range []string{"`" + name + "`", "## What it means", "## How to look", "## What to do", "## Pages of shardboard"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no %q", page, want)
			}
		}
	}
	files, err := filepath.Glob(root + "docs/runbooks/*.md")
	must(t, err)
	index, err := os.ReadFile(root + "docs/runbooks/README.md")
	must(t, err)
	for _, f := range files {
		page := filepath.Base(f)
		if page == "README.md" {
			continue
		}
		if !pages[page] || !strings.Contains(string(index), "("+page+")") {
			t.Errorf("%s has no alert, or is not in the list", page)
		}
	}
}

func TestTheScrapeConfigurationIsReadByPrometheus(t *testing.T) {
	c, err := config.LoadFile(root+"deploy/prometheus/scrape.yaml", false, nil)
	must(t, err)
	if len(c.ScrapeConfigs) != 2 || len(c.RuleFiles) != 1 || filepath.Base(c.RuleFiles[0]) != "rules.yaml" {
		t.Errorf("%d scrape configurations, rule files %v", len(c.ScrapeConfigs), c.RuleFiles)
	}
}

// states are calm or intended states in which an alert must be quiet, and trouble that an expression could miss
// because series are not there.
var states = []struct {
	alert, state string
	fires        bool
	step         time.Duration // between samples; a minute if not given
	series       []string
}{
	{"ShardboardDown", "a pod that is gone is no target any more", true, 0, []string{`up{job="node"} 1x120`}},
	{"ShardboardDown", "a series that ended is missing, too", true, 0, []string{`up{job="shardboard",instance="a"} 1x60 _x60`}},
	{"ShardboardDown", "one of two replicas is restarted", false, 0,
		[]string{`up{job="shardboard",instance="a"} 0x120`, `up{job="shardboard",instance="b"} 1x120`}},
	{"ShardboardDown", "two releases with the same job, one is down", true, 0,
		[]string{`up{job="shardboard",namespace="x"} 0x120`, `up{job="shardboard",namespace="y"} 1x120`}},
	{"ShardboardReplicaDown", "all are down, which another alert says", false, 0,
		[]string{`up{job="shardboard",instance="a"} 0x120`, `up{job="shardboard",instance="b"} 0x120`}},
	{"ShardboardStoreNotWritable", "the store on MongoDB does not answer", true, 0,
		[]string{`shardboard_data_directory{hold="unreachable",instance="a"} 1x120`}},
	{"ShardboardStoreNotWritable", "a replica that only reads", false, 0,
		[]string{`shardboard_data_directory{hold="ownedByAnother",instance="a"} 1x120`, `shardboard_data_trouble{instance="a"} 0x120`}},
	{"ShardboardAuditRecordBroken", "it was in order, and nobody can verify it any more", true, 0,
		[]string{`shardboard_audit_ok{instance="a"} 1x120`, `shardboard_audit_verified_age_seconds{instance="a"} 7200x120`}},
	{"ShardboardAuditRecordBroken", "just verified", false, 0,
		[]string{`shardboard_audit_ok{instance="a"} 1x120`, `shardboard_audit_verified_age_seconds{instance="a"} 60x120`}},
	{"ShardboardNoOwner", "another release in another namespace has an owner", true, 0,
		[]string{`shardboard_store_owner{job="s",namespace="x"} 0x120`, `shardboard_store_owner{job="s",namespace="y"} 1x120`}},
	{"ShardboardClusterDown", "never reached, so that its id is not known", true, 0,
		[]string{`shardboard_cluster_up{cluster="",instance="a"} 0x120`}},
	{"ShardboardClusterDown", "starting: no poll has ended", false, 0, []string{`shardboard_metrics_dropped_series{cluster=""} 0x120`}},
	{"ShardboardClusterDown", "one replica has no way to it", false, 0,
		[]string{`shardboard_cluster_up{cluster="c",instance="a"} 1x120`, `shardboard_cluster_up{cluster="c",instance="b"} 0x120`}},
	{"ShardboardPollOld", "the whole cluster is down, which another alert says", false, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="zones"} 4000x120`, `shardboard_cluster_up{cluster="c"} 0x120`}},
	{"ShardboardPollOld", "another cluster is down", true, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="zones"} 4000x120`, `shardboard_cluster_up{cluster="c"} 1x120`,
			`shardboard_cluster_up{cluster="d"} 0x120`}},
	{"ShardboardPollOld", "rules are not evaluated any more, so alerts about problems stand still", true, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="problems"} 900x120`, `shardboard_cluster_up{cluster="c"} 1x120`}},
	{"ShardboardPollOld", "a replica that does not record history while another does", false, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="history",instance="a"} 4000x120`,
			`shardboard_poll_age_seconds{cluster="c",part="history",instance="b"} 3x120`}},
	{"ShardboardPartUnread", "not permitted, which another alert says", false, 0,
		[]string{`shardboard_poll_failing{cluster="c",part="moves"} 1x120`, `shardboard_poll_denied{cluster="c",part="moves"} 1x120`}},
	{"ShardboardPartUnread", "the cluster was never reached", false, 0,
		[]string{`shardboard_poll_failing{cluster="c",part="routing"} 1x120`, `shardboard_cluster_up{cluster="c"} 0x120`}},
	{"ShardboardJumboChunks", "somebody dismissed the problem", false, 0,
		[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s"} 1x120`,
			`shardboard_problems{cluster="c",rule="jumbo"} 0x120`}},
	{"ShardboardJumboChunks", "the rule cannot be checked", true, 0,
		[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s"} 1x120`,
			`shardboard_problems{cluster="c",rule="drift"} 0x120`}},
	{"ShardboardJumboChunks", "two replicas that both are not dismissed", true, 0,
		[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s",instance="a"} 1x120`,
			`shardboard_problems{cluster="c",rule="jumbo",instance="a"} 1x120`, `shardboard_problems{cluster="c",rule="jumbo",instance="b"} 0x120`}},
	{"ShardboardZoneViolations", "a new zone: the balancer moves its chunks", false, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 0x20 90x40 50x40 20x40`}},
	{"ShardboardZoneViolations", "new in the last hour", false, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 0x90 9x40`}},
	{"ShardboardZoneViolations", "the balancer waits for its active window", false, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 9x120`,
			`shardboard_balancer_window_seconds{cluster="c"} 14400x120`}},
	{"ShardboardZoneViolations", "its window has come and gone, and nothing was moved", true, time.Hour,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 9x120`,
			`shardboard_balancer_window_seconds{cluster="c"} 14400x120`}},
	{"ShardboardZoneViolations", "no window", true, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 9x120`,
			`shardboard_balancer_window_seconds{cluster="c"} 86400x120`}},
	{"ShardboardBalancerOff", "it waits for its active window", false, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 1x120`, `shardboard_balancer_window_seconds{cluster="c"} 14400x120`}},
	{"ShardboardBalancerOff", "off on purpose: somebody dismissed the problem", false, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 0x120`, `shardboard_problems{cluster="c",rule="balancer-off"} 0x120`,
			`shardboard_problems{cluster="c",rule="balancing-paused"} 0x120`}},
	{"ShardboardBalancerOff", "off, and listed", true, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 0x120`, `shardboard_problems{cluster="c",rule="balancer-off"} 1x120`}},
	{"ShardboardBalancerOff", "a run left it off, which is another problem", true, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 0x120`, `shardboard_problems{cluster="c",rule="balancer-off"} 0x120`,
			`shardboard_problems{cluster="c",rule="balancing-paused"} 1x120`}},
	{"ShardboardMovesFailing", "one failure now and then", false, 0,
		[]string{`shardboard_move_failures_total{cluster="c",collection="db.x",shard="s"} 0x70 1x50`}},
	{"ShardboardMovesFailing", "a replica that starts counts from 0 again", false, 0,
		[]string{`shardboard_move_failures_total{cluster="c",collection="db.x",shard="s"} 40x80 0x40`}},
	{"ShardboardAlertsNotDelivered", "each replica knows of the same failures: one alert", true, 0,
		[]string{`shardboard_alert_failed_deliveries{receiver="r",instance="a"} 4x120`,
			`shardboard_alert_failed_deliveries{receiver="r",instance="b"} 4x120`}},
	{"ShardboardShardNearFull", "a shard that was removed", false, 0,
		[]string{`shardboard_shard_disk_used_bytes{cluster="c",shard="s"} 99x60 _x60`,
			`shardboard_shard_disk_size_bytes{cluster="c",shard="s"} 100x60 _x60`}},
}

func TestAlertsAreQuietInCalmStatesAndSeeTroubleWithoutSeries(t *testing.T) {
	all := rules(t)
	for _, s := range states {
		r, ok := all[s.alert]
		if !ok {
			t.Errorf("%s is no alert", s.alert)
			continue
		}
		if s.step == 0 {
			s.step = time.Minute
		}
		want := 0
		if s.fires {
			want = 1
		}
		if is := found(t, r, s.series, s.step); len(is) != want {
			t.Errorf("%s, %s: found %v; fires should be %t", s.alert, s.state, is, s.fires)
		}
	}
}
