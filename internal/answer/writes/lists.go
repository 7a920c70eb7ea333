package writes

import (
	"cmp"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// HeatProjects are the projects that write.
func HeatProjects(v answer.View, h HeatSource, _ HeatListQuery, windows []heat.Window) (out []api.Heat) {
	for _, sum := range heat.Sums(windows, heat.Window.Projects) {
		line := heatSum(sum, windows)
		line.ID, line.Name = sum.Line.Project.Hex(), v.ProjectName(sum.DB, sum.Line.Project)
		for _, u := range h.Counts.Updated(sum.DB, sum.Line.Project) {
			line.Updated = append(line.Updated, api.HeatUpdated{
				NS: string(u.NS), From: api.Time(u.From), To: api.Time(u.To), Rows: u.Rows, AtLeastRowsPerSecond: u.PerSecond(),
			})
		}
		out = append(out, line)
	}
	return out
}

// HeatProjectShards are the projects that write, by the shards that take their writes. A line without a shard has rows
// that several shards may have.
func HeatProjectShards(v answer.View, _ HeatSource, _ HeatListQuery, windows []heat.Window) (out []api.Heat) {
	type project struct {
		db string
		id bson.ObjectID
	}
	ofProject, onShard := map[project]float64{}, map[string]float64{}
	sums := heat.Sums(windows, func(w heat.Window) []heat.Line { return w.ProjectShards(v.Table, v.Profile) })
	for _, sum := range sums {
		ofProject[project{sum.DB, sum.Line.Project}] += sum.Line.Rate.PerSecond
		onShard[sum.Line.Shard] += sum.Line.Rate.PerSecond
	}
	for _, sum := range sums {
		line := heatSum(sum, windows)
		line.ID, line.Shard = sum.Line.Project.Hex(), sum.Line.Shard
		line.Name = v.ProjectName(cmp.Or(sum.DB, topology.Namespace(line.NS).Database()), sum.Line.Project)
		if all := ofProject[project{sum.DB, sum.Line.Project}]; all > 0 {
			share := line.WritesPerSecond / all
			line.ProjectShare = &share
		}
		if all := onShard[sum.Line.Shard]; all > 0 && line.Shard != "" {
			share := line.WritesPerSecond / all
			line.ShardShare = &share
		}
		out = append(out, line)
	}
	return out
}

// HeatDocuments are the Yorkie documents that are written to.
func HeatDocuments(v answer.View, _ HeatSource, _ HeatListQuery, windows []heat.Window) (out []api.Heat) {
	for _, sum := range heat.Sums(windows, heat.Window.Documents) {
		line := heatSum(sum, windows)
		line.Project = sum.Line.Project.Hex()
		line.ProjectName = heatProjectName(v, topology.Namespace(line.NS), sum.Line.Project)
		if i := slices.IndexFunc(windows, func(w heat.Window) bool { return string(w.NS) == line.NS }); i >= 0 {
			line.ID, line.Shard = windows[i].DocumentText(sum.Line.Document), windows[i].OwnerOf(v.Table, v.Profile, sum.Line)
		}
		out = append(out, line)
	}
	return out
}

// HeatShards are the shards that take the writes, with their own counters.
func HeatShards(v answer.View, h HeatSource, _ HeatListQuery, windows []heat.Window) (out []api.Heat) {
	shards := func(w heat.Window) []heat.Line { return w.Shards(v.Table, v.Profile) }
	for _, sum := range heat.Sums(windows, shards) {
		line := heatSum(sum, windows)
		line.ID, line.Name, line.Shard = sum.Line.Shard, sum.Line.Shard, sum.Line.Shard
		var loads []heat.Load
		for _, w := range windows {
			if c := v.Table.Collection(w.NS); c != nil && c.Chunks.CountByShard()[sum.Line.Shard] > 0 { // others are not read
				loads = append(loads, h.Counts.Load(w.NS)[sum.Line.Shard])
			}
		}
		if o := heat.Together(loads); o.Known {
			readMillis, writeMillis := float64(o.ReadLatency)/float64(time.Millisecond), float64(o.WriteLatency)/float64(time.Millisecond)
			line.ReadsPerSecond, line.WriteOperationsPerSecond = &o.ReadsPerSecond, &o.WritesPerSecond
			line.ReadMillis, line.WriteMillis = &readMillis, &writeMillis
			line.OperationsFrom, line.OperationsTo = api.Time(o.From), api.Time(o.To)
		}
		out = append(out, line)
	}
	return out
}

// heatSum is one line of several windows. Its time includes windows in which it has nothing.
func heatSum(sum heat.Sum, windows []heat.Window) api.Heat {
	out := rateOnly(sum.Line.Rate)
	for _, w := range windows {
		if sum.DB != "" && sum.DB != w.NS.Database() {
			continue
		}
		one := rateIn(w, w.Total)
		if out.NS == "" {
			out.NS, out.Counts, out.From, out.To, out.CoveredSeconds = one.NS, one.Counts, one.From, one.To, one.CoveredSeconds
			continue
		}
		out.CoveredSeconds = min(out.CoveredSeconds, one.CoveredSeconds)
		if one.From != nil && (out.From == nil || one.From.Before(*out.From)) {
			out.From = one.From
		}
		if one.To != nil && (out.To == nil || one.To.After(*out.To)) {
			out.To = one.To
		}
	}
	for i, p := range sum.Parts {
		if i == 0 {
			out.NS = string(p.NS)
		}
		part := rateOnly(p.Rate)
		out.Parts = append(out.Parts, api.HeatPart{NS: string(p.NS), WritesPerSecond: part.WritesPerSecond, PlusMinus: part.PlusMinus,
			Exact: part.Exact, AtLeast: part.AtLeast, Share: part.Share})
	}
	if len(windows) == 1 {
		out.Parts = nil // the same as the line
	}
	return out
}

// rateIn is a rate in one window.
func rateIn(w heat.Window, r heat.Rate) api.Heat {
	out := rateOnly(r)
	out.NS, out.Counts, out.From, out.To, out.CoveredSeconds = string(w.NS), w.Method.String(), api.Time(w.From), api.Time(w.To), w.Seconds
	return out
}

func rateOnly(r heat.Rate) api.Heat {
	out := api.Heat{WritesPerSecond: r.PerSecond, Exact: r.Exact, AtLeast: r.AtLeast, Share: r.Share}
	if r.PlusMinus > 0 {
		out.PlusMinus = &r.PlusMinus
	}
	return out
}

// heatProjectName is a project's name, or its id where no name is known.
func heatProjectName(v answer.View, ns topology.Namespace, id bson.ObjectID) string {
	return cmp.Or(v.ProjectName(ns.Database(), id), id.Hex())
}
