package metrics

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"shardboard/internal/answer/problems"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// collection has n chunks on shards in turn; every tenth is jumbo.
func collection(ns topology.Namespace, n int, shards ...string) *topology.Collection {
	p, bounds := routing.Pattern("k"), make([]int64, n-1)
	for i := range bounds {
		bounds[i] = int64(i + 1)
	}
	rows := routing.Chunks(p, routing.Bounds(p, bounds...), shards...).Delta(nil)
	for i := range rows {
		rows[i].Jumbo = i%10 == 9
	}
	return &topology.Collection{Meta: topology.Meta{NS: ns, Key: p}, Chunks: must.Get(topology.BuildChunks(p, rows))}
}

// table has all parts read at epoch, and shards of these names.
func table(shards ...string) *topology.Table {
	t := &topology.Table{ClusterID: "65e1c0ffee00000000000001", Seq: 7, Loaded: true, Built: epoch,
		ServerInfo: topology.ServerInfo{Version: "5.0.7"}, Health: map[topology.Part]topology.Health{},
		Sizes: map[topology.Namespace]topology.Sizes{}, Balancer: topology.Balancer{Known: true, Mode: "full", StatusKnown: true}}
	for _, p := range problems.AllParts {
		t.Health[p] = topology.Health{At: epoch}
	}
	for _, s := range shards {
		t.Shards = append(t.Shards, topology.Shard{Name: s})
	}
	return t
}

func known(n int64) topology.Figure {
	return topology.Figure{Known: true, Exact: true, Value: n, Method: "collStats", At: epoch}
}

// sized gives each shard some bytes and documents of a collection.
func sized(t *topology.Table, ns topology.Namespace, bytes ...int64) {
	all := topology.Sizes{NS: ns, At: epoch, Shards: map[string]topology.Size{}}
	for i, n := range bytes {
		all.Shards[t.Shards[i].Name] = topology.Size{Bytes: known(n), Documents: known(n / 10), Storage: known(n / 2), Indexes: known(n / 4)}
	}
	t.Sizes[ns] = all
}

func sources(t *topology.Table) Sources {
	return Sources{Table: func() *topology.Table { return t }, Now: func() time.Time { return epoch.Add(5 * time.Second) }}
}

// scrape is what Prometheus reads: by name and labels, as in its text.
func scrape(t testing.TB, collectors ...prometheus.Collector) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, f := range parse(t, text(t, collectors...)) {
		for _, m := range f.GetMetric() {
			labels := ""
			for _, l := range m.GetLabel() {
				labels += fmt.Sprintf(",%s=%q", l.GetName(), l.GetValue())
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue()
			out[f.GetName()+"{"+labels[min(1, len(labels)):]+"}"] = value
		}
	}
	return out
}

func text(t testing.TB, collectors ...prometheus.Collector) []byte {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(collectors...)
	families, err := reg.Gather()
	must.Do(t, err)
	var out bytes.Buffer
	for _, f := range families {
		must.Do(t, must.Err(expfmt.MetricFamilyToText(&out, f)))
	}
	return out.Bytes()
}

func parse(t testing.TB, text []byte) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(text))
	must.That(t, err == nil, "/metrics cannot be parsed: %v", err)
	return families
}

const id = `cluster="65e1c0ffee00000000000001"`
