package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/metrics"
)

// ParseMetricsProjects reads which labels the metrics of single projects have.
func ParseMetricsProjects(text string) (metrics.ProjectLabels, error) {
	switch p := metrics.ProjectLabels(text); p {
	case metrics.ProjectsNone, metrics.ProjectsRank, metrics.ProjectsID, metrics.ProjectsName:
		return p, nil
	case "":
		return metrics.ProjectsRank, nil
	}
	return "", fault.New(fault.Invalid, "--metrics-projects must be none, rank, id or name, not %q.", text)
}

// waitingRequests is nil where all data is this process's own.
func (p *clusterParts) waitingRequests() prometheus.Collector {
	if !p.shared.Leader().Shared {
		return nil
	}
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "shardboard_store_requests_waiting", Help: "Requests of people at this replica that wait for the answer of the one that leads.",
	}, func() float64 { return float64(p.relay.Waiting()) })
}

// metrics are those of the cluster. Everything that they read must be there already.
func (p *clusterParts) metrics(client *cluster.Client, c ClusterConfig, projects metrics.ProjectLabels) *metrics.Cluster {
	p.moves = metrics.NewMoves(p.watcher)
	from := metrics.Sources{
		Projects:  projects,
		Table:     p.watcher.Table,
		Directory: p.keeper.Directory,
		Profile:   c.profile(),
		Heat:      p.heat,
		Holdings:  p.holdings.Snapshot,
		Rules:     p.advising.advisor.Last,
		Moves:     p.moves,
		Costs: func() map[string]metrics.Cost {
			out := map[string]metrics.Cost{}
			for name, of := range client.Costs() {
				out[name] = metrics.Cost(of)
			}
			return out
		},
	}
	if p.history.recorder != nil {
		from.Recorded = p.history.recorder.Noted
	}
	if p.engine != nil {
		from.Runs = p.engine.RunCounts
	}
	return metrics.NewCluster(from)
}
