package writes

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// HeatHelp is what helps against the writes of a selection, or why nothing does. It is made of the newest window,
// because a plan changes what is written next and not what was written then.
type HeatHelp struct {
	Lead     message.Message
	Together *api.HeatPlan // one plan for several chunks; nil: there is none
	Chunks   []api.Heat    // hot chunks with what a split of each would do, and the plan that helps
	Projects []HeatProjectHelp
}

// HeatProjectHelp is a project that takes most of the writes, with what can be done about it.
type HeatProjectHelp struct {
	ID, Name string
	Share    float64 // of the selection
	Offers   []api.Offer
}

const (
	// helpedChunks is how many hot chunks of a selection are described.
	helpedChunks = 3
	// togetherChunks is how many chunks one plan splits at most.
	togetherChunks = 16
	// mostWrites is the share of a selection from which on one project is the reason for its heat.
	mostWrites = 0.5
)

// rangeHelp is what helps the chunks [from, to) of a collection.
func rangeHelp(v answer.View, h HeatSource, c *topology.Collection, q HeatQuery, from, to int, writers []api.Heat) (out HeatHelp) {
	list := HeatListQuery{NS: q.NS, Window: q.Window, Limit: helpedChunks}
	w := h.Counts.Window(q.NS, q.Window)
	window := message.Duration("window", q.Window)
	if w.Seconds == 0 {
		out.Lead = message.New("unknown", "The current writes here are not known, so no plan is suggested.")
		return out
	}
	inside := slices.DeleteFunc(w.Chunks(v.Table, v.Profile), func(l heat.Line) bool { return l.Chunk < from || l.Chunk >= to })
	if len(inside) == 0 {
		out.Lead = message.New("idle", "Nothing was written here in the last {window}, so no plan is needed now.", window)
		return out
	}
	limit := min(2/float64(c.Chunks.Len()), 0.5)
	hot := slices.DeleteFunc(inside, func(l heat.Line) bool { return l.Rate.Share <= limit })
	if len(hot) == 0 {
		out.Lead = message.New("even", "No chunk here took more than twice an even share ({share}) of the writes in the last {window}, "+
			"so no plan is needed.", message.Share("share", 1/float64(c.Chunks.Len())), window)
		return out
	}
	rates := sync.OnceValue(func() map[string]float64 { return ShardWrites(v, h, list) })
	out.Chunks = heatChunkLines(v, h, w, First(hot, helpedChunks), rates)
	out.Together = splitTogether(v, h, c, w, hot)
	if c.Key.Len() > 0 && !c.Key.Fields()[0].Hashed {
		out.Projects = projectsHelp(v, h, q, writers, rates())
	}
	out.Lead = helpLead(v, h, out, len(hot), window)
	return out
}

// helpLead says whether anything helps.
func helpLead(v answer.View, h HeatSource, help HeatHelp, hot int, window message.Fact) message.Message {
	n := message.Count("n", hot)
	can := help.Together != nil && help.Together.URL != ""
	for _, c := range help.Chunks {
		can = can || c.Plan != nil && c.Plan.URL != ""
	}
	for _, p := range help.Projects {
		can = can || slices.ContainsFunc(p.Offers, func(o api.Offer) bool { return o.URL != "" })
	}
	hotNow := message.Plural(hot, "One chunk here is hot now", "{n} chunks here are hot now") + " (last {window})"
	switch {
	case can:
		return message.New("helps", hotNow+". What helps:", n, window)
	case len(v.Table.Shards) < 2:
		return message.New("oneShard", hotNow+". There is only one shard, so writes cannot be divided between shards.", n, window)
	case !h.Plans:
		return message.New("noPlans", hotNow+". You cannot make plans here: your role, or --actions=off, does not allow it.", n, window)
	}
	return message.New("helpless", hotNow+", and no plan is known to help. Why:", n, window)
}

