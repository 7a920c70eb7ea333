package metrics

import "github.com/prometheus/client_golang/prometheus"

// Unusable is a prometheus.Collector of a cluster that has no parts, such as one whose credentials cannot be read: it
// is down, and nothing else is known.
type Unusable struct{ desc *prometheus.Desc }

// NewUnusable makes the collector of the cluster with this name.
func NewUnusable(name string) Unusable {
	return Unusable{prometheus.NewDesc("shardboard_"+clusterUp.name, clusterUp.help, nil, prometheus.Labels{"cluster": name})}
}

// Describe is for prometheus.Collector.
func (u Unusable) Describe(out chan<- *prometheus.Desc) { out <- u.desc }

// Collect is for prometheus.Collector.
func (u Unusable) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(u.desc, clusterUp.kind, 0)
}
