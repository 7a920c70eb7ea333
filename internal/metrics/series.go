package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"shardboard/internal/topology"
)

// Bounds of what one cluster adds to /metrics. A pair is a collection on a shard, which has up to two dozen series.
const (
	MaxSeries      = 30_000
	maxPairs       = 1_000
	maxCollections = 100
	maxShards      = 200
)

// collectionsShown is how many collections have series of their own, so that pairs are bounded.
func collectionsShown(shards int) int {
	return min(maxCollections, max(1, maxPairs/max(shards, 1)))
}

// series writes one scrape.
type series struct {
	out     chan<- prometheus.Metric
	of      *Cluster
	cluster string // value of the label where it is not constant
	left    int
	dropped int
}

// set writes one value.
func (s *series) set(d *definition, value float64, labels ...string) {
	if s.left == 0 {
		s.dropped++
		return
	}
	s.left--
	if s.of.from.Name == "" {
		labels = append([]string{s.cluster}, labels...)
	}
	s.out <- prometheus.MustNewConstMetric(s.of.descs[d], d.kind, value, labels...)
}

// figure writes a figure that is known.
func (s *series) figure(d *definition, f topology.Figure, labels ...string) {
	if f.Known {
		s.set(d, float64(f.Value), labels...)
	}
}

// flag writes 1 or 0.
func (s *series) flag(d *definition, is bool, labels ...string) {
	value := 0.0
	if is {
		value = 1
	}
	s.set(d, value, labels...)
}