// splitTogether is one plan that splits all hot chunks of a selection whose writes a split divides; nil for fewer than
// two.
func splitTogether(v answer.View, h HeatSource, c *topology.Collection, w heat.Window, hot []heat.Line) *api.HeatPlan {
	if !h.Plans || len(v.Table.Shards) < 2 || c.Key.Hiding() != nil {
		return nil
	}
	hot = First(hot, togetherChunks)
	var split []int
	for i, s := range w.Splittings(v.Table, v.Profile, hot) {
		if s.HotCut() {
			split = append(split, hot[i].Chunk)
		}
	}
	if len(split) < 2 {
		return nil
	}
	slices.Sort(split)
	rate := 0.0
	for _, l := range hot {
		if slices.Contains(split, l.Chunk) {
			rate += l.Rate.PerSecond
		}
	}
	reason := fmt.Sprintf("%d chunks of %s take %s writes/s.", len(split), c.NS, format.PerSecond(rate))
	plan := &api.HeatPlan{Kind: string(actions.SplitHot), URL: HotChunkPlan(c, reason, split...),
		Text: "Plan to split all " + format.Count(int64(len(split))) + " where their writes are"}
	if h.Try != nil {
		TryHeatPlan(plan, h.Try)
	}
	return plan
}

// projectsHelp is what can be done about projects that take most of a selection's writes.
func projectsHelp(v answer.View, h HeatSource, q HeatQuery, writers []api.Heat, rates map[string]float64) (out []HeatProjectHelp) {
	all := 0.0
	for _, p := range writers {
		all += p.WritesPerSecond
	}
	for _, p := range writers {
		if all > 0 && p.WritesPerSecond/all >= mostWrites && h.Plans {
			out = append(out, HeatProjectHelp{ID: p.ID, Name: p.Name, Share: p.WritesPerSecond / all,
				Offers: projectOffers(v, h, q.NS.Database(), p.ID, rates)})
		}
	}
	return out
}

// projectOffers are to keep others away from a project's shard, and to spread it.
func projectOffers(v answer.View, h HeatSource, db, project string, rates map[string]float64) []api.Offer {
	offers := &offering.Offers{Table: v.Table, Try: h.Try}
	pairs := []string{"project", project, "db", db, "reason", "It makes most of the writes that the heat map shows there."}
	var out []api.Offer
	if to := leastWritten(v.Table, rates); to != "" {
		text := message.New("isolate", "Plan to isolate it on {shard}, which takes the fewest writes…", message.Text("shard", to)).String()
		out = append(out, offers.Add(actions.Isolate, text, offers.OneShard(), append(slices.Clone(pairs), "shard", to)...))
	}
	return append(out, offers.Add(actions.Spread, "Plan to spread it over the shards…", offers.OneShard(), pairs...))
}

// leastWritten is the shard with fewest writes that takes data; "" if writes are not known.
func leastWritten(t *topology.Table, rates map[string]float64) (best string) {
	if rates == nil {
		return ""
	}
	for _, s := range t.Shards {
		if !s.Draining && (best == "" || rates[s.Name] < rates[best]) {
			best = s.Name
		}
	}
	return best
}

// projectHelp is what can be done about the busiest of the selected projects.
func projectHelp(v answer.View, h HeatSource, c *topology.Collection, q HeatQuery, p keyvis.View, rows []int) (out HeatHelp) {
	window := message.Duration("window", q.Window)
	w := h.Counts.Window(q.NS, q.Window)
	var writing []api.Heat
	for _, l := range w.Projects() {
		if slices.ContainsFunc(rows, func(i int) bool { return p.IDs[i] == l.Project }) {
			line := rateIn(w, l.Rate)
			line.ID, line.Name = l.Project.Hex(), v.ProjectName(q.NS.Database(), l.Project)
			writing = append(writing, line)
		}
	}
	if len(writing) == 0 {
		out.Lead = message.New("idle", "None of them wrote in the last {window}, so no plan is needed now.", window)
		return out
	}
	busiest := writing[0]
	if !h.Plans {
		out.Lead = message.New("noPlans", "You cannot make plans here: your role, or --actions=off, does not allow it.")
		return out
	}
	list := HeatListQuery{NS: q.NS, Window: q.Window}
	out.Projects = []HeatProjectHelp{{ID: busiest.ID, Name: busiest.Name, Share: busiest.Share,
		Offers: projectOffers(v, h, q.NS.Database(), busiest.ID, ShardWrites(v, h, list))}}
	out.Lead = message.New("project", "{name} takes {share} of the writes to {ns} (last {window}).",
		message.Project("name", busiest.ID, cmp.Or(busiest.Name, busiest.ID)), message.Share("share", busiest.Share),
		message.Namespace("ns", c.NS), window)
	return out
}
