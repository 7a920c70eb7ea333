package trying

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/chunksize"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/lab/growth"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// growthGroupsListed is how many groups an answer has.
const growthGroupsListed = 1000

// growthPlan is an input with what is computed from it.
type growthPlan struct {
	*growthInput
	plan *growth.Plan
}

func planGrowth(v answer.View, q GrowthQuery) (growthPlan, error) {
	in, err := growthInputOf(v, q)
	if err != nil {
		return growthPlan{}, err
	}
	p, err := growth.Compute(&in.in)
	return growthPlan{in, p}, fault.Wrap(fault.Invalid, err, "%v.", err)
}

// LabGrowth predicts what happens when shards are added or emptied and the data grows. It reads nothing but the
// view, and takes time in proportion to the chunks.
func LabGrowth(v answer.View, q GrowthQuery) (api.LabGrowth, error) {
	g, err := planGrowth(v, q)
	if err != nil {
		return api.LabGrowth{}, err
	}
	p := g.plan
	out := api.LabGrowth{Inputs: g.inputs, Moves: len(p.Moves), Bytes: g.estimated(p.Bytes), Seconds: p.Duration.Seconds(),
		BatchSeconds: p.BatchDuration(&g.in).Seconds(),
		ZoneRanges:   p.Ranges, GroupCount: len(p.Groups), Collections: g.sources, Notes: g.notes, Unsplit: g.unsplit(),
		Shards: g.shards(), Groups: g.groups(), Stays: g.stayed(), URL: api.Address(q.everyInput(g.inputs)),
		Freshness: answer.FreshnessOf(v, topology.PartRouting, topology.PartSizes)}
	if out.Ways, err = g.ways(); err != nil {
		return out, err
	}
	if out.Needed, err = g.needed(); err != nil {
		return out, err
	}
	out.Unhelped = problems.ProblemLines(v, problems.ProblemsOf(problems.Problems(v), func(r rules.Rule) bool {
		return slices.Contains([]rules.Rule{rules.HotProject, rules.HotDocument, rules.MonotonicKey, rules.ClientsUnsplit,
			rules.BigUnsharded}, r)
	}))
	out.Notes, out.Collections, out.Unhelped = answer.NotNil(out.Notes), answer.NotNil(out.Collections), answer.NotNil(out.Unhelped)
	from := min(q.After, len(p.Moves))
	to := min(from+q.Limit, len(p.Moves))
	out.From, out.Items = from, []api.LabGrowthMove{}
	for i := from; i < to; i++ {
		out.Items = append(out.Items, g.move(i))
	}
	if to < len(p.Moves) {
		out.Next = answer.CursorOf(strconv.Itoa(to))
	}
	return out, nil
}

// estimated is a sum of sizes of chunks.
func (g growthPlan) estimated(n int64) api.Figure {
	f := api.Figure{Value: &n, Method: chunksize.MethodShare, Exact: n == 0}
	f.At, _ = answer.AsOf(g.v, topology.PartSizes)
	return f
}

func (g growthPlan) move(i int) api.LabGrowthMove {
	m := g.plan.Moves[i]
	c := g.from[m.Collection]
	ch := c.Chunks.At(m.Chunk)
	out := api.LabGrowthMove{Move: i + 1, Group: m.Group + 1, NS: string(c.NS), Chunk: answer.ChunkRef(c, ch.Min),
		Min:  answer.KeyOf(c.Key, ch.Min),
		From: g.in.Shards[m.From].Name, To: g.in.Shards[m.To].Name, Bytes: g.estimated(m.Bytes), Start: m.Start.Seconds(),
		Seconds: (m.End - m.Start).Seconds(), MinText: c.Key.Display(ch.Min)}
	out.KeyProject, _ = g.v.KeyProjects(c).Of(ch.Min, ch.Max)
	if _, measured := g.amounts[m.Collection].Single[m.Chunk]; measured {
		out.Bytes.Method, out.Bytes.Exact = "dataSize", g.amounts[m.Collection].Sure
		if !out.Bytes.Exact {
			out.Bytes.Method = "dataSizeEstimate"
		}
	}
	return out
}

func (g growthPlan) shards() (out []api.LabGrowthShard) {
	p := g.plan
	for i, s := range g.in.Shards {
		share := func(bytes int64) *float64 {
			if s.Capacity == 0 {
				return nil
			}
			x := float64(bytes) / float64(s.Capacity)
			return &x
		}
		row := api.LabGrowthShard{Shard: s.Name, Added: s.Added, Emptied: s.Emptied, Capacity: g.capacity[i], Unmoved: s.Other,
			Before: g.estimated(p.Before[i].Bytes), After: g.estimated(p.After[i].Bytes), Grown: g.estimated(p.Grown[i].Bytes),
			Peak: g.estimated(p.Peak[i]), Chunks: p.Before[i].Chunks, ChunksAfter: p.After[i].Chunks,
			BeforeShare: share(p.Before[i].Bytes), AfterShare: share(p.After[i].Bytes), GrownShare: share(p.Grown[i].Bytes),
			PeakShare: share(p.Peak[i])}
		row.Before.Method = "collStats"
		out = append(out, row)
	}
	return out
}

