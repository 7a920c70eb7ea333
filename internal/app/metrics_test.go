package app

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/memory"
	"shardboard/internal/topology"
)

// metrics reads and parses /metrics.
func (d *demo) metrics(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	_, body := d.get(t, "metrics")
	return parsedMetrics(t, bytes.NewReader(body))
}

func parsedMetrics(t *testing.T, text io.Reader) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(text)
	must.That(t, err == nil, "/metrics cannot be parsed: %v", err)
	return families
}

// metricRow is a metric of the server as docs/metrics.md lists it.
func metricRow(f *dto.MetricFamily) string {
	labels := map[string]bool{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = true
		}
	}
	unit := ""
	for _, u := range []string{"bytes", "seconds"} {
		if strings.HasSuffix(f.GetName(), "_"+u) {
			unit = u
		}
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()),
		strings.Join(slices.Sorted(maps.Keys(labels)), ", "), unit, f.GetHelp())
}

// SHARDBOARD_UPDATE=1 writes the table of the server's metrics.
func TestMetricsOfARunningServerAreDocumented(t *testing.T) {
	only.Long(t, "starts a whole demo twice")
	d := startDemo(t, quietCluster(), topology.Options{})
	d.stop(t)
	var err error
	d.config.Alerts, err = ParseAlerts("test", "targets:\n- {name: on-call, format: generic, url: \"http://127.0.0.1:9/\"}\n")
	must.Do(t, err)
	d.config.MemoryLimit = memory.Limit{Bytes: 8 << 30, From: "--memory-limit"}
	d.serve(t)
	d.waitReady(t)
	expect.That(t, eventually(settledWithin, func() bool { return d.metrics(t)["shardboard_shard_data_bytes"] != nil }),
		"there is no placement")
	text := must.Get(os.ReadFile("../../docs/metrics.md"))
	server := ""
	for _, f := range sortedFamilies(d.metrics(t)) {
		if strings.HasPrefix(f.GetName(), "go_") || strings.HasPrefix(f.GetName(), "process_") {
			continue
		}
		ofCluster := true
		for _, m := range f.GetMetric() {
			ofCluster = ofCluster && slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "cluster" })
		}
		if !ofCluster {
			server += metricRow(f)
			continue
		}
		expect.That(t, strings.Contains(string(text), "| `"+f.GetName()+"` | "+strings.ToLower(f.GetType().String())+" |"),
			"%s is not documented", f.GetName())
	}
	before, rest, _ := strings.Cut(string(text), "<!-- server -->\n")
	is, after, _ := strings.Cut(rest, "<!-- end -->")
	want := "| name | type | labels | unit | meaning |\n|---|---|---|---|---|\n" + server
	if os.Getenv("SHARDBOARD_UPDATE") != "" {
		is = want
		must.Do(t, os.WriteFile("../../docs/metrics.md", []byte(before+"<!-- server -->\n"+want+"<!-- end -->"+after), 0o644))
	}
	expect.Equal(t, is, want, "the table of the server's metrics differs; run with SHARDBOARD_UPDATE=1. Expected:\n%s", want)

	// Projects have no names or ids where nobody allowed them.
	_, body := d.get(t, "metrics")
	for _, p := range d.app.current().only.now().keeper.Directory().All() {
		expect.That(t, !bytes.Contains(body, []byte(p.ID.Hex())) && (len(p.Name) <= 5 || !bytes.Contains(body, []byte(`"`+p.Name+`"`))),
			"/metrics names the project %s", p.Name)
	}

	// A cluster that is gone is down, and what was known of it stays with its age.
	d.stopCluster(t)
	value := func(name string) float64 {
		if f := d.metrics(t)[name]; f != nil {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
		return -1
	}
	if !eventually(settledWithin, func() bool { return value("shardboard_cluster_up") == 0 }) || value("shardboard_shards") < 1 {
		t.Errorf("of a cluster that is gone: up %v, %v shards", value("shardboard_cluster_up"), value("shardboard_shards"))
	}
	d.restartCluster(t, quietCluster()) // for the end of the test
}

func sortedFamilies(by map[string]*dto.MetricFamily) (out []*dto.MetricFamily) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[name])
	}
	return out
}
