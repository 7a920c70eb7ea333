package writes

import (
	"cmp"
	"slices"
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// HeatChunks are the chunks that take the writes, with what a split of each would do and the plan that helps: those
// of the page and the next one, since each costs more than its rate.
func HeatChunks(v answer.View, h HeatSource, q HeatListQuery, windows []heat.Window) (out []api.Heat) {
	type chunk struct {
		window int
		heat.Line
	}
	var hottest []chunk
	for i, w := range windows {
		for _, line := range w.Chunks(v.Table, v.Profile) {
			hottest = append(hottest, chunk{i, line})
		}
	}
	slices.SortStableFunc(hottest, func(a, b chunk) int { return cmp.Compare(b.Rate.PerSecond, a.Rate.PerSecond) })
	hottest = First(hottest[min(q.Begin, len(hottest)):], q.Limit+1)
	rates := sync.OnceValue(func() map[string]float64 { return ShardWrites(v, h, q) })
	for i, w := range windows {
		var lines []heat.Line
		for _, c := range hottest {
			if c.window == i {
				lines = append(lines, c.Line)
			}
		}
		if len(lines) > 0 {
			out = append(out, heatChunkLines(v, h, w, lines, rates)...)
		}
	}
	return out
}

// heatChunkLines are chunks of one collection.
func heatChunkLines(v answer.View, h HeatSource, w heat.Window, lines []heat.Line, rates func() map[string]float64) (out []api.Heat) {
	c := v.Table.Collection(w.NS)
	onShard := map[string]float64{}
	for _, l := range w.Shards(v.Table, v.Profile) {
		onShard[l.Shard] = l.Rate.PerSecond
	}
	splits := w.Splittings(v.Table, v.Profile, lines)
	for i, l := range lines {
		line := heatChunk(v, w, c, l)
		if all := onShard[line.Shard]; all > 0 {
			share := l.Rate.PerSecond / all
			line.ShardShare = &share
		}
		line.Takes, line.Writers = chunkTakes(w, line), chunkWriters(v, w, l)
		line.Split, line.Why = splits[i].Code, SplitText(v, c, splits[i]).String()
		if splits[i].Can || splits[i].Code != "unknown" {
			line.CanSplit = &splits[i].Can
		}
		line.Plan, line.NoMove = heatPlan(v, h, c, l, splits[i], rates)
		out = append(out, line)
	}
	return out
}

// heatChunk is one chunk with its bounds and the rate of its writes.
func heatChunk(v answer.View, w heat.Window, c *topology.Collection, l heat.Line) api.Heat {
	chunk := c.Chunks.At(l.Chunk)
	out := rateIn(w, l.Rate)
	out.ID, out.Shard, out.Projects = answer.ChunkRef(c, chunk.Min), chunk.Shard, &l.Projects
	out.Bounds = &api.HeatBounds{Min: answer.KeyOf(c.Key, chunk.Min), Max: answer.KeyOf(c.Key, chunk.Max)}
	out.Key, out.Number, out.Of = answer.ChunkKey(c.Key, chunk.Min), l.Chunk+1, c.Chunks.Len()
	if !l.Since.IsZero() {
		out.Since = api.Time(l.Since)
	}
	if !l.Top.IsZero() {
		out.Top, out.TopShare, out.TopName = l.Top.Hex(), &l.TopShare, v.ProjectName(w.NS.Database(), l.Top)
	}
	return out
}

// chunkTakes says which part of the writes to its shard and collection a chunk takes.
func chunkTakes(w heat.Window, line api.Heat) message.Message {
	pattern := "takes {share} of the writes to {name} on {shard}: {rate}/s, {all} of all writes to the collection."
	if w.Method == heat.ChangedRows {
		pattern = "takes {share} of the changed rows of {name} counted on {shard}: {rate}/s, " +
			"{all} of those counted in the collection."
	}
	if line.Since != nil {
		pattern += " It is counted since the split at {split}: keys of earlier writes are not known."
	}
	share := 0.0
	if line.ShardShare != nil {
		share = *line.ShardShare
	}
	return message.New("takes", pattern,
		message.Share("share", share), message.Shard("shard", line.Shard), message.Text("name", w.NS.Collection()),
		message.Words("rate", HeatRateText(line)), message.Share("all", line.Share), sinceFact(line))
}

// sinceFact is when the split was since which a chunk is counted.
func sinceFact(line api.Heat) message.Fact {
	if line.Since == nil {
		return message.Words("split", "")
	}
	return message.Words("split", format.Clock(*line.Since))
}

// chunkWriters says how many projects write to a chunk, and which writes most.
func chunkWriters(v answer.View, w heat.Window, l heat.Line) message.Message {
	if l.Projects == 0 {
		return message.Message{}
	}
	pattern := message.Plural(l.Projects, "All of its writes come from {project}.",
		"{n} projects write to it; {share} of the writes come from {project}.")
	if w.Method == heat.ChangedRows {
		pattern = message.Plural(l.Projects, "Of the counted projects, only {project} writes to it.",
			"{n} of the counted projects write to it; {share} of the writes come from {project}.")
	}
	return message.New("writers", v.Profile.Words(pattern), message.Count("n", l.Projects), message.Share("share", l.TopShare),
		message.Project("project", l.Top.Hex(), heatProjectName(v, w.NS, l.Top)))
}

// ShardWrites is what each shard takes of all collections whose new rows are
// counted; nil when nothing was counted. A shard without an entry takes nothing.
func ShardWrites(v answer.View, h HeatSource, q HeatListQuery) map[string]float64 {
	windows, err := heatWindows(v, h, HeatListQuery{Window: q.Window})
	counted := false
	for _, w := range windows {
		counted = counted || w.Seconds > 0
	}
	if err != nil || !counted {
		return nil
	}
	out := map[string]float64{}
	for _, sum := range heat.Sums(windows, func(w heat.Window) []heat.Line { return w.Shards(v.Table, v.Profile) }) {
		out[sum.Line.Shard] = sum.Line.Rate.PerSecond
	}
	return out
}