func (g growthPlan) groups() []api.LabGrowthGroup {
	out := []api.LabGrowthGroup{}
	for i, x := range g.plan.Groups[:min(len(g.plan.Groups), growthGroupsListed)] {
		row := api.LabGrowthGroup{Group: i + 1, First: x.First + 1, Moves: x.Moves, Bytes: x.Bytes, Start: x.Start.Seconds(),
			End: x.End.Seconds()}
		if x.Fullest >= 0 {
			s := g.in.Shards[x.Fullest]
			used, free := x.Used, s.Capacity-x.Used
			if perByte := g.inputs.DiskPerByte; perByte != nil && g.capacity[x.Fullest].Method == "freeDisk" {
				free = int64(float64(free) * *perByte)
			}
			row.Fullest, row.Used, row.Free, row.Share = s.Name, &used, &free, float64(used)/float64(s.Capacity)
		}
		out = append(out, row)
	}
	return out
}

func (g growthPlan) ways() (out []api.LabGrowthWay, err error) {
	ways, err := growth.Ways(&g.in, g.plan)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%v.", err)
	}
	known := !slices.ContainsFunc(g.in.Shards, func(s growth.Shard) bool { return s.Capacity == 0 })
	for _, w := range ways {
		row := api.LabGrowthWay{Name: w.Name, Bytes: w.Bytes}
		if w.Highest >= 0 {
			s := g.in.Shards[w.Highest]
			share := float64(w.Peak) / float64(s.Capacity)
			row.Fullest, row.Share = s.Name, &share
		}
		if known {
			row.Fits = &w.Fits
		}
		out = append(out, row)
	}
	return out, nil
}

// needed is how many shards have to join for the target share, apart from those that the query adds.
func (g growthPlan) needed() (api.LabGrowthNeeded, error) {
	unknown := slices.ContainsFunc(g.in.Shards, func(s growth.Shard) bool { return s.Capacity == 0 && !s.Emptied })
	target := fmt.Sprintf("no shard is more than %d %% full in the end", g.q.Fill)
	if unknown || g.inputs.NewCapacity.Value == nil {
		return api.LabGrowthNeeded{Text: "How many shards are needed so that " + target +
			" is not known: type in the capacity of the shards."}, nil
	}
	in := g.in
	in.Shards = in.Shards[:len(g.v.Table.Shards)]
	n, ok, err := growth.Needed(&in, float64(g.q.Fill)/100, *g.inputs.NewCapacity.Value, GrowthMostAdded)
	switch {
	case err != nil:
		return api.LabGrowthNeeded{}, fault.Wrap(fault.Invalid, err, "%v.", err)
	case !ok:
		return api.LabGrowthNeeded{Text: fmt.Sprintf("Some shard is more than %d %% full in the end, however many are added (up to %d): "+
			"look for what cannot be moved or divided.", g.q.Fill, GrowthMostAdded)}, nil
	case n == 0:
		return api.LabGrowthNeeded{Shards: &n, Text: "No more shards are needed: " + target + " without any."}, nil
	}
	text := fmt.Sprintf("%s of %s %s needed so that %s.", answer.Counted(n, "more shard", "more shards"),
		format.Bytes(*g.inputs.NewCapacity.Value), message.Plural(n, "is", "are"), target)
	return api.LabGrowthNeeded{Shards: &n, Text: text}, nil
}

var growthStayTexts = map[string]string{
	stayJumbo:   "flagged as jumbo",
	stayTooBig:  "too big to be moved as a whole: split first",
	stayBlocked: "moves of this collection are blocked, or it is being resharded",
	stayNoMoves: "balancing is off for this collection",
	stayZone:    "no shard of its zone may take it",
}

// stayed sums up the chunks that cannot be moved, by collection, shard and reason.
func (g growthPlan) stayed() []api.LabGrowthStay {
	leave := map[[2]int]bool{}
	for _, s := range g.plan.Stay {
		at := [2]int{s.Collection, s.Chunk}
		leave[at] = true
		if g.stays[at] == "" {
			g.stays[at] = stayZone
		}
	}
	type key struct {
		collection, shard int
		reason            string
	}
	sums := map[key]*api.LabGrowthStay{}
	for at, reason := range g.stays {
		k := g.in.Collections[at[0]].Chunks[at[1]]
		id := key{at[0], k.Shard, reason}
		if sums[id] == nil {
			sums[id] = &api.LabGrowthStay{NS: string(g.from[at[0]].NS), Shard: g.in.Shards[k.Shard].Name, Reason: reason,
				Text: growthStayTexts[reason]}
		}
		s := sums[id]
		s.Chunks, s.Bytes = s.Chunks+1, s.Bytes+k.Bytes
		if leave[at] {
			s.Leave++
		}
	}
	out := []api.LabGrowthStay{}
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b api.LabGrowthStay) int {
		return cmp.Or(cmp.Compare(b.Leave, a.Leave), cmp.Compare(a.NS, b.NS), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
