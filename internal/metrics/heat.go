package metrics

import (
	"cmp"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// hottest is how many projects have series.
const hottest = 10

var (
	shardWrites = gauge("shard_estimated_writes_per_second",
		"Writes per second that shardboard counted on a shard in the last five minutes, in the collections whose new rows it counts. "+
			"Estimated where it counts samples.", "shard")
	shardHeat = gauge("shard_estimated_heat_ratio",
		"Part of all counted writes of the last five minutes that went to a shard, 0 to 1.", "shard")
	writesOn = gauge("collection_estimated_writes_per_second",
		"Counted writes per second of a collection on a shard in the last five minutes.",
		"collection", "shard")
	heatOn = gauge("collection_estimated_heat_ratio",
		"Part of a collection's counted writes of the last five minutes that went to a shard, 0 to 1.",
		"collection", "shard")

	operations = counter("collection_operations_total",
		"Operations that a shard's primary counted for a collection since its start: reads, writes, commands. Only of collections whose writes "+
			"shardboard counts.", "collection", "shard", "kind")
	operationTime = counter("collection_operation_seconds_total", "Time that a shard's primary spent on these operations.",
		"collection", "shard", "kind")

	projectWrites = gauge("hot_project_estimated_writes_per_second",
		"Counted writes per second of the ten hottest projects in the last five minutes. The labels follow --metrics-projects.", "rank")
	projectHeat = gauge("hot_project_estimated_heat_ratio",
		"Part of all counted writes of the last five minutes that a hot project made, 0 to 1.",
		"rank")
	projectBytes = gauge("hot_project_estimated_data_bytes",
		"Bytes that a hot project holds on all shards, estimated from sampled rows.", "rank")
)

// perProject are the metrics whose labels follow ProjectLabels.
var perProject = []*definition{projectWrites, projectHeat, projectBytes}

// heat writes where writes go.
func (c *Cluster) heat(s *series, t *topology.Table) {
	if c.from.Heat == nil {
		return
	}
	var windows []heat.Window
	for _, ns := range c.from.Heat.Counted(t) {
		if w := c.from.Heat.Window(ns, answer.DefaultWindow); w.Seconds > 0 {
			windows = append(windows, w)
		}
	}
	slices.SortStableFunc(windows, func(a, b heat.Window) int { return cmp.Compare(b.Total.PerSecond, a.Total.PerSecond) })
	shown := windows[:min(len(windows), collectionsShown(len(t.Shards)))]
	lines := map[topology.Namespace][]heat.Line{}
	for _, w := range windows {
		lines[w.NS] = w.Shards(t, c.from.Profile)
	}
	for _, w := range shown {
		ns := labelOf(string(w.NS))
		for _, l := range lines[w.NS] {
			if i := shardIndex(t, l.Shard); i < 0 || i >= maxShards {
				continue
			}
			s.set(writesOn, l.Rate.PerSecond, ns, labelOf(l.Shard))
			if w.Total.PerSecond > 0 {
				s.set(heatOn, l.Rate.Share, ns, labelOf(l.Shard))
			}
		}
		c.operations(s, t, w.NS)
	}
	total := 0.0
	for _, w := range windows {
		total += w.Total.PerSecond
	}
	for _, sum := range heat.Sums(windows, func(w heat.Window) []heat.Line { return lines[w.NS] }) {
		if i := shardIndex(t, sum.Line.Shard); i < 0 || i >= maxShards {
			continue
		}
		s.set(shardWrites, sum.Line.Rate.PerSecond, labelOf(sum.Line.Shard))
		if total > 0 {
			s.set(shardHeat, sum.Line.Rate.Share, labelOf(sum.Line.Shard))
		}
	}
	if c.from.Projects != ProjectsNone {
		c.hotProjects(s, t, windows)
	}
}

// operations writes the shards' own counters.
func (c *Cluster) operations(s *series, t *topology.Table, ns topology.Namespace) {
	name := labelOf(string(ns))
	for shard, o := range c.from.Heat.Operations(ns) {
		if i := shardIndex(t, shard); i < 0 || i >= maxShards {
			continue
		}
		label := labelOf(shard)
		s.set(operations, float64(o.Reads), name, label, "reads")
		s.set(operations, float64(o.Writes), name, label, "writes")
		s.set(operations, float64(o.Commands), name, label, "commands")
		s.set(operationTime, o.ReadTime.Seconds(), name, label, "reads")
		s.set(operationTime, o.WriteTime.Seconds(), name, label, "writes")
		s.set(operationTime, o.CommandTime.Seconds(), name, label, "commands")
	}
}

// hotProjects writes the projects that write most.
func (c *Cluster) hotProjects(s *series, t *topology.Table, windows []heat.Window) {
	sums := heat.Sums(windows, heat.Window.Projects)
	seen := map[string]bool{} // ids of two databases may be the same
	rank := 0
	for _, sum := range sums {
		if rank == hottest || sum.Line.Rate.Rows == 0 {
			return
		}
		labels := c.projectLabels(rank+1, sum)
		if seen[labels[0]] {
			continue
		}
		rank, seen[labels[0]] = rank+1, true
		s.set(projectWrites, sum.Line.Rate.PerSecond, labels...)
		s.set(projectHeat, sum.Line.Rate.Share, labels...)
		if c.from.Holdings == nil {
			continue
		}
		if h := c.from.Holdings(t); h != nil {
			if f, ok := h.Sum(sum.DB, sum.Line.Project); ok && !f.Unknown {
				s.set(projectBytes, float64(f.Bytes.Value), labels...)
			}
		}
	}
}

func (c *Cluster) projectLabels(rank int, of heat.Sum) []string {
	id := of.Line.Project.Hex()
	switch c.from.Projects {
	case ProjectsID:
		return []string{id}
	case ProjectsName:
		name := id
		if c.from.Directory != nil {
			if p, ok := c.from.Directory().In(of.DB, of.Line.Project); ok {
				name = answer.NameOf(p)
			}
		}
		return []string{id, labelOf(name)}
	}
	return []string{strconv.Itoa(rank)}
}

func shardIndex(t *topology.Table, name string) int {
	return slices.IndexFunc(t.Shards, func(s topology.Shard) bool { return s.Name == name })
}
