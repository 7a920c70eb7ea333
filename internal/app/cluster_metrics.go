package app

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// clusterLabel tells the clusters of a server apart in its metrics.
const clusterLabel = "cluster"

// ofCluster gathers the metrics of one cluster and writes its name into each. The parts that count
// know nothing of other clusters, so a server of one cluster needs no label.
type ofCluster struct {
	name string
	from prometheus.Gatherer
}

// Gather implements prometheus.Gatherer.
func (g ofCluster) Gather() ([]*dto.MetricFamily, error) {
	families, err := g.from.Gather()
	for _, f := range families {
		for _, m := range f.Metric {
			m.Label = g.labelled(m.Label)
		}
	}
	return families, err
}

// labelled replaces the id that some metrics have in this label: people know clusters by name.
func (g ofCluster) labelled(list []*dto.LabelPair) []*dto.LabelPair {
	label, name := clusterLabel, g.name
	list = slices.DeleteFunc(slices.Clone(list), func(p *dto.LabelPair) bool { return p.GetName() == label })
	list = append(list, &dto.LabelPair{Name: &label, Value: &name})
	slices.SortFunc(list, func(a, b *dto.LabelPair) int {
		if a.GetName() < b.GetName() {
			return -1
		}
		return 1
	})
	return list
}

// gatherer gathers the metrics of the server and of all clusters.
func (s *clusters) gatherer(server prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return append(prometheus.Gatherers{server}, s.gatherers()...).Gather()
	})
}
