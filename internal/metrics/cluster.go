package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shardboard/internal/actions/engine"
	"shardboard/internal/heat"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Sources are what the metrics of one cluster are read from. What is nil is not known, and has no series.
type Sources struct {
	// Name is the cluster's in the configuration, and the value of the label cluster. Where it is empty, the label
	// has the cluster's id, and no value while that is not known.
	Name     string
	Projects ProjectLabels // "" is ProjectsRank
	Table    func() *topology.Table
	Now      func() time.Time // nil is time.Now

	Directory func() *placement.Directory
	Profile   *profile.Profile
	Heat      *heat.Collector
	Holdings  func(*topology.Table) *holdings.Snapshot
	Recorded  func() time.Time // until when placement history is recorded
	Rules     func() rules.Report
	Costs     func() map[string]Cost
	Runs      func() engine.RunCounts
	Moves     *Moves
}

// Cost is what commands of one name have cost since the start.
type Cost struct {
	Commands, Failures, Documents, RequestBytes, ReplyBytes int64
}

// Cluster is a prometheus.Collector of one cluster. Safe for concurrent use.
type Cluster struct {
	from  Sources
	descs map[*definition]*prometheus.Desc
}

// NewCluster makes the collector of one cluster. Several can be registered when each has another Name.
func NewCluster(from Sources) *Cluster {
	if from.Now == nil {
		from.Now = time.Now
	}
	if from.Projects == "" {
		from.Projects = ProjectsRank
	}
	c := &Cluster{from: from, descs: map[*definition]*prometheus.Desc{}}
	for _, d := range definitions {
		labels := slices.Clone(d.labels)
		if slices.Contains(perProject, d) {
			if from.Projects == ProjectsNone {
				continue
			}
			labels = from.Projects.labels()
		}
		constant := prometheus.Labels{"cluster": from.Name}
		if from.Name == "" {
			constant, labels = nil, append([]string{"cluster"}, labels...)
		}
		c.descs[d] = prometheus.NewDesc("shardboard_"+d.name, d.help, labels, constant)
	}
	return c
}

// Describe is for prometheus.Collector.
func (c *Cluster) Describe(out chan<- *prometheus.Desc) {
	for _, d := range definitions {
		if desc := c.descs[d]; desc != nil {
			out <- desc
		}
	}
}

// Collect is for prometheus.Collector.
func (c *Cluster) Collect(out chan<- prometheus.Metric) {
	t := c.from.Table()
	s := &series{out: out, of: c, cluster: t.ClusterID, left: MaxSeries - 1} // one is left for seriesDropped
	now := c.from.Now()
	c.health(s, t, now)
	if t.Loaded {
		c.placement(s, t, now)
		c.heat(s, t)
	}
	if c.from.Moves != nil {
		c.from.Moves.collect(s)
	}
	s.left = 1
	s.set(seriesDropped, float64(s.dropped))
}

var seriesDropped = gauge("metrics_dropped_series",
	"Series of this cluster that the last scrape left out because there were too many. More than 0 is a defect.")
