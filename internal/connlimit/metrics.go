package connlimit

import "github.com/prometheus/client_golang/prometheus"

// Metrics exports listeners to Prometheus. Its labels have few values, none of which a client can
// choose.
type Metrics []*Listener

var (
	openDesc = prometheus.NewDesc(
		"shardboard_connections",
		"Open connections by what they are doing: new (no request yet), idle, active, socket.",
		[]string{"listener", "state"},
		nil,
	)
	maxDesc = prometheus.NewDesc(
		"shardboard_connections_max",
		"Most connections that may be open (--max-connections).",
		[]string{"listener"},
		nil,
	)
	evictedDesc = prometheus.NewDesc(
		"shardboard_connections_evicted_total",
		"Connections that were closed to make room for new ones, by the bound that was reached: of all (total) or of one address (source).",
		[]string{"listener", "bound"},
		nil,
	)
	refusedDesc = prometheus.NewDesc(
		"shardboard_connections_refused_total",
		"New connections that were closed because there was no room and none could be made, by the bound that was reached.",
		[]string{"listener", "bound"},
		nil,
	)
)

// Describe implements prometheus.Collector.
func (m Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{openDesc, maxDesc, evictedDesc, refusedDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m Metrics) Collect(out chan<- prometheus.Metric) {
	for _, l := range m {
		name := l.o.Name
		now := l.Stats()
		for state, n := range now.states {
			out <- prometheus.MustNewConstMetric(openDesc, prometheus.GaugeValue, float64(n), name, stateNames[state])
		}
		out <- prometheus.MustNewConstMetric(maxDesc, prometheus.GaugeValue, float64(l.o.Max), name)
		for why := range reasons {
			out <- prometheus.MustNewConstMetric(evictedDesc, prometheus.CounterValue, float64(now.evicted[why]), name, reasonNames[why])
			out <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(now.refused[why]), name, reasonNames[why])
		}
	}
}

// Stats are the current figures of a listener.
type Stats struct {
	Open             int
	Evicted, Refused int64 // since the start
	states           [states]int
	evicted, refused counts
}

// Stats returns the current figures.
func (l *Listener) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Open: l.open, states: l.states, evicted: l.evicted, refused: l.refused,
		Evicted: l.evicted[byTotal] + l.evicted[bySource], Refused: l.refused[byTotal] + l.refused[bySource]}
}
