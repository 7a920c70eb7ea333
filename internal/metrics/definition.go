package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// definition is one metric of a cluster. Every series has the label cluster, too.
type definition struct {
	name   string // without "shardboard_"
	help   string
	kind   prometheus.ValueType
	labels []string
}

// definitions are all metrics of a cluster, in the order of docs/metrics.md.
var definitions []*definition

func gauge(name, help string, labels ...string) *definition {
	return define(name, help, prometheus.GaugeValue, labels)
}

func counter(name, help string, labels ...string) *definition {
	return define(name, help, prometheus.CounterValue, labels)
}

func define(name, help string, kind prometheus.ValueType, labels []string) *definition {
	d := &definition{name, help, kind, labels}
	definitions = append(definitions, d)
	return d
}

// ProjectLabels says what tells projects apart in metrics, which are read without sign-in.
type ProjectLabels string

// The choices.
const (
	ProjectsNone ProjectLabels = "none" // no metrics of single projects
	ProjectsRank ProjectLabels = "rank" // 1 to 10: how hot, and not who
	ProjectsID   ProjectLabels = "id"
	ProjectsName ProjectLabels = "name" // the name, and the id
)

// labels are those of a project's series.
func (p ProjectLabels) labels() []string {
	switch p {
	case ProjectsID:
		return []string{"project"}
	case ProjectsName:
		return []string{"project", "name"}
	}
	return []string{"rank"}
}
